"""Are these variations valid: by people's labels, by rules and by the shipped models, and how far they agree."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ringtrue.audit import Finding, Interval, Section, Verdict
from ringtrue.data.notes import Note, notes_tables
from ringtrue.errors import InputError
from ringtrue.provenance import Provenance, stamp
from ringtrue.retrieval.encoders import Encoder
from ringtrue.robustness import validity_tables as tables
from ringtrue.robustness.calibration import (
    FOLDS,
    Kind,
    cross_validate,
    examples,
    fingerprint,
    judged_by_people,
    quality,
)
from ringtrue.robustness.labels import Label, in_paper_order
from ringtrue.robustness.sections import TOLERATED
from ringtrue.robustness.similarity import DEFAULT, name_of
from ringtrue.robustness.text import key
from ringtrue.robustness.validity import Basis, Checked, check, shipped
from ringtrue.robustness.validity_tables import TOTAL, MethodValidity, ModelFit
from ringtrue.robustness.variations import Variation

HALF = 0.5
GOOD_AUC = 0.75
FEWEST_LABELS = 30


@dataclass(frozen=True, eq=False)
class ValidityAudit:
    """Variations with what is known of their validity; `automatic` is what is decided without labels, and the label."""

    checked: tuple[Checked, ...]
    automatic: tuple[tuple[Checked, bool], ...]
    methods: tuple[MethodValidity, ...]
    fits: tuple[ModelFit, ...]
    labelled: bool
    notes: tuple[Note, ...]
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
        rule = f"at least {HALF:.0%} of the variations that each method makes are valid"
        made = [one for one in self.methods[:-1] if one.variations]
        lacking = f" In {self.total.missing} {_cases(self.total.missing)} a method could make none."
        if not made:
            return Finding("valid variations", Verdict.FAIL, rule, f"there are no variations.{lacking}", 0.0)
        worst = min(made, key=lambda one: one.valid / one.variations)
        share = worst.valid / worst.variations
        verdict = Verdict.PASS if share >= HALF else Verdict.WARN if self.total.valid else Verdict.FAIL
        seen = (
            f"{self.total.valid} of {self.total.variations} variations are valid; {worst.method} has fewest, "
            f"{worst.valid} of {worst.variations}.{lacking if self.total.missing else ''}"
        )
        return Finding("valid variations", verdict, rule, seen, share)

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
        return (
            tables.methods_table(self.methods, self.labelled),
            tables.basis_table(self.checked),
            *tables.automatic_tables(self.automatic),
            tables.fits_table(self.fits),
            *notes_tables(self.notes, TOLERATED),
            tables.definitions(self.labelled),
        )


_UNSEEN = "these labels, queries not learnt from"
_SHIPPED = "the labels it was fitted to, queries not learnt from"
_AS_IS = "these labels, as shipped"
_LEARNT = "these labels, as shipped: it was fitted to them"


def audit_validity(
    variations: Sequence[Variation],
    *,
    labels: Sequence[Label] = (),
    encoder: Encoder | None = None,
    notes: Iterable[Note] = (),
) -> ValidityAudit:
    """Decide what is valid; with labels these decide, and the models are held against them.

    `notes` are what the readers of the files tolerated.
    """
    if not variations:
        raise InputError("no variations: make some with `ringtrue robustness vary`.")
    checked = check(variations, labels=labels, encoder=encoder)
    automatic = check([label.variation for label in labels], encoder=encoder)
    return ValidityAudit(
        checked=checked,
        automatic=tuple(zip(automatic, (label.valid for label in labels), strict=True)),
        methods=_count(labels) if labels else _count(_as_labels(checked)),
        fits=_fits(labels, encoder),
        labelled=bool(labels),
        notes=tuple(notes),
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
    """Counts over one method's rows; one without a text is no variation, valid or not."""
    valid = sum(label.valid for label in labels)
    follows = sum(label.valid and label.follows_category for label in labels)
    texts = [key(label.variation.variation or "") for label in labels]
    identical = sum(text == key(label.variation.original) for text, label in zip(texts, labels, strict=True) if text)
    some = sum(map(bool, texts))
    share = _distinct(label for label in labels if label.valid) / queries
    follows_share = _distinct(label for label in labels if label.valid and label.follows_category) / queries
    return MethodValidity(category, method, some, valid, share, follows, follows_share, identical, len(texts) - some)


def _cases(count: int) -> str:
    return "case" if count == 1 else "cases"


def _distinct(labels: Iterable[Label]) -> int:
    """How many queries there are, of each method anew."""
    return len({(label.variation.query_id, label.variation.method) for label in labels})


def _fits(labels: Sequence[Label], encoder: Encoder | None) -> tuple[ModelFit, ...]:
    """The shipped models' own figures, and what they are worth on these labels."""
    kinds: list[tuple[Kind, Encoder | None]] = [("strings", None)]
    if encoder is not None and name_of(encoder) == DEFAULT:
        kinds.insert(0, ("semantic", encoder))
    names: dict[Kind, str] = {"semantic": Basis.SEMANTIC.value, "strings": Basis.STRINGS.value}
    fits = [ModelFit(names[kind], _SHIPPED, shipped(kind).quality) for kind, _ in kinds]
    people = judged_by_people(labels)
    valid = np.array([label.valid for label in people])
    queries = {label.variation.query_id for label in people}
    if len(people) < FEWEST_LABELS or len(queries) < FOLDS or valid.all() or not valid.any():
        return tuple(fits)
    for kind, with_encoder in kinds:
        data, known = examples(people, with_encoder), shipped(kind)
        chances = known.model.probabilities(data.features, data.methods)
        test = _LEARNT if known.fingerprint == fingerprint(people) else _AS_IS
        fits.append(ModelFit(names[kind], test, quality(data, chances)))
        fits.append(ModelFit(names[kind], _UNSEEN, cross_validate(data, kind)))
    return tuple(fits)
