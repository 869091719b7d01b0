"""Multiplying by fixed matrices: through oneDNN with weights laid out beforehand where torch has it, else plainly.

oneDNN takes in what follows a product (the residual, the activation) while the result is still in the cache, and on
many processors its fp32 is faster than the product that torch calls by itself.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import torch
from torch import Tensor
from torch.nn import functional

_TYPICAL_ROWS = 2048


class Matrix(NamedTuple):
    """A linear map, laid out for the one who applies it."""

    weight: Tensor
    bias: Tensor


class Matrices(Protocol):
    """How linear maps are laid out and applied."""

    def pack(self, weight: Tensor, bias: Tensor) -> Matrix:
        """Lay out a matrix with one row an output."""

    def apply(self, x: Tensor, matrix: Matrix) -> Tensor:
        """Multiply and add the bias."""

    def apply_add(self, x: Tensor, matrix: Matrix, residual: Tensor) -> Tensor:
        """Multiply, add the bias and something else."""

    def apply_gelu(self, x: Tensor, matrix: Matrix) -> Tensor:
        """Multiply, add the bias and take the exact GELU."""


class Plain:
    """Torch as it is."""

    def pack(self, weight: Tensor, bias: Tensor) -> Matrix:
        """Nothing to do."""
        return Matrix(weight, bias)

    def apply(self, x: Tensor, matrix: Matrix) -> Tensor:
        """One product."""
        return functional.linear(x, matrix.weight, matrix.bias)

    def apply_add(self, x: Tensor, matrix: Matrix, residual: Tensor) -> Tensor:
        """A product and a sum."""
        return functional.linear(x, matrix.weight, matrix.bias).add_(residual)

    def apply_gelu(self, x: Tensor, matrix: Matrix) -> Tensor:
        """A product and an activation."""
        return functional.gelu(functional.linear(x, matrix.weight, matrix.bias))


class OneDNN:
    """The same by oneDNN, through the operations that torch's own compiler uses."""

    def pack(self, weight: Tensor, bias: Tensor) -> Matrix:
        """Put the weights into the order in which they will be read."""
        return Matrix(torch.ops.mkldnn._reorder_linear_weight(weight, _TYPICAL_ROWS), bias)

    def apply(self, x: Tensor, matrix: Matrix) -> Tensor:
        """One call."""
        result: Tensor = torch.ops.mkldnn._linear_pointwise(x, matrix.weight, matrix.bias, "none", [], "")
        return result

    def apply_add(self, x: Tensor, matrix: Matrix, residual: Tensor) -> Tensor:
        """One call."""
        result: Tensor = torch.ops.mkldnn._linear_pointwise.binary(x, residual, matrix.weight, matrix.bias, "add")
        return result

    def apply_gelu(self, x: Tensor, matrix: Matrix) -> Tensor:
        """One call."""
        result: Tensor = torch.ops.mkldnn._linear_pointwise(x, matrix.weight, matrix.bias, "gelu", [], "none")
        return result


def choose_matrices(dtype: torch.dtype, device: torch.device) -> Matrices:
    """OneDNN on a CPU where this build of torch has it for the precision."""
    if device.type != "cpu" or not torch.backends.mkldnn.is_available():
        return Plain()
    named = ("_reorder_linear_weight", "_linear_pointwise")
    if not all(hasattr(torch.ops.mkldnn, name) for name in named):
        return Plain()
    if dtype == torch.bfloat16 and not torch.ops.mkldnn._is_mkldnn_bf16_supported():
        return Plain()
    return OneDNN()
