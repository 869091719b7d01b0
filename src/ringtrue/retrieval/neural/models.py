"""All trainable rankers by name, as configurations to build a network from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ringtrue.registry import Registry

if TYPE_CHECKING:
    from ringtrue.retrieval.neural.network import Model

MODELS: Registry[Model] = Registry(
    kind="model",
    table={
        "convknrm": "ringtrue.retrieval.rankers.convknrm:ConvKNRMModel",
        "duet": "ringtrue.retrieval.rankers.duet:DuetModel",
        "epic": "ringtrue.retrieval.rankers.epic:EpicModel",
        "knrm": "ringtrue.retrieval.rankers.knrm:KNRMModel",
        "monobert": "ringtrue.retrieval.rankers.monobert:MonoBertModel",
        "monot5": "ringtrue.retrieval.rankers.monot5:MonoT5Model",
        "pacrr": "ringtrue.retrieval.rankers.pacrr:PacrrModel",
    },
    extras=dict.fromkeys(("convknrm", "duet", "epic", "knrm", "monobert", "monot5", "pacrr"), "neural"),
)
