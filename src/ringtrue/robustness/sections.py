"""The evidence of the robustness audit as tables and figures."""

from __future__ import annotations

from collections.abc import Sequence

from ir_measures import Measure

from ringtrue.audit import Cell, Column, Figure, Point, Series, Table, Text
from ringtrue.robustness.ranking import Failure, Task
from ringtrue.robustness.result import (
    ALPHA,
    CategoryDrop,
    Comparison,
    Consistency,
    DepthRow,
    FusionRow,
    Oracle,
    Stability,
    Swap,
)
from ringtrue.robustness.settings import Settings

Rows = list[tuple[Cell, ...]]


def matrix_table(task: Task, rows: Sequence[Comparison], measure: Measure, settings: Settings) -> Table:
    """The study's Table 4: methods down, systems across, marks where a difference is significant."""
    own = [row for row in rows if row.measure == str(measure)]
    systems = tuple(dict.fromkeys(row.system for row in own))
    cells = {(row.system, row.method): f"{row.varied:.3f}{row.mark}" for row in own}
    # the means of most queries: a system that fails on one has others for that method
    before = {row.system: f"{row.original:.3f}" for row in sorted(own, key=lambda row: row.queries)}
    columns = (
        Column("category", "Category"),
        Column("method", "Method"),
        Column("valid", "Valid", None, f"queries with a valid variation, of {len(task.queries)}"),
        *(Column(system, system) for system in systems),
    )
    body: Rows = [("", "original query", len(task.queries), *(before[system] for system in systems))]
    body += [
        (one.category, one.method, one.valid, *(cells[system, one.method] for system in systems)) for one in task.counts
    ]
    family = max((row.family for row in own), default=0)
    note = (
        f"▼ and ▲: significantly worse and better than the original query (p < {ALPHA}; {settings.marking.words} over "
        f"the {family} methods of each system). {_stand_in(settings)}"
    )
    if settings.valid_only and own:
        note += " The row of the original query is over the queries of the method that has most."
    return Table(_name("table", measure), f"{measure} by method and system", columns, tuple(body), note)


def _name(stem: str, measure: Measure) -> str:
    """A file name for one measure's section."""
    plain = "".join(character if character.isalnum() else "_" for character in str(measure))
    return f"{stem}_{plain.strip('_')}"


def _stand_in(settings: Settings) -> str:
    if settings.valid_only:
        return "Only queries with a valid variation count."
    return "Where a query has no valid variation, the original query stands in, as in the study."


def drops_figure(drops: Sequence[CategoryDrop], measure: Measure) -> Figure:
    """What each category costs, with intervals."""
    own = [one for one in drops if one.measure == str(measure)]
    series = tuple(
        Series(
            system,
            tuple(
                Point(one.category, one.drop, one.interval.low, one.interval.high)
                for one in own
                if one.system == system and one.pairs
            ),
        )
        for system in dict.fromkeys(one.system for one in own)
    )
    note = (
        "Share of the measure that is lost over valid variations; whiskers are 95 % bootstrap intervals over queries."
    )
    return Figure("drops", f"Loss of {measure} by category", "dots", series, x_label=f"loss of {measure}", note=note)


def drops_table(drops: Sequence[CategoryDrop]) -> Table:
    """Mean losses by category."""
    columns = (
        Column("system", "System"),
        Column("measure", "Measure"),
        Column("category", "Category"),
        Column("queries", "Queries", None, "with a valid variation"),
        Column("pairs", "Pairs", None, "of query and method"),
        Column("original", "Original", 4),
        Column("varied", "Varied", 4),
        Column("drop", "Loss", 3, "1 less varied over original"),
        Column("low", "Low", 3, "lower end of its 95 % interval: bootstrap over queries"),
        Column("high", "High", 3, "upper end of its 95 % interval: bootstrap over queries"),
        Column("drop_by_query", "Loss by query", 3, "mean of each pair's own loss, as in the study"),
        Column("zeros", "Zeros", None, "pairs whose original is 0, left out of the loss by query"),
    )
    rows: Rows = [
        (
            one.system,
            one.measure,
            one.category,
            one.queries,
            one.pairs,
            one.original,
            one.varied,
            one.drop,
            one.interval.low,
            one.interval.high,
            one.drop_by_query,
            one.zeros,
        )
        for one in drops
    ]
    return Table("categories", "Mean loss by category", columns, tuple(rows), "Over valid variations only.")


