"""The figures of the robustness audit as tables: Table 4 of the study, and what lies behind it."""

from __future__ import annotations

from collections.abc import Sequence

from ir_measures import Measure

from ringtrue.audit import Cell, Column, Table
from ringtrue.robustness.result import (
    ALPHA,
    CategoryDrop,
    Comparison,
    Consistency,
    Correlation,
    DepthRow,
    FusionRow,
    Oracle,
    Stability,
    Swap,
)
from ringtrue.robustness.settings import Settings
from ringtrue.robustness.task import Task

SYSTEM = Column("system", "System")
MEASURE = Column("measure", "Measure")
CATEGORY = Column("category", "Category")
METHOD = Column("method", "Method")
ORIGINAL = Column("original", "Original", 4)
_VARIED = Column("varied", "Varied", 4)
_VALID_QUERIES = Column("queries", "Queries", None, "with a valid variation")
_INTERVAL = (
    Column("low", "Low", 3, "lower end of its 95 % interval: bootstrap over queries"),
    Column("high", "High", 3, "upper end of its 95 % interval: bootstrap over queries"),
)
_TEST = (Column("p", "p", 4), Column("p_corrected", "p corrected", 4))
_MARK = Column("mark", "Mark", None, f"▼ or ▲ where the corrected p is below {ALPHA}")


def stand_in(settings: Settings) -> str:
    """What becomes of queries without a valid variation."""
    if settings.valid_only:
        return "Only queries with a valid variation count."
    return "Where a query has no valid variation, the original query stands in, as in the study."


def matrix_table(task: Task, rows: Sequence[Comparison], measure: Measure, settings: Settings) -> Table:
    """The study's Table 4: methods down, systems across, with a mark beside each significant difference."""
    own = [row for row in rows if row.measure == str(measure)]
    systems = tuple(dict.fromkeys(row.system for row in own))
    cells = {(row.system, row.method): (row.varied, row.mark) for row in own}
    # the means of most queries: a system that fails on one has others for that method
    before = {row.system: row.original for row in sorted(own, key=lambda row: row.queries)}
    columns = [CATEGORY, METHOD, Column("valid", "Valid", None, f"queries with a valid variation, of {_count(task)}")]
    body: list[list[Cell]] = [["", "original query", _count(task)]]
    body += [[one.category, one.method, one.valid] for one in task.counts]
    for system in systems:
        columns += [Column(system, system, 3), Column(f"{system}_mark", "")]
        body[0] += [before[system], ""]
        for row, one in zip(body[1:], task.counts, strict=True):
            row += cells[system, one.method]
    family = max((row.family for row in own), default=0)
    note = (
        f"▼ and ▲: significantly worse and better than the original query (p < {ALPHA}; {settings.marking.words} over "
        f"the {family} methods of each system). {stand_in(settings)}"
    )
    if settings.valid_only and own:
        note += " The row of the original query is over the queries of the method that has most."
    return Table(
        _name("table", measure), f"{measure} by method and system", tuple(columns), tuple(map(tuple, body)), note
    )


def _count(task: Task) -> int:
    return len(task.queries)


def _name(stem: str, measure: Measure) -> str:
    """A file name for one measure's section."""
    plain = "".join(character if character.isalnum() else "_" for character in str(measure))
    return f"{stem}_{plain.strip('_')}"


def drops_table(drops: Sequence[CategoryDrop]) -> Table:
    """Mean losses by category."""
    columns = (
        SYSTEM,
        MEASURE,
        CATEGORY,
        _VALID_QUERIES,
        Column("pairs", "Pairs", None, "of query and method"),
        ORIGINAL,
        _VARIED,
        Column("drop", "Loss", 3, "1 less varied over original; where lower is better, that ratio less 1"),
        *_INTERVAL,
        Column("drop_by_query", "Loss by query", 3, "mean of each pair's own loss, as in the study"),
        Column("zeros", "Zeros", None, "pairs whose original is 0, left out of the loss by query"),
    )
    return Table.of("categories", "Mean loss by category", columns, drops, "Over valid variations only.")


def comparisons_table(comparisons: Sequence[Comparison], settings: Settings) -> Table:
    """Every difference with its test."""
    columns = (
        SYSTEM,
        MEASURE,
        CATEGORY,
        METHOD,
        Column("queries", "Queries"),
        Column("valid", "Valid"),
        Column("replaced", "Replaced", None, "queries for which the original stands in"),
        Column("failed", "Failed", None, "queries left out because the system failed"),
        ORIGINAL,
        _VARIED,
        Column("difference", "Difference", 4),
        Column("relative", "Relative", 3),
        *_TEST,
        _MARK,
    )
    family = max((one.family for one in comparisons), default=0)
    note = f"{settings.marking.words}; the family is the {family} methods of a system and measure."
    return Table.of("comparisons", "All comparisons", columns, comparisons, f"{note} {stand_in(settings)}")


