"""The rows of evidence: worst cases with their rankings, and the variations themselves."""

from __future__ import annotations

from collections.abc import Sequence

from ir_measures import Measure

from ringtrue.audit import Cell, Column, Table
from ringtrue.robustness.ranking import Failure
from ringtrue.robustness.result import Case
from ringtrue.robustness.tables import CATEGORY, METHOD, SYSTEM
from ringtrue.robustness.task import Task
from ringtrue.robustness.validity import Checked

Rows = list[tuple[Cell, ...]]

_CASE = Column("case", "Case")


def case_tables(cases: Sequence[Case], measure: Measure, most: int) -> tuple[Table, ...]:
    """The queries that lose most, and their rankings side by side; nothing where none loses."""
    if not cases:
        return ()
    columns = (
        SYSTEM,
        Column("query_id", "Query"),
        METHOD,
        Column("original", "Original"),
        Column("variation", "Variation"),
        Column("before", f"{measure} before", 4),
        Column("after", f"{measure} after", 4),
        Column("overlap", "RBO", 3),
    )
    plain = Table.of("worst", "Queries that lose most", columns, cases)
    rows = tuple((number, *row) for number, row in enumerate(plain.rows, start=1))
    note = f"At most {most} of each system, each query with the variation that costs it most."
    return Table(plain.name, plain.title, (_CASE, *columns), rows, note), _rankings_table(cases)


def _rankings_table(cases: Sequence[Case]) -> Table:
    columns = (
        _CASE,
        Column("rank", "Rank"),
        Column("doc_before", "Document before"),
        Column("grade_before", "Grade", None, "empty where it is not judged"),
        Column("doc_after", "Document after"),
        Column("grade_after", "Grade after", None, "empty where it is not judged"),
    )
    rows: Rows = [(number, *line) for number, one in enumerate(cases, start=1) for line in one.lines]
    return Table("rankings", "Their rankings side by side", columns, tuple(rows), "Cases are those of the table above.")


def variations_table(task: Task, checked: Sequence[Checked]) -> Table:
    """What there is of each method, and what says that it is valid."""
    columns = (
        CATEGORY,
        METHOD,
        Column("variations", "Variations"),
        Column("valid", "Valid", None, "queries with a valid variation"),
        Column("share", "Share", 3, f"of {len(task.queries)} queries"),
        Column("invalid", "Invalid", None, "queries all of whose variations are invalid"),
        Column("copies", "Copies", None, "queries whose variation is the query itself"),
        Column("missing", "Missing", None, "queries without a variation"),
        Column("basis", "Decided by"),
        Column("probability", "Mean probability", 3, "of being valid, where a model decided"),
        Column("similarity", "Mean similarity", 3, "by the encoder"),
    )
    rows: Rows = []
    for one in task.counts:
        own = [row for row in checked if row.variation[1:3] == (one.category, one.method)]
        rows.append(
            (
                one.category,
                one.method,
                one.variations,
                one.valid,
                one.valid / len(task.queries),
                one.invalid,
                one.copies,
                one.missing,
                ", ".join(dict.fromkeys(row.basis.value for row in own)),
                _mean([row.probability for row in own]),
                _mean([row.similarity for row in own]),
            )
        )
    return Table("variations", "Variations", columns, tuple(rows))


def failures_tables(failures: Sequence[Failure]) -> tuple[Table, ...]:
    """Queries that systems could not do; nothing where there are none."""
    if not failures:
        return ()
    columns = (SYSTEM, Column("query_id", "Query"), METHOD, Column("text", "Text"), Column("error", "Error"))
    rows: Rows = [
        (one.ranker, one.query_id, one.slot.method if one.slot else "original query", one.text, one.error)
        for one in failures
    ]
    return (Table("failures", "Failures", columns, tuple(rows), "These queries are left out of the comparisons."),)


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