def comparisons_table(comparisons: Sequence[Comparison], settings: Settings) -> Table:
    """Every difference with its test."""
    columns = (
        Column("system", "System"),
        Column("measure", "Measure"),
        Column("category", "Category"),
        Column("method", "Method"),
        Column("queries", "Queries"),
        Column("valid", "Valid"),
        Column("replaced", "Replaced", None, "queries for which the original stands in"),
        Column("failed", "Failed", None, "queries left out because the system failed"),
        Column("original", "Original", 4),
        Column("varied", "Varied", 4),
        Column("difference", "Difference", 4),
        Column("relative", "Relative", 3),
        Column("p", "p", 4),
        Column("p_corrected", "p corrected", 4),
        Column("mark", "Mark"),
    )
    rows: Rows = [
        (
            one.system,
            one.measure,
            one.category,
            one.method,
            one.queries,
            one.valid,
            one.replaced,
            one.failed,
            one.original,
            one.varied,
            one.difference,
            one.relative,
            one.p,
            one.p_corrected,
            one.mark,
        )
        for one in comparisons
    ]
    family = max((one.family for one in comparisons), default=0)
    note = f"{settings.marking.words}; the family is the {family} methods of a system and measure."
    return Table("comparisons", "All comparisons", columns, tuple(rows), f"{note} {_stand_in(settings)}")


def stability_table(rows: Sequence[Stability]) -> Table:
    """How far rankings move, and how much of them is judged."""
    columns = (
        Column("system", "System"),
        Column("category", "Category"),
        Column("method", "Method"),
        Column("queries", "Queries", None, "with a valid variation"),
        Column("overlap", "RBO", 3, "rank-biased overlap with the original's ranking, p = .9"),
        Column("judged_before", "Judged@10 before", 3),
        Column("judged_after", "Judged@10 after", 3),
    )
    note = "A variation that brings up unjudged documents loses more on paper than it may in truth."
    return Table("stability", "How far rankings move", columns, tuple(rows), note)


def consistency_table(rows: Sequence[Consistency], measure: Measure) -> Table:
    """Mean, variance and risk."""
    columns = (
        Column("system", "System"),
        Column("queries", "Queries", None, "with a valid variation"),
        Column("variations", "Variations", None, "valid ones"),
        Column("original", "Original", 4),
        Column("mean", "Mean", 4, "over all ways to write a query"),
        Column("within", "Sd within", 4, "over the ways to write a query, mean over queries"),
        Column("between", "Sd between", 4, "of the queries' means"),
        Column("worst", "Worst", 4, "mean of each query's worst"),
        Column("best", "Best", 4, "mean of each query's best"),
        Column("overlap", "RBO", 3, "with the original's ranking"),
        Column("risk_adjusted", "Mean less variance", 4, "mean less the variance within queries"),
        Column("gain_less_risk", "Gain less risk", 4, "mean gain over the original, losses counting double"),
    )
    found: Rows = [
        (
            one.system,
            one.queries,
            one.variations,
            one.original,
            one.mean,
            one.within,
            one.between,
            one.worst,
            one.best,
            one.overlap,
            one.risk_adjusted,
            one.gain_less_risk,
        )
        for one in rows
    ]
    aversion = rows[0].aversion if rows else 1.0
    note = f"Risk aversion {aversion:g}: the variance is weighed by it, and losses by 1 more than it."
    return Table("consistency", f"Consistency of {measure} over the ways to write a query", columns, tuple(found), note)


def risk_figure(rows: Sequence[Consistency], measure: Measure) -> Figure:
    """Each system between its worst and its best way to write each query."""
    points = tuple(Point(one.system, one.mean, one.worst, one.best) for one in rows)
    note = "Dots are means over all ways to write each query; whiskers reach from the mean of the worst to the best."
    return Figure("risk", f"{measure} between worst and best", "dots", (Series("", points),), str(measure), note=note)


def swaps_tables(swaps: Sequence[Swap], systems: int) -> tuple[Table, ...]:
    """Systems that change places; nothing where there is one system."""
    if systems < 2:
        return ()
    columns = (
        Column("measure", "Measure"),
        Column("category", "Category"),
        Column("method", "Method"),
        Column("ahead_before", "Ahead before"),
        Column("ahead_after", "Ahead after"),
        Column("lead_before", "Lead before", 4),
        Column("lead_after", "Lead after", 4),
        Column("p", "p", 4, "paired test of the two systems on the variations"),
        Column("p_corrected", "p corrected", 4, "over all pairs of systems and methods"),
    )
    return (Table("swaps", "Systems that change places", columns, tuple(swaps)),)