def stability_table(rows: Sequence[Stability]) -> Table:
    """How far rankings move, and how much of them is judged."""
    columns = (
        SYSTEM,
        CATEGORY,
        METHOD,
        _VALID_QUERIES,
        Column("overlap", "RBO", 3, "rank-biased overlap with the original's ranking, p = .9"),
        Column("judged_before", "Judged@10 before", 3),
        Column("judged_after", "Judged@10 after", 3),
    )
    note = "A variation that brings up unjudged documents loses more on paper than it may in truth."
    return Table.of("stability", "How far rankings move", columns, rows, note)


def consistency_table(rows: Sequence[Consistency], measure: Measure) -> Table:
    """Mean, variance and risk."""
    columns = (
        SYSTEM,
        _VALID_QUERIES,
        Column("variations", "Variations", None, "valid ones"),
        ORIGINAL,
        Column("mean", "Mean", 4, "over all ways to write a query"),
        Column("within", "Sd within", 4, "over the ways to write a query, mean over queries"),
        Column("between", "Sd between", 4, "of the queries' means"),
        Column("worst", "Worst", 4, "mean of each query's worst"),
        Column("best", "Best", 4, "mean of each query's best"),
        Column("overlap", "RBO", 3, "with the original's ranking"),
        Column("risk_adjusted", "Mean less variance", 4, "mean less the variance within queries; plus it for MFR"),
        Column("gain_less_risk", "Gain less risk", 4, "mean gain over the original, losses counting double"),
    )
    aversion = rows[0].aversion if rows else 1.0
    note = f"Risk aversion {aversion:g}: the variance is weighed by it, and losses by 1 more than it."
    return Table.of("consistency", f"Consistency of {measure} over the ways to write a query", columns, rows, note)


def swaps_tables(swaps: Sequence[Swap], systems: int) -> tuple[Table, ...]:
    """Systems that change places; nothing where there is one system."""
    if systems < 2:
        return ()
    columns = (
        MEASURE,
        CATEGORY,
        METHOD,
        Column("ahead_before", "Ahead before"),
        Column("ahead_after", "Ahead after"),
        Column("lead_before", "Lead before", 4),
        Column("lead_after", "Lead after", 4),
        Column("p", "p", 4, "paired test of the lead after against that before"),
        Column("p_corrected", "p corrected", 4, "over all pairs of systems and methods"),
    )
    return (Table.of("swaps", "Systems that change places", columns, swaps),)


def correlations_tables(rows: Sequence[Correlation], measure: Measure) -> tuple[Table, ...]:
    """Whether systems lose on the same variations; nothing where there is one system and no encoder."""
    if not rows:
        return ()
    columns = (
        CATEGORY,
        Column("first", "System"),
        Column("second", "And"),
        Column("pairs", "Pairs", None, "of query and valid variation"),
        Column("correlation", "Correlation", 3, "Pearson's, of what the variations change"),
    )
    note = (
        "Two systems near 1 lose on the same variations, near 0 each on its own. A system near 1 with the similarity "
        "in meaning loses where variations say something else; one near 0 loses to the wording alone."
    )
    return (Table.of("correlations", f"Do systems lose {measure} on the same variations?", columns, rows, note),)


def depths_tables(rows: Sequence[DepthRow], measure: Measure) -> tuple[Table, ...]:
    """Losses by how many documents are re-ranked; nothing where that was not asked for."""
    if not rows:
        return ()
    depth = Column("depth", "Re-ranked", None, "documents of the first stage")
    columns = (SYSTEM, depth, CATEGORY, ORIGINAL, _VARIED, Column("drop", "Loss", 3), *_INTERVAL)
    return (Table.of("depths", f"Loss of {measure} by depth of re-ranking", columns, rows),)


def fusion_table(rows: Sequence[FusionRow], settings: Settings) -> Table:
    """Fused rankings against the original's."""
    columns = (
        SYSTEM,
        Column("scope", "Fused"),
        Column("method", "By"),
        Column("with_original", "With the original"),
        Column("rankings", "Rankings", None, "at most, a query"),
        Column("replaced", "Replaced", None, "queries without a valid variation: the original's ranking stands in"),
        ORIGINAL,
        Column("value", "Fused value", 4),
        *_TEST,
        _MARK,
    )
    family = max((one.family for one in rows), default=0)
    note = (
        f"{settings.marking.words}; the family is the {family} rows of a system. Of each ranking the best "
        f"{settings.fusion_depth} documents are fused."
    )
    measure = rows[0].measure if rows else ""
    return Table.of("fusion", f"{measure} of fused rankings", columns, rows, note)


def oracle_table(rows: Sequence[Oracle]) -> Table:
    """Which method would win, if one knew."""
    wins = "queries for which it is the best way to write them, and better than the original"
    columns = (
        SYSTEM,
        METHOD,
        Column("wins", "Wins", None, wins),
        Column("gain", "Mean gain", 4, "over these queries"),
        ORIGINAL,
        Column("oracle", "Oracle", 4, "the best way to write each query"),
    )
    found: list[tuple[Cell, ...]] = []
    for one in rows:
        found += [(one.system, row.method, row.wins, row.gain, None, None) for row in one.winners]
        found.append((one.system, "all", one.gaining, None, one.original, one.value))
    note = "The best of several noisy values is always higher than any of them: an upper bound, not a promise."
    return Table("oracle", "If one knew the best way to write each query", columns, tuple(found), note)
