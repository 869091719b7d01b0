"""All rankers by name: a new one is a file and a line here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ringtrue.registry import Registry

if TYPE_CHECKING:
    from ringtrue.retrieval.ranker import Ranker

RANKERS: Registry[Ranker] = Registry(
    kind="ranker",
    table={
        "biencoder": "ringtrue.retrieval.rankers.biencoder:BiEncoder",
        "bm25": "ringtrue.retrieval.bm25:BM25",
        "clickrm3": "ringtrue.retrieval.rankers.clickrm3:ClickRM3",
        "convknrm": "ringtrue.retrieval.rankers.convknrm:ConvKNRM",
        "dfiz": "ringtrue.retrieval.weighting:DFIZ",
        "dirichlet": "ringtrue.retrieval.weighting:Dirichlet",
        "dlh": "ringtrue.retrieval.weighting:DLH",
        "dph": "ringtrue.retrieval.weighting:DPH",
        "duet": "ringtrue.retrieval.rankers.duet:Duet",
        "epic": "ringtrue.retrieval.rankers.epic:Epic",
        "hiemstra": "ringtrue.retrieval.weighting:Hiemstra",
        "ifb2": "ringtrue.retrieval.weighting:IFB2",
        "inb2": "ringtrue.retrieval.weighting:InB2",
        "knrm": "ringtrue.retrieval.rankers.knrm:KNRM",
        "lateinteraction": "ringtrue.retrieval.rankers.lateinteraction:LateInteraction",
        "monobert": "ringtrue.retrieval.rankers.monobert:MonoBert",
        "monot5": "ringtrue.retrieval.rankers.monot5:MonoT5",
        "pacrr": "ringtrue.retrieval.rankers.pacrr:PACRR",
        "pl2": "ringtrue.retrieval.weighting:PL2",
        "pyterrier": "ringtrue.retrieval.rankers.pyterrier:PyTerrier",
        "replay": "ringtrue.retrieval.rankers.replay:Replay",
        "rm3": "ringtrue.retrieval.rm3:RM3",
        "tfidf": "ringtrue.retrieval.weighting:TFIDF",
    },
    extras={
        "biencoder": "neural",
        "convknrm": "neural",
        "duet": "neural",
        "epic": "neural",
        "knrm": "neural",
        "lateinteraction": "neural",
        "monobert": "neural",
        "monot5": "neural",
        "pacrr": "neural",
        "pyterrier": "pyterrier",
    },
)
