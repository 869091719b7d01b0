"""MFR, the mean rank of the first relevant document, as an ir_measures measure.

`MFR@100` is the arithmetic mean; `MFR(mean="geometric")@100` and `MFR(mean="harmonic")@100` say so in their
name. A topic with no relevant document down to the cutoff counts as cutoff + 1, in all three means. The
leakage study (Fröbe et al., SPIRE 2022) reports values that behave like the harmonic mean.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ir_measures import DefaultPipeline, Measure, Metric, ParamInfo, Provider, measures, providers
from ir_measures.measures.base import Agg
from ir_measures.providers import Evaluator
from ir_measures.providers.base import Any as AnyValue
from ir_measures.util import QrelsConverter, RunConverter


class _Mean(Agg):
    """The mean of f(rank), taken back by f's inverse."""

    def __init__(self, kind: str) -> None:
        self._forward, self._back = _MEANS[kind]
        self._sum = 0.0
        self._count = 0

    def add(self, value: float) -> None:
        """Take one topic's rank."""
        self._sum += self._forward(value)
        self._count += 1

    def result(self) -> float:
        """The mean over the topics so far."""
        return self._back(self._sum / self._count) if self._count else math.nan


def _same(value: float) -> float:
    return value


def _inverse(value: float) -> float:
    return 1 / value


_MEANS: dict[str, tuple[Callable[[float], float], Callable[[float], float]]] = {
    "arithmetic": (_same, _same),
    "geometric": (math.log, math.exp),
    "harmonic": (_inverse, _inverse),
}


class _MFR(Measure):
    """Mean first rank; 1 is best."""

    __name__ = "MFR"
    NAME = "MFR"
    PRETTY_NAME = "Mean First Rank"
    SHORT_DESC = "The mean rank of the first relevant document; cutoff + 1 where there is none."
    SUPPORTED_PARAMS = {  # noqa: RUF012
        "cutoff": ParamInfo(dtype=int, required=True, desc="how deep to look"),
        "rel": ParamInfo(dtype=int, default=1, desc="minimum grade that counts as relevant"),
        "mean": ParamInfo(dtype=str, choices=list(_MEANS), default="arithmetic", desc="which mean over topics"),
    }

    @property
    def DEFAULT(self) -> float:  # type: ignore[override]
        """The value of a topic without a ranking."""
        return float(self["cutoff"] + 1)

    def aggregator(self) -> _Mean:
        """The mean that the measure's name says."""
        return _Mean(self["mean"])


MFR = _MFR()
if "MFR" not in measures.registry:
    measures.register(MFR)


class _FirstRankProvider(Provider):
    """Lets ir_measures, and so PyTerrier, compute MFR."""

    NAME = "ringtrue"
    SUPPORTED_MEASURES = [_MFR(cutoff=AnyValue(), rel=AnyValue(), mean=AnyValue())]  # noqa: RUF012

    def _evaluator(self, measures: Iterable[Measure], qrels: Any) -> Evaluator:  # noqa: ANN401
        return _FirstRankEvaluator(list(measures), QrelsConverter(qrels).as_dict_of_dict())


class _FirstRankEvaluator(Evaluator):
    def __init__(self, wanted: list[Measure], qrels: dict[str, dict[str, int]]) -> None:
        super().__init__(wanted, set(qrels))
        self._qrels = qrels

    def _iter_calc(self, run: Any) -> Iterator[Metric]:  # noqa: ANN401
        for topic, scores in RunConverter(run).as_dict_of_dict().items():
            grades = self._qrels.get(topic)
            if grades is None:
                continue
            ranked = sorted(scores, key=lambda doc: (-scores[doc], doc))
            for measure in self.measures:
                hits = (
                    rank
                    for rank, doc in enumerate(ranked[: measure["cutoff"]], start=1)
                    if grades.get(doc, 0) >= measure["rel"]
                )
                yield Metric(topic, measure, float(next(hits, measure.DEFAULT)))


if _FirstRankProvider.NAME not in providers.registry:
    DefaultPipeline.providers.append(providers.register(_FirstRankProvider()))
