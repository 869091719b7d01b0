"""What is known of the validity of variations, as tables: Table 3 of the study, and what decided."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ringtrue.audit import Cell, Column, Table, Text
from ringtrue.robustness.calibration import Quality
from ringtrue.robustness.tables import CATEGORY, METHOD
from ringtrue.robustness.validity import Basis, Checked

TOTAL = "total"


class MethodValidity(NamedTuple):
    """One row of the study's Table 3; shares are of all queries, whether the method has a variation of them or not."""

    category: str
    method: str
    variations: int
    valid: int
    share: float
    follows: int
    follows_share: float
    identical: int
    missing: int = 0


class ModelFit(NamedTuple):
    """How well a model fits labels: `test` says which labels, and whether it had learnt from them."""

    model: str
    test: str
    quality: Quality


def methods_table(methods: Sequence[MethodValidity], labelled: bool) -> Table:
    """The study's Table 3."""
    columns = (
        CATEGORY,
        METHOD,
        Column("variations", "Variations"),
        Column("valid", "Valid"),
        Column("share", "Share", 4, "of all queries"),
        Column("follows", "Valid and of the category"),
        Column("follows_share", "Its share", 4, "of all queries"),
        Column("identical", "Identical", None, "the query itself but for case, gaps and punctuation"),
        Column("missing", "No variation", None, "queries of which the method could make none"),
    )
    title = "Valid variations by people's labels" if labelled else "Valid variations by rules and model"
    return Table.of("methods", title, columns, methods)


def basis_table(checked: Sequence[Checked]) -> Table:
    """What decisions rest on."""
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


def automatic_tables(automatic: Sequence[tuple[Checked, bool]]) -> tuple[Table, ...]:
    """Decisions without labels against the labels; nothing where there are none."""
    if not automatic:
        return ()
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
    return (Table("automatic", "What would be decided without labels", columns, tuple(rows), note),)


def fits_table(fits: Sequence[ModelFit]) -> Table:
    """How good the models are, and on what."""
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


def definitions(labelled: bool) -> Text:
    """What decides."""
    who = "People's labels decide." if labelled else "Rules decide, and a model where they do not."
    body = (
        f"{who} A copy of the query is never valid. Misspellings, another order, another spelling, what people wrote "
        "themselves and removed stop words keep the meaning by construction; for the rest a logistic regression gives "
        "the probability of being valid."
    )
    return Text("definitions", "How to read this", body)


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
