"""Are these variations valid: by people's labels, by rules and by the shipped models, and how far they agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ringtrue.audit import Cell, Column, Finding, Interval, Section, Table, Text, Verdict
from ringtrue.provenance import Provenance, stamp
from ringtrue.retrieval.encoders import Encoder
from ringtrue.robustness.calibration import (
    Kind,
    Quality,
    cross_validate,
    examples,
    fingerprint,
    judged_by_people,
    quality,
)
from ringtrue.robustness.labels import Label, in_paper_order
from ringtrue.robustness.similarity import DEFAULT, name_of
from ringtrue.robustness.text import key
from ringtrue.robustness.validity import Basis, Checked, check, shipped
from ringtrue.robustness.variations import Variation

HALF = 0.5
GOOD_AUC = 0.75
FEWEST_LABELS = 30
TOTAL = "total"


class MethodValidity(NamedTuple):
    """One row of the study's Table 3; shares are of all queries, whether the method has a row for them or not."""

    category: str
    method: str
    rows: int
    valid: int
    share: float
    follows: int
    follows_share: float
    identical: int


class ModelFit(NamedTuple):
    """How well a model fits labels: `test` says which labels, and whether it had learnt from them."""

    model: str
    test: str
    quality: Quality


@dataclass(frozen=True, eq=False)
class ValidityAudit:
    """Variations with what is known of their validity; `automatic` is what is decided without labels, and the label."""

    checked: tuple[Checked, ...]
    automatic: tuple[tuple[Checked, bool], ...]
    methods: tuple[MethodValidity, ...]
    fits: tuple[ModelFit, ...]
    labelled: bool
    provenance: Provenance

    name = "validity"
    title = "Do the variations still ask for the same thing?"

    @property
    def total(self) -> MethodValidity:
        """All methods together."""
        return self.methods[-1]

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Whether enough is valid and, where there are labels, whether the model can tell."""
        return (self._enough(), *self._model())

    def _enough(self) -> Finding:
        rule = f"at least {HALF:.0%} of the queries have a valid variation by each method"
        worst = min(self.methods[:-1], key=lambda one: one.share)
        verdict = Verdict.PASS if worst.share >= HALF else Verdict.WARN if self.total.valid else Verdict.FAIL
        seen = (
            f"{self.total.valid} of {self.total.rows} variations are valid; {worst.method} has fewest, "
            f"{worst.valid} of {worst.rows} ({worst.share:.1%} of the queries)."
        )
        return Finding("valid variations", verdict, rule, seen, worst.share)

    def _model(self) -> tuple[Finding, ...]:
        tested = [fit for fit in self.fits if fit.test == _UNSEEN]
        if not tested:
            return ()
        best = max(tested, key=lambda fit: fit.quality.auc)
        found = best.quality
        rule = f"on queries it has not learnt from, the area under the curve of the model is at least {GOOD_AUC}"
        interval = Interval(found.auc_low, found.auc_high, 0.95, "bootstrap over queries")
        verdict = Verdict.PASS if found.auc >= GOOD_AUC else Verdict.WARN
        seen = (
            f"{best.model}: {found.auc:.3f}, cross-validated by query on {found.pairs} changed pairs that people "
            f"judged, {found.valid} of them valid."
        )
        return (Finding("model of validity", verdict, rule, seen, found.auc, interval),)

    def sections(self) -> tuple[Section, ...]:
        """Table 3, what decided, and the models."""
        tables: list[Section] = [_methods_table(self.methods, self.labelled), _basis_table(self.checked)]
        if self.automatic:
            tables.append(_automatic_table(self.automatic))
        tables.append(_fits_table(self.fits))
        return (*tables, _definitions(self.labelled))


_UNSEEN = "these labels, queries not learnt from"
_SHIPPED = "the labels it was fitted to, queries not learnt from"
_AS_IS = "these labels, as shipped"
_LEARNT = "these labels, as shipped: it was fitted to them"


def audit_validity(
    variations: Sequence[Variation], *, labels: Sequence[Label] = (), encoder: Encoder | None = None
) -> ValidityAudit:
    """Decide what is valid; with labels these decide, and the models are held against them."""
    checked = check(variations, labels=labels, encoder=encoder)
    automatic = check([label.variation for label in labels], encoder=encoder)
    return ValidityAudit(
        checked=checked,
        automatic=tuple(zip(automatic, (label.valid for label in labels), strict=True)),
        methods=_count(labels) if labels else _count(_as_labels(checked)),
        fits=_fits(labels, encoder),
        labelled=bool(labels),
        provenance=stamp(() if encoder is None else (encoder,), settings={"variations": len(variations)}),
    )


def _as_labels(checked: Sequence[Checked]) -> tuple[Label, ...]:
    return tuple(Label(one.variation, one.valid, one.valid) for one in checked)


def _count(labels: Sequence[Label]) -> tuple[MethodValidity, ...]:
    """One row a method in the paper's order, and one for all."""
    queries = len({label.variation.query_id for label in labels})
    methods = in_paper_order((label.variation.category, label.variation.method) for label in labels)
    rows = [_row(*method, [label for label in labels if label.variation[1:3] == method], queries) for method in methods]
    return (*rows, _row("", TOTAL, labels, queries * len(methods)))


