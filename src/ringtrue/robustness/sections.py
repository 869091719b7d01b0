"""The figures of the robustness audit, and how to read it."""

from __future__ import annotations

from collections.abc import Sequence

from ir_measures import Measure

from ringtrue.audit import Figure, Point, Series, Text
from ringtrue.robustness.mapping import TextMap
from ringtrue.robustness.result import CategoryDrop, Consistency
from ringtrue.robustness.settings import Settings
from ringtrue.robustness.tables import stand_in
from ringtrue.robustness.task import Task

TOLERATED = "Left out or tolerated"


def drops_figure(drops: Sequence[CategoryDrop], measure: Measure) -> Figure:
    """What each category costs, with intervals."""
    own = [one for one in drops if one.measure == str(measure)]
    series = tuple(
        Series(
            system,
            tuple(
                Point(one.category, one.drop, one.low, one.high) for one in own if one.system == system and one.pairs
            ),
        )
        for system in dict.fromkeys(one.system for one in own)
    )
    note = (
        "Share of the measure that is lost over valid variations; whiskers are 95 % bootstrap intervals over queries."
    )
    return Figure("drops", f"Loss of {measure} by category", "dots", series, y_label=f"loss of {measure}", note=note)


def risk_figure(rows: Sequence[Consistency], measure: Measure) -> Figure:
    """Each system between its worst and its best way to write each query."""
    points = tuple(Point(one.system, one.mean, min(one.worst, one.best), max(one.worst, one.best)) for one in rows)
    note = "Dots are means over all ways to write each query; whiskers reach from the mean of the worst to the best."
    title, series = f"{measure} between worst and best", (Series("", points),)
    return Figure("risk", title, "dots", series, y_label=str(measure), note=note)


def map_figures(found: TextMap | None) -> tuple[Figure, ...]:
    """Queries and variations by meaning; nothing where there was no encoder."""
    if found is None:
        return ()
    series = tuple(
        Series(group, tuple(Point(spot.x, spot.y, label=spot.text) for spot in found.spots if spot.group == group))
        for group in dict.fromkeys(spot.group for spot in found.spots)
    )
    note = (
        f"The two directions in which the texts differ most (principal components of {found.encoder}'s vectors), "
        f"{found.explained:.0%} of their variance: what is close here may be apart in others."
    )
    if found.left_out:
        note += f" {found.left_out} more queries and their variations are not drawn."
    title = "Where variations lie beside their queries, by meaning"
    return (Figure("map", title, "points", series, "first component", "second component", note),)


def definitions(settings: Settings, task: Task) -> Text:
    """How the numbers were made."""
    body = (
        "Each system ranks the queries, and then each method's variations of them; both are scored with the same "
        f"judgments. {stand_in(settings)} A query with several valid variations by one method has their mean. "
        "The loss of a category is over pairs of query and method with a valid variation."
    )
    if settings.rerank_only:
        body += " The first stage of each pipeline saw the original query alone."
    if task.unjudged:
        body += f" {task.unjudged} queries without judgments are left out."
    return Text("definitions", "How to read this", body)