def depths_tables(rows: Sequence[DepthRow], measure: Measure) -> tuple[Table, ...]:
    """Losses by how many documents are re-ranked; nothing where that was not asked for."""
    if not rows:
        return ()
    columns = (
        Column("system", "System"),
        Column("depth", "Re-ranked", None, "documents of the first stage"),
        Column("category", "Category"),
        Column("original", "Original", 4),
        Column("varied", "Varied", 4),
        Column("drop", "Loss", 3),
        Column("low", "Low", 3),
        Column("high", "High", 3),
    )
    return (Table("depths", f"Loss of {measure} by depth of re-ranking", columns, tuple(rows)),)


def fusion_table(rows: Sequence[FusionRow], settings: Settings) -> Table:
    """Fused rankings against the original's."""
    columns = (
        Column("system", "System"),
        Column("scope", "Fused"),
        Column("method", "By"),
        Column("with_original", "With the original"),
        Column("rankings", "Rankings", None, "at most, a query"),
        Column("replaced", "Replaced", None, "queries without a valid variation: the original's ranking stands in"),
        Column("original", "Original", 4),
        Column("value", "Fused value", 4),
        Column("p", "p", 4),
        Column("p_corrected", "p corrected", 4),
        Column("mark", "Mark"),
    )
    found: Rows = [
        (
            one.system,
            one.scope,
            one.method,
            one.with_original,
            one.fused,
            one.replaced,
            one.original,
            one.value,
            one.p,
            one.p_corrected,
            one.mark,
        )
        for one in rows
    ]
    family = max((one.family for one in rows), default=0)
    note = (
        f"{settings.marking.words}; the family is the {family} rows of a system. Of each ranking the best "
        f"{settings.fusion_depth} documents are fused."
    )
    measure = rows[0].measure if rows else ""
    return Table("fusion", f"{measure} of fused rankings", columns, tuple(found), note)


def oracle_table(rows: Sequence[Oracle]) -> Table:
    """Which method would win, if one knew."""
    columns = (
        Column("system", "System"),
        Column("method", "Method"),
        Column(
            "wins", "Wins", None, "queries for which it is the best way to write them, and better than the original"
        ),
        Column("gain", "Mean gain", 4, "over these queries"),
        Column("original", "Original", 4),
        Column("oracle", "Oracle", 4, "the best way to write each query"),
    )
    found: Rows = []
    for one in rows:
        found += [(one.system, row.method, row.wins, row.gain, None, None) for row in one.winners]
        found.append((one.system, "all", one.gaining, None, one.original, one.value))
    note = "The best of several noisy values is always higher than any of them: an upper bound, not a promise."
    return Table("oracle", "If one knew the best way to write each query", columns, tuple(found), note)


def failures_tables(failures: Sequence[Failure]) -> tuple[Table, ...]:
    """Queries that systems could not do; nothing where there are none."""
    if not failures:
        return ()
    columns = (
        Column("system", "System"),
        Column("query_id", "Query"),
        Column("method", "Method"),
        Column("text", "Text"),
        Column("error", "Error"),
    )
    rows: Rows = [
        (one.ranker, one.query_id, one.slot.method if one.slot else "original query", one.text, one.error)
        for one in failures
    ]
    return (Table("failures", "Failures", columns, tuple(rows), "These queries are left out of the comparisons."),)


def notes_tables(notes: Sequence[tuple[str, int, str]]) -> tuple[Table, ...]:
    """What was left out or tolerated; nothing where the input was clean."""
    if not notes:
        return ()
    columns = (Column("what", "What"), Column("times", "Times"), Column("first", "First seen in"))
    return (Table("tolerated", "Left out or tolerated", columns, tuple(notes)),)


def definitions(settings: Settings, task: Task) -> Text:
    """How the numbers were made."""
    body = (
        "Each system ranks the queries, and then each method's variations of them; both are scored with the same "
        f"judgments. {_stand_in(settings)} A query with several valid variations by one method has their mean. "
        "The loss of a category is over pairs of query and method with a valid variation."
    )
    if settings.rerank_only:
        body += " The first stage of each pipeline saw the original query alone."
    if task.unjudged:
        body += f" {task.unjudged} queries without judgments are left out."
    return Text("definitions", "How to read this", body)