def _row(category: str, method: str, labels: Sequence[Label], queries: int) -> MethodValidity:
    valid = sum(label.valid for label in labels)
    follows = sum(label.valid and label.follows_category for label in labels)
    identical = sum(key(label.variation.variation or "") == key(label.variation.original) for label in labels)
    return MethodValidity(category, method, len(labels), valid, valid / queries, follows, follows / queries, identical)


def _fits(labels: Sequence[Label], encoder: Encoder | None) -> tuple[ModelFit, ...]:
    """The shipped models' own figures, and what they are worth on these labels."""
    kinds: list[tuple[Kind, Encoder | None]] = [("strings", None)]
    if encoder is not None and name_of(encoder) == DEFAULT:
        kinds.insert(0, ("semantic", encoder))
    names: dict[Kind, str] = {"semantic": Basis.SEMANTIC.value, "strings": Basis.STRINGS.value}
    fits = [ModelFit(names[kind], _SHIPPED, shipped(kind).quality) for kind, _ in kinds]
    people = judged_by_people(labels)
    valid = np.array([label.valid for label in people])
    if len(people) < FEWEST_LABELS or valid.all() or not valid.any():
        return tuple(fits)
    for kind, with_encoder in kinds:
        data, known = examples(people, with_encoder), shipped(kind)
        chances = known.model.probabilities(data.features, data.methods)
        test = _LEARNT if known.fingerprint == fingerprint(people) else _AS_IS
        fits.append(ModelFit(names[kind], test, quality(data, chances)))
        fits.append(ModelFit(names[kind], _UNSEEN, cross_validate(data, kind)))
    return tuple(fits)


def _methods_table(methods: Sequence[MethodValidity], labelled: bool) -> Table:
    columns = (
        Column("category", "Category"),
        Column("method", "Method"),
        Column("rows", "Rows"),
        Column("valid", "Valid"),
        Column("share", "Share", 4, "of all queries"),
        Column("follows", "Valid and of the category"),
        Column("follows_share", "Its share", 4, "of all queries"),
        Column("identical", "Identical", None, "the query itself but for case, gaps and punctuation"),
    )
    title = "Valid variations by people's labels" if labelled else "Valid variations by rules and model"
    return Table("methods", title, columns, tuple(methods))


def _basis_table(checked: Sequence[Checked]) -> Table:
    columns = (
        Column("basis", "Decided by"),
        Column("rows", "Rows"),
        Column("valid", "Valid"),
        Column("probability", "Mean probability", 3),
        Column("similarity", "Mean similarity", 3),
    )
    rows: list[tuple[Cell, ...]] = []
    for basis in Basis:
        own = [one for one in checked if one.basis is basis]
        if own:
            chances = [one.probability for one in own if one.probability is not None]
            near = [one.similarity for one in own if one.similarity is not None]
            valid = sum(one.valid for one in own)
            rows.append((basis.value, len(own), valid, _mean(chances), _mean(near)))
    return Table("decisions", "What decided", columns, tuple(rows))


def _automatic_table(automatic: Sequence[tuple[Checked, bool]]) -> Table:
    columns = (
        Column("basis", "Decided by"),
        Column("rows", "Rows"),
        Column("valid", "Decided valid"),
        Column("labelled", "Labelled valid"),
        Column("right", "Right", 3, "share of rows decided as they are labelled"),
    )
    rows: list[tuple[Cell, ...]] = []
    for basis in (*Basis, None):
        own = [(one, label) for one, label in automatic if basis is None or one.basis is basis]
        if own:
            right = sum(one.valid == label for one, label in own) / len(own)
            valid, labelled = sum(one.valid for one, _ in own), sum(label for _, label in own)
            rows.append((TOTAL if basis is None else basis.value, len(own), valid, labelled, right))
    note = "A model that was fitted to these labels looks better here than it is; see the next table."
    return Table("automatic", "What would be decided without labels", columns, tuple(rows), note)


def _fits_table(fits: Sequence[ModelFit]) -> Table:
    columns = (
        Column("model", "Model"),
        Column("test", "Tested on"),
        Column("auc", "AUC", 3),
        Column("auc_spread", "Sd", 3, "over repetitions with other folds"),
        Column("auc_low", "Low", 3, "lower end of its 95 % interval: bootstrap over queries"),
        Column("auc_high", "High", 3, "upper end of its 95 % interval: bootstrap over queries"),
        Column("auc_within_methods", "AUC within methods", 3, "mean over methods"),
        Column("brier", "Brier", 3),
        Column("accuracy", "Accuracy", 3),
        Column("pairs", "Pairs"),
        Column("valid", "Valid"),
        Column("queries", "Queries"),
    )
    names = [column.name for column in columns[2:]]
    rows: list[tuple[Cell, ...]] = [
        (fit.model, fit.test, *(getattr(fit.quality, name) for name in names)) for fit in fits
    ]
    return Table("models", "Models of validity", columns, tuple(rows), "Changed pairs that people judged, no others.")


def _definitions(labelled: bool) -> Text:
    who = "People's labels decide." if labelled else "Rules decide, and a model where they do not."
    body = (
        f"{who} A copy of the query is never valid. Misspellings, another order, another spelling, what people wrote "
        "themselves and removed stop words keep the meaning by construction; for the rest a logistic regression gives "
        "the probability of being valid."
    )
    return Text("definitions", "How to read this", body)


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
