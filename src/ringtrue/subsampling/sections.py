"""The evidence of the subsampling audit as tables and figures, and `reliability.json`."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from ir_measures import Measure

from ringtrue.audit import Cell, Column, Figure, Interval, Point, Series, Table, Text
from ringtrue.subsampling.holdout import unjudged_depth
from ringtrue.subsampling.mimic import Mimicry
from ringtrue.subsampling.plan import Plan
from ringtrue.subsampling.result import Agreement, Bootstrapped, Comparison, SamplerReliability

_VIEW_NAMES = {
    "without": "without post judgments",
    "with": "with post judgments",
    "condensed_without": "condensed, without",
    "condensed_with": "condensed, with",
}
_WRITTEN = {
    "unpooled_": "unpooled ",
    "tau_ap": "tau_AP",
    "tau_b": "tau-b",
    "_top": " top",
    "delta": "Δ",
    "rmse": "RMSE",
    "_mean_over_groups": ", mean over groups",
}
_SAMPLER = Column("sampler", "Sampler")
_DOCUMENTS = Column("documents", "Documents", 0, "mean over left-out groups")


def reliability_table(samplers: Sequence[SamplerReliability], measure: Measure) -> Table:
    """The study's table, led by the coefficient that can fail."""
    columns = (
        _SAMPLER,
        _DOCUMENTS,
        Column("tau_with", "τ with", 3, "unpooled tau_AP_b with post judgments"),
        Column("low", "Low", 3, "lower end of its 95 % interval"),
        Column("high", "High", 3, "upper end of its 95 % interval"),
        Column("tau_without", "τ without", 3, "unpooled tau_AP_b without post judgments"),
        Column("tau_condensed", "τ condensed", 3, "unpooled tau_AP_b without post judgments on condensed lists"),
        Column("groups_with", "τ groups", 3, "tau_AP_b over all systems with post judgments, mean over groups"),
        Column("delta", "Δ without", 4, f"predicted minus true {measure} of left-out systems"),
        Column("rmse", "RMSE without", 4, f"error of {measure} of left-out systems"),
        Column("rmse_with", "RMSE with", 4, f"error of {measure} of left-out systems with post judgments"),
        Column("unjudged", f"Unjudged@{unjudged_depth(measure)}", 3, "of left-out systems, without post judgments"),
    )
    rows: list[tuple[Cell, ...]] = []
    for one in samplers:
        interval = one.intervals["with"].unpooled_tau_ap_b
        rows.append(
            (
                one.sampler,
                one.corpus_size_mean,
                one.lead("with").unpooled_tau_ap_b,
                interval.low,
                interval.high,
                one.lead("without").unpooled_tau_ap_b,
                one.lead("condensed_without").unpooled_tau_ap_b,
                one.lead("with").tau_ap_b,
                one.lead("without").delta,
                one.lead("without").rmse,
                one.lead("with").rmse,
                one.unjudged_without,
            )
        )
    note = (
        "τ is tau_AP_b between the order of systems on the sample and the true order. Unpooled: each system has the "
        "value of the cell that leaves out its own group. The mean over groups is near 1 wherever a group is a small "
        "part of all systems."
    )
    return Table("reliability", "Samplers", columns, tuple(rows), note)


def curve(samplers: Sequence[SamplerReliability]) -> Figure:
    """Reliability against size."""
    by_size = sorted(samplers, key=lambda one: (one.corpus_size_mean, one.sampler))
    pools = [one for one in by_size if one.sampler.startswith("pool")]
    others = [one for one in by_size if not one.sampler.startswith("pool")]
    series = [Series("pools", tuple(_point(one) for one in pools))] if pools else []
    series += [Series(one.sampler, (_point(one),)) for one in others]
    return Figure(
        "curve",
        "Reliability against size",
        "lines",
        tuple(series),
        "documents",
        "unpooled tau_AP_b with post judgments",
        "Bands and whiskers are 95 % bootstrap intervals over topics and groups.",
    )


def _point(one: SamplerReliability) -> Point:
    interval = one.intervals["with"].unpooled_tau_ap_b
    return Point(
        one.corpus_size_mean, one.lead("with").unpooled_tau_ap_b, interval.low, interval.high, label=one.sampler
    )


