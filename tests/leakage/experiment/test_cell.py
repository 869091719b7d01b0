from __future__ import annotations

import pytest

from ringtrue.leakage.experiment.cell import build
from ringtrue.leakage.experiment.layout import Texts

torch = pytest.importorskip("torch")


def test_matrix_products_stay_in_fp32_on_any_device(monkeypatch):
    monkeypatch.setattr("ringtrue.leakage.experiment.cell.place", lambda device: "meta")
    network = build("knrm", Texts(("q",), ("lamp",), ("d", "e"), ("a lamp", "bread")), seed=1)
    assert network.device.type == "meta"
    assert torch.get_float32_matmul_precision() == "highest"
