"""Which candidates count as leaks: all above the threshold, the likely ones, or those that people verified."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from ringtrue.errors import InputError
from ringtrue.leakage.candidates import Candidate, folded
from ringtrue.leakage.thresholds import check_threshold

_GAP = 0.01


class Counted(StrEnum):
    """How sure one has to be of a candidate."""

    ALL = "all"
    LIKELY = "likely"
    VERIFIED = "verified"


@dataclass(frozen=True)
class Choice:
    """What is asked of a leak; `verified` says for (topic id, query id) whether people found it to be a true one.

    Where two queries have one id it may say so for (topic id, query id, text), the text `folded`.

    A label wins over similarity and probability, but for `all`: there only a true one adds to what is above the
    threshold, since a set without leaks has to be without doubtful ones too. No threshold lets every candidate pass.
    A search predicts nothing for neighbours far below both thresholds, the encoder's and its own: one without a
    probability among others that have one is not likely.
    """

    threshold: float | None = None
    counted: Counted = Counted.ALL
    likely: float = 0.5
    verified: Mapping[tuple[str, ...], bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """A threshold that is no cosine would let everything or nothing count, without a word."""
        if self.threshold is not None:
            check_threshold(self.threshold)

    @property
    def rule(self) -> str:
        """The choice in words."""
        if self.counted is Counted.VERIFIED:
            return "verified as true"
        above = "all candidates" if self.threshold is None else f"similarity above {self.threshold:g}"
        if self.counted is Counted.ALL:
            return f"{above}{', or verified as true' if self.verified else ''}"
        label = "; verified ones by their label" if self.verified else ""
        likely = f"probability above {self.likely:g}{label}"
        return likely if self.threshold is None else f"{above} and {likely}"

    def counts(self, candidate: Candidate) -> bool:
        """Whether a candidate counts as a leak."""
        label = self._label(candidate)
        above = self.threshold is None or candidate.similarity > self.threshold
        if self.counted is Counted.VERIFIED:
            return label is True
        if self.counted is Counted.ALL:
            return above or label is True
        return above and (candidate.probability or 0.0) > self.likely if label is None else label

    def _label(self, candidate: Candidate) -> bool | None:
        """What people said of a candidate."""
        key = candidate.topic_id, candidate.query_id
        return self.verified.get((*key, folded(candidate.query)), self.verified.get(key))

    def leaks(self, candidates: Iterable[Candidate]) -> tuple[Candidate, ...]:
        """Those that count, in the given order."""
        if self.counted is Counted.VERIFIED and not self.verified:
            raise InputError(
                "only verified leaks were asked for, but no pair is labelled; give a file in which some are "
                "(--labels FILE)."
            )
        given = tuple(candidates)
        self._check_labels(given)
        self._check_probabilities(given)
        self._check_candidates(given)
        return tuple(candidate for candidate in given if self.counts(candidate))

    def without_probability(self, candidates: Iterable[Candidate]) -> int:
        """How many candidates do not count for want of a probability alone: none was predicted so far away."""
        if self.counted is not Counted.LIKELY:
            return 0
        return sum(
            one.probability is None
            and (self.threshold is None or one.similarity > self.threshold)
            and self._label(one) is None
            for one in candidates
        )

    def _check_labels(self, candidates: Sequence[Candidate]) -> None:
        """Labels that are of no candidate at all are those of another search."""
        if not candidates or not self.verified:
            return
        if all(self._label(one) is None for one in candidates):
            topic_id, query_id, *_ = next(iter(self.verified))
            first = candidates[0]
            raise InputError(
                f"none of the {len(self.verified):,} labelled pairs (topic {topic_id}, query {query_id}, …) is "
                f"among the {len(candidates):,} candidates (topic {first.topic_id}, query {first.query_id}, …); are "
                "these the labels of another search?"
            )

    def _check_probabilities(self, candidates: Sequence[Candidate]) -> None:
        """Candidates of which none has a probability were never looked at by the models that predict it."""
        missing = self.without_probability(candidates)
        if missing and all(one.probability is None for one in candidates):
            raise InputError(
                f"none of the {len(candidates):,} candidates has a probability, and likely leaks were asked for; give "
                "the candidates that `leakage search` writes, or count all (--counted all), or those above a "
                "similarity (--threshold)."
            )

    def _check_candidates(self, candidates: Sequence[Candidate]) -> None:
        """All neighbours of a search, where no threshold is named, would count as leaks, and be most of a log."""
        if self.counted is not Counted.ALL or self.threshold is not None:
            return
        missing = sum(one.probability is None for one in candidates)
        if 0 < missing < len(candidates):
            raise InputError(
                f"{missing:,} of the {len(candidates):,} candidates have no probability, as neighbours below the "
                "threshold of a search have none; give its candidates instead of its neighbours, or say above which "
                "similarity they count (--threshold)."
            )


def not_reached(candidates: Sequence[Candidate], threshold: float | None) -> str:
    """What the candidates cannot tell of a threshold that lies below all of them, in words; else empty."""
    lowest = min((one.similarity for one in candidates), default=-1.0)
    if threshold is None or lowest <= threshold + _GAP:
        return ""
    return (
        f"the candidates begin at {lowest:.3f}: what leaks between {threshold:g} and that is not among them; search "
        f"with --threshold {threshold:g}"
    )


def leaked_topics(leaks: Iterable[Candidate]) -> tuple[str, ...]:
    """The topics of some leaks, each once, in order of id."""
    return tuple(sorted({leak.topic_id for leak in leaks}))