def plan_table(plan: Plan) -> Table:
    """Samplers from small to large, and why each is taken or not; energy where it is known what a document takes."""
    kwh = (Column("kwh", "kWh", 4, "documents times what one takes"),) if plan.limits.kwh_per_doc is not None else ()
    columns = (
        _SAMPLER,
        Column("documents", "Documents", 0),
        *kwh,
        Column("tau", "τ", 3),
        Column("low", "Low", 3),
        Column("chosen", "Chosen"),
        Column("reason", "Why"),
    )
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (one.sampler, one.docs, *(one.kwh for _ in kwh), one.tau, one.low, one.chosen, one.reason)
        for one in plan.options
    )
    return Table("plan", f"Plan: {plan.limits}", columns, rows)


def details_table(samplers: Sequence[SamplerReliability], top: float) -> Table:
    """Every coefficient against both truths."""
    fields = [name for name in Agreement.__dataclass_fields__]
    columns = (
        _SAMPLER,
        Column("truth", "Truth"),
        Column("view", "View"),
        *(Column(_file_name(name, top), _heading(_file_name(name, top)), 4) for name in fields),
    )
    rows: list[tuple[Cell, ...]] = [
        (one.sampler, truth, _VIEW_NAMES[view], *(getattr(figures, name) for name in fields))
        for one in samplers
        for truth, views in one.agreement.items()
        for view, figures in views.items()
    ]
    note = (
        "truth_pool10: whole runs with the judgments of the top-10 pool of all runs; truth_full: with all judgments. "
        f"top{round(100 * top)}: over the best {top:.0%} of the systems."
    )
    return Table("details", "All coefficients", columns, tuple(rows), note)


def _heading(name: str) -> str:
    """A figure's name as it is written elsewhere: `unpooled tau_AP_b`."""
    for code, words in _WRITTEN.items():
        name = name.replace(code, words)
    return name


def intervals_table(samplers: Sequence[SamplerReliability]) -> Table:
    """The interval of every figure that has one."""
    names = tuple(Bootstrapped.__dataclass_fields__)
    ends = [Column(f"{name}_{end}", f"{_heading(name)} {end}", 4) for name in names for end in Interval._fields[:2]]
    rows: list[tuple[Cell, ...]] = [
        (one.sampler, _VIEW_NAMES[view], *(bound for name in names for bound in getattr(found, name)[:2]))
        for one in samplers
        for view, found in one.intervals.items()
    ]
    note = "95 % intervals against the pooled truth, by bootstrap over topics and groups."
    columns = (_SAMPLER, Column("view", "View"), *ends)
    return Table("intervals", "Intervals", columns, tuple(rows), note)


def sizes_table(samplers: Sequence[SamplerReliability], measure: Measure) -> Table:
    """How much each sampler takes, and how much of it is judged."""
    depth = unjudged_depth(measure)
    columns = (
        _SAMPLER,
        _DOCUMENTS,
        Column("smallest", "Smallest", 0, "of the groups' samples"),
        Column("largest", "Largest", 0, "of the groups' samples"),
        Column("megabytes", "MB (estimated)", 1, "documents times the mean size of one"),
        Column("judgments_without", "Judgments without", 0, "mean over groups, without post judgments"),
        Column("judgments_with", "Judgments with", 0, "mean over groups, with post judgments"),
        Column("unjudged_without", f"Unjudged@{depth} without", 3, "of left-out systems, without post judgments"),
        Column("unjudged_with", f"Unjudged@{depth} with", 3, "of left-out systems, with post judgments"),
    )
    rows: list[tuple[Cell, ...]] = [
        (
            one.sampler,
            one.corpus_size_mean,
            one.corpus_size_min,
            one.corpus_size_max,
            one.megabytes,
            one.judgments_without,
            one.judgments_with,
            one.unjudged_without,
            one.unjudged_with,
        )
        for one in samplers
    ]
    known = any(one.megabytes is not None for one in samplers)
    note = "" if known else "Bytes are not known without the documents (--collection) or their size (--bytes-per-doc)."
    return Table("sizes", "Sizes and judgments", columns, tuple(rows), note)


def comparisons_table(comparisons: Sequence[Comparison]) -> Table:
    """Paired tests against the largest sample."""
    columns = (
        _SAMPLER,
        Column("reference", "Against"),
        Column("mean_difference", "Mean difference", 5),
        Column("p", "p", 4),
        Column("p_holm", "p (Holm)", 4),
        Column("groups", "Groups"),
    )
    family = len(comparisons)
    note = f"tau_AP_b by left-out group with post judgments, paired t-tests; the family is these {family} rows."
    return Table.of("comparisons", "Samplers against the largest", columns, comparisons, note)


