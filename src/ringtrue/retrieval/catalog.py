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
        "dfiz": "ringtrue.retrieval.weighting:DFIZ",
        "dirichlet": "ringtrue.retrieval.weighting:Dirichlet",
        "dlh": "ringtrue.retrieval.weighting:DLH",
        "dph": "ringtrue.retrieval.weighting:DPH",
        "hiemstra": "ringtrue.retrieval.weighting:Hiemstra",
        "ifb2": "ringtrue.retrieval.weighting:IFB2",
        "inb2": "ringtrue.retrieval.weighting:InB2",
        "lateinteraction": "ringtrue.retrieval.rankers.lateinteraction:LateInteraction",
        "pl2": "ringtrue.retrieval.weighting:PL2",
        "rm3": "ringtrue.retrieval.rm3:RM3",
        "tfidf": "ringtrue.retrieval.weighting:TFIDF",
    },
    extras={"biencoder": "neural", "lateinteraction": "neural"},
)
