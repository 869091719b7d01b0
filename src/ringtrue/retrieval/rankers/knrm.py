"""KNRM: kernels count how similar the words of a document are to those of a query.

Xiong, Dai, Callan, Liu and Power, End-to-End Neural Ad-hoc Ranking with Kernel Pooling, SIGIR 2017. The defaults are
those of Capreolus: kernels are trained with the rest, word vectors are not, and no tanh follows; the paper trains the
vectors, keeps the kernels and ends with a tanh (`finetune=true,train_kernels=false,tanh=true`). The loss is the paper's
pairwise hinge. What else differs from either stands in `neural.kernels`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from ringtrue.retrieval.neural.interaction import InteractionModel, InteractionNetwork
from ringtrue.retrieval.neural.kernels import KernelPooling, KernelScore
from ringtrue.retrieval.neural.vocabulary import Vocabulary
from ringtrue.retrieval.rankers.reranker import Reranker


@dataclass(frozen=True)
class KNRMModel(InteractionModel):
    """With `hidden` units above 0, a layer of them comes before the score; Capreolus offers 30."""

    kernels: int = 11
    train_kernels: bool = True
    hidden: int = 0
    tanh: bool = False

    name: ClassVar[str] = "knrm"
    least: ClassVar[dict[str, int]] = {"kernels": 2, "hidden": 0}

    def build(self, vocabulary: Vocabulary) -> KNRMNetwork:
        """The network, with empty word vectors."""
        return KNRMNetwork(self, vocabulary)


class KNRMNetwork(InteractionNetwork):
    """A linear function of the logarithms of what kernels count, summed over the words of the query."""

    name: ClassVar[str] = "knrm"
    model: KNRMModel

    def __init__(self, model: KNRMModel, vocabulary: Vocabulary) -> None:
        """Make the layers."""
        super().__init__(model, vocabulary)
        self.pooling = KernelPooling(model.kernels, learn=model.train_kernels)
        self.combine = KernelScore(model.kernels, model.hidden, tanh=model.tanh)

    def score(self, query: Tensor, document: Tensor) -> Tensor:
        """One score a pair."""
        similarities = self.cosines(query, document).unsqueeze(1)
        scores: Tensor = self.combine(self.pooling(similarities, query > 0, document > 0))
        return scores


@dataclass(frozen=True, repr=False)
class KNRM(Reranker):
    """Kernel pooling over word similarities, after a first stage: `bm25 % 100 >> knrm:checkpoint=FOLDER`."""

    name: ClassVar[str] = "knrm"
    family: ClassVar[str] = "interaction"
