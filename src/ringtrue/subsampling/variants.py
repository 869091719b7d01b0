"""Sets of decisions on which implementations of leave-one-group-out part."""

from __future__ import annotations

from dataclasses import dataclass

from ringtrue.data.ties import Ties
from ringtrue.errors import UnknownNameError
from ringtrue.subsampling.campaign import Judging
from ringtrue.subsampling.reliability import MeanOver


@dataclass(frozen=True)
class Definitions:
    """How judgments are cut, ties broken, means taken, and whether topics without judgments enter the pools."""

    judging: Judging
    ties: Ties
    mean: MeanOver
    judged_topics_only: bool


VARIANTS = {
    "topic_aware": Definitions("topic_aware", Ties.ASC, "qrels", True),
    "topic_free": Definitions("topic_free", Ties.ASC, "qrels", True),
    "paper_code": Definitions("topic_free", Ties.DESC, "run", False),
}


def find_variant(name: str) -> Definitions:
    """The decisions behind a name."""
    if name not in VARIANTS:
        raise UnknownNameError("variant", name, VARIANTS)
    return VARIANTS[name]