def definitions(measure: Measure) -> Text:
    """What the columns mean."""
    body = (
        "For each group the corpus is sampled from the runs of the others, and only the left-out runs lose the "
        "documents outside of it. Without post judgments, a document is judged where it is in the top-10 pool of the "
        "other groups; with them, also where it is in the top 10 of the left-out runs as they come from the sample. "
        "The truth is "
        f"{measure} of the whole runs with the judgments of the top-10 pool of all runs."
    )
    return Text("definitions", "How to read this", body)


_MIMICRY = (
    Column("documents", "Documents", 0),
    Column("megabytes", "MB", 2, "title and text of the sample, measured"),
    Column("rbo", "RBO", 3, "rank-biased overlap with the full corpus, p = 0.9"),
    Column("recall", "Recall@10", 3, "of the full corpus's top ten in the sample's"),
    Column("overlap", "Overlap@10", 3, "average overlap, as the study's program computes RBO@10"),
    Column("condensed_rbo", "RBO condensed", 3, "both lists without the documents that the sample lacks"),
    Column("condensed_recall", "Recall@10 condensed", 3, "the same lists"),
    Column("missing", "Missing", 3, "loss because documents are not in the sample"),
    Column("statistics", "Statistics", 3, "loss that remains: changed corpus statistics"),
)


def mimicry_table(rows: Sequence[Mimicry]) -> Table:
    """Each ranker on each sample."""
    columns = (
        Column("ranker", "Ranker"),
        Column("family", "Class"),
        _SAMPLER,
        *_MIMICRY,
        Column("low", "RBO low", 3, "lower end of the 95 % interval of RBO"),
        Column("high", "RBO high", 3, "upper end of the 95 % interval of RBO"),
        Column("topics", "Topics", 0, "for which the ranker finds something on the full corpus"),
    )
    cells: tuple[tuple[Cell, ...], ...] = tuple(
        (
            one.ranker,
            one.family,
            one.sampler,
            *(getattr(one, column.name) for column in _MIMICRY),
            one.interval.low,
            one.interval.high,
            one.topics,
        )
        for one in rows
    )
    note = "Missing and statistics add up to 1 - RBO. Means over topics; intervals by bootstrap over topics."
    return Table("mimicry", "Rankers on samples", columns, cells, note)


def mimicry_by_family(rows: Sequence[Mimicry]) -> Table:
    """Means over the rankers of a class."""
    keys = list(dict.fromkeys((one.family, one.sampler) for one in rows))
    cells: list[tuple[Cell, ...]] = []
    for kind, sampler in keys:
        some = [one for one in rows if (one.family, one.sampler) == (kind, sampler)]
        means = (sum(getattr(one, column.name) for one in some) / len(some) for column in _MIMICRY)
        cells.append((kind, sampler, len(some), *means))
    columns = (Column("family", "Class"), _SAMPLER, Column("rankers", "Rankers"), *_MIMICRY)
    return Table("classes", "By class of ranker", columns, tuple(cells))


def _file_name(field: str, top: float) -> str:
    """A field's name in files: `tau_b_top` is `tau_b_top75` for the best 75 %."""
    return f"{field}{round(100 * top)}" if field.endswith("_top") else field


def reliability_json(
    samplers: Sequence[SamplerReliability], top: float, true_scores: Mapping[str, Mapping[str, float]]
) -> str:
    """`reliability.json`: all fields by sampler, truth and view; a coefficient without a value is null.

    `true_scores` are those of each system by name of the truth.
    """
    content: dict[str, Any] = {"samplers": {}}
    for one in samplers:
        entry: dict[str, Any] = {
            name: getattr(one, name)
            for name in type(one).__dataclass_fields__
            if name not in ("sampler", "agreement", "intervals")
        }
        for truth, views in one.agreement.items():
            entry[truth] = {
                view: {_file_name(name, top): _number(value) for name, value in asdict(figures).items()}
                for view, figures in views.items()
            }
        entry["intervals"] = {
            view: {name: [_number(bound.low), _number(bound.high)] for name, bound in vars(found).items()}
            for view, found in one.intervals.items()
        }
        content["samplers"][one.sampler] = entry
    content["truth"] = {name.removeprefix("truth_"): dict(scores) for name, scores in true_scores.items()}
    return json.dumps(content, indent=2) + "\n"


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None
