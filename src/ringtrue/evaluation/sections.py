"""The evidence of the evaluation audit as tables and figures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from ir_measures import Measure

from ringtrue.audit import Cell, Column, Figure, Point, Series, Table
from ringtrue.evaluation import rules
from ringtrue.evaluation.facts import CollectionFacts, JudgmentFacts

if TYPE_CHECKING:
    from ringtrue.evaluation.audit import SystemRow

_BARS = 20


def systems_table(systems: Sequence[SystemRow], measure: Measure, depth: int) -> Table:
    """All systems, best first, with what separates each from the next."""
    columns = (
        Column("rank", "Rank"),
        Column("run", "System"),
        Column("group", "Group"),
        Column("score", str(measure), 4),
        Column("low", "Low", 4, "lower end of the 95 % interval: bootstrap over topics"),
        Column("high", "High", 4, "upper end of the 95 % interval: bootstrap over topics"),
        Column("lead", "Lead", 4, "mean difference to the next system"),
        Column("p", "p", 3, "paired t-test against the next system, Holm over all neighbours"),
        Column("told_apart", "Told apart", None, f"whether p < {rules.ALPHA}"),
        Column("unjudged", f"Unjudged@{depth}", 3, "share of the top without a judgment"),
        Column("tied", "Tied", 3, "share of all lines that share their score with a neighbour"),
        Column("tie_shift", "Tie shift", 4, "how far the mean moves when the tie rule is turned round"),
    )
    rows: list[tuple[Cell, ...]] = [
        (
            rank,
            row.run,
            row.group,
            row.mean,
            row.interval.low,
            row.interval.high,
            row.next_test.mean_difference if row.next_test else None,
            row.next_p,
            row.told_apart,
            row.unjudged,
            row.tied,
            row.tie_shift,
        )
        for rank, row in enumerate(systems, start=1)
    ]
    note = "Lead, p and told apart compare a system with the next row."
    return Table("systems", "Systems", columns, tuple(rows), note)


def systems_figure(systems: Sequence[SystemRow], measure: Measure) -> Figure:
    """Means with intervals, coloured by group."""
    groups = dict.fromkeys(row.group for row in systems)
    series = tuple(
        Series(
            group,
            tuple(
                Point(row.run, row.mean, row.interval.low, row.interval.high) for row in systems if row.group == group
            ),
        )
        for group in groups
    )
    note = "Whiskers are 95 % bootstrap intervals over topics. They overlap more than paired tests would suggest."
    return Figure("systems", f"Systems by {measure}", "dots", series, x_label=str(measure), note=note)


def collection_tables(facts: CollectionFacts | None) -> tuple[Table, ...]:
    """What the collection holds; nothing where none was given."""
    if facts is None:
        return ()
    lacking = None if facts.documents is None else len(facts.judged_not_in_corpus)
    rows: tuple[tuple[Cell, ...], ...] = (
        ("documents", facts.documents),
        ("documents without text", facts.empty_documents),
        ("words per document", _rounded(facts.words_per_document)),
        ("topics", facts.topics),
        ("topics with a description", facts.topics_with_description),
        ("topics with a narrative", facts.topics_with_narrative),
        ("query variants", facts.variants),
        ("words per title", _rounded(facts.words_per_title)),
        ("topics without judgments", len(facts.topics_not_judged)),
        ("judged topics without a query", len(facts.judged_not_a_topic)),
        ("judged documents that the corpus lacks", lacking),
    )
    return (Table("collection", "The collection", (Column("fact", "Fact"), Column("value", "Value")), rows),)


def judgments_table(facts: JudgmentFacts) -> Table:
    """How many judgments of each grade."""
    rows = tuple((grade, number, number / facts.judgments) for grade, number in facts.by_grade)
    columns = (Column("grade", "Grade"), Column("judgments", "Judgments"), Column("share", "Share", 3))
    return Table("judgments", f"{facts.judgments:,} judgments by grade", columns, rows)


def relevant_figure(facts: JudgmentFacts) -> Figure:
    """How many topics have how many relevant documents; in steps where the numbers are large."""
    most = int(facts.relevant.max(initial=0))
    step = max(1, -(-(most + 1) // _BARS))
    counts = np.bincount(facts.relevant // step, minlength=most // step + 1).tolist()
    points = tuple(
        Point(str(place * step) if step == 1 else f"{place * step}–{(place + 1) * step - 1}", number)  # noqa: RUF001
        for place, number in enumerate(counts)
    )
    return Figure(
        "relevant", "Topics by number of relevant documents", "bars", (Series("topics", points),),
        "relevant documents", "topics",
    )  # fmt: skip


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 1)
