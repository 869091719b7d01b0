"""Kernel pooling (Xiong et al., SIGIR 2017): how many words of a document are how similar to each word of a query.

One kernel sits at a similarity of one and is narrow: it counts exact matches. The others divide the range from -1 to 1
evenly. As in Capreolus and OpenNIR, a millionth is added to a count before its logarithm, where the paper's program
takes a floor, and scales by 0.01. Unlike in theirs, padding counts for nothing, so that a score does not depend on it,
and a kernel whose width is learned stays wider than zero, at which it would divide by zero. The kernel for exact
matches is not learned: one update at a usual rate is as large as its width.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

_EXACT_WIDTH = 0.001
_FIRST_WEIGHTS = 0.014
_NARROWEST = 1e-4
_SMALL = 1e-6
_FAR = -1e4  # a similarity that no kernel reaches; finite, so that gradients are zero there


class KernelPooling(nn.Module):
    """Some kernels; `learn` lets training move and widen them."""

    def __init__(self, kernels: int, *, learn: bool) -> None:
        """Place the kernels, the one for exact matches first."""
        super().__init__()
        step = 2 / (kernels - 1)
        means = [1.0, *(1 - step / 2 - step * place for place in range(kernels - 1))]
        widths = [_EXACT_WIDTH, *([step / 2] * (kernels - 1))]
        self.means = nn.Parameter(torch.tensor(means), requires_grad=learn)
        self.widths = nn.Parameter(torch.tensor(widths), requires_grad=learn)

    def _placed(self) -> tuple[Tensor, Tensor]:
        """Means and widths; nothing flows back to the first."""
        means, widths = (torch.cat((values[:1].detach(), values[1:])) for values in (self.means, self.widths))
        return means, widths

    def forward(self, similarities: Tensor, query: Tensor, document: Tensor) -> Tensor:
        """One number for each kernel and each view of a pair, in a row.

        `similarities` has the shape (pairs, views, query, document); the masks say where a text has words. Kernels are
        computed one by one, since all of them at once would be many times the largest tensor.
        """
        similarities = similarities.masked_fill(~document[:, None, None, :], _FAR)
        means, widths = self._placed()
        sharpness = 0.5 / widths.square().clamp(min=_NARROWEST**2)
        kernels = zip(means.unbind(), sharpness.unbind(), strict=True)
        counts = [(similarities - mean).square().mul(-sharp).exp().sum(3) for mean, sharp in kernels]
        logs = (torch.stack(counts, 3) + _SMALL).log()
        return (logs * query[:, None, :, None]).sum(2).flatten(1)


class KernelScore(nn.Module):
    """The learning-to-rank layer over what kernels counted; with `hidden` units, a layer of them comes before.

    Counts come as sums of logarithms, of tens: weights begin near zero, since from torch's own beginning a training of
    some hundred triples would show little but its seed.
    """

    def __init__(self, features: int, hidden: int, *, tanh: bool) -> None:
        """Make the layers."""
        super().__init__()
        first = [nn.Linear(features, hidden), nn.Tanh()] if hidden else []
        last = nn.Linear(hidden or features, 1)
        nn.init.uniform_(last.weight, -_FIRST_WEIGHTS, _FIRST_WEIGHTS)
        self.layers = nn.Sequential(*first, last, *([nn.Tanh()] if tanh else []))

    def forward(self, features: Tensor) -> Tensor:
        """One score a pair."""
        scores: Tensor = self.layers(features).squeeze(1)
        return scores
