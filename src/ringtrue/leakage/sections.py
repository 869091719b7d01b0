"""The evidence of the leakage audit as tables and figures."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from ringtrue.audit import Cell, Column, Figure, Point, Section, Series, Table, Text
from ringtrue.errors import brief
from ringtrue.leakage import rules
from ringtrue.leakage.candidates import Candidate
from ringtrue.leakage.result import Impact, OrderChange, PairLeakage, Recall, SearchResult
from ringtrue.leakage.table import FieldCount, TopicLeaks
from ringtrue.leakage.thresholds import default_at

_BIN = 0.01
_CASCADE = (
    "A stand-in with token vectors distilled from the encoder screened them first; only what seemed near, and a sample "
    "of the rest, was encoded in full. "
)
_DEFAULT = (
    "The threshold of {0.value:g} is the encoder's default. {0.origin} Of the labelled pairs above it {0.true} of "
    "{0.pairs} are true leaks ({0.interval.low:.3f} to {0.interval.high:.3f}). "
)

Rows = tuple[tuple[Cell, ...], ...]


def leaks_table(leaks: Sequence[Candidate]) -> Table:
    """Every leak, by topic and similarity."""
    columns = (
        Column("topic_id", "Topic"),
        Column("field", "Field", None, "which of the topic's texts is nearest"),
        Column("text", "Text"),
        Column("query_id", "Query id"),
        Column("query", "Training query"),
        Column("similarity", "Similarity", 4),
        Column("type", "Type", None, "predicted kind of reformulation"),
        Column("probability", "Probability", 2, "of being a true leak"),
        Column("source", "Source"),
    )
    ordered = sorted(leaks, key=lambda leak: (leak.topic_id, -leak.similarity, leak.query_id))
    return Table.of("candidates", f"{len(ordered):,} candidates", columns, ordered)


def fields_table(counts: Sequence[FieldCount], each_field: bool) -> Table:
    """The study's first table."""
    columns = (
        Column("field", "Field"),
        Column("source", "Source"),
        Column("topics", "Topics"),
        Column("queries", "Queries", None, "distinct training queries"),
        Column("pairs", "Pairs", None, "of a topic and a query"),
    )
    note = (
        "A pair counts under each field that is similar enough."
        if each_field
        else "A pair counts under the field that is most similar, so that the fields add up to the union."
    )
    return Table("fields", "Leaks by field and source", columns, tuple(counts), note)


def topics_table(topics: Sequence[TopicLeaks]) -> Table:
    """Each topic with its nearest training query."""
    columns = (
        Column("topic_id", "Topic"),
        Column("queries", "Queries"),
        Column("expected", "Expected", 1, "true leaks that the probabilities add up to"),
        Column("similarity", "Similarity", 4),
        Column("field", "Field"),
        Column("text", "Text"),
        Column("query_id", "Query id"),
        Column("query", "Nearest training query"),
        Column("type", "Type"),
    )
    rows: Rows = tuple(
        (
            best.topic_id, queries, expected, best.similarity, best.field, best.text, best.query_id, best.query,
            best.type,
        )
        for best, queries, expected in topics
    )  # fmt: skip
    return Table("topics", f"{len(rows):,} leaked topics", columns, rows)


def types_tables(leaks: Sequence[Candidate]) -> tuple[Table, ...]:
    """How many leaks of each predicted type; nothing where there are no types."""
    found = Counter(leak.type for leak in leaks if leak.type)
    if not found:
        return ()
    columns = (Column("type", "Type"), Column("candidates", "Candidates"), Column("share", "Share", 3))
    counts = sorted(found.items(), key=lambda pair: (-pair[1], pair[0]))
    rows: Rows = tuple((kind, number, number / len(leaks)) for kind, number in counts)
    return (Table("types", "Kinds of reformulation", columns, rows),)


def similarities_figure(leaks: Sequence[Candidate]) -> Figure:
    """How near the leaks are."""
    places = Counter(min(math.floor(leak.similarity / _BIN + 1e-9), round(1 / _BIN) - 1) for leak in leaks)
    bins = range(min(places), max(places) + 1) if places else range(0)
    points = tuple(Point(round(place * _BIN, 2), places[place]) for place in bins)
    note = f"Each bar is a range of {_BIN}, named by its lower end; the last one holds 1 too."
    return Figure(
        "similarities", "Candidates by similarity", "bars", (Series("candidates", points),), "similarity",
        "candidates", note,
    )  # fmt: skip


def impact_sections(impact: Impact | None) -> tuple[Section, ...]:
    """Systems on leaked and clean topics, and what becomes of their order; nothing without systems."""
    if impact is None or not impact.systems:
        return ()
    figures = (_impact_figure(impact),) if len(impact.systems) > 1 else ()
    orders = (_order_table(impact.order), _swaps_table(impact.order)) if impact.order else ()
    return (_impact_table(impact), *figures, *orders)


def _impact_table(impact: Impact) -> Table:
    measure, reference = impact.measure, impact.reference
    columns = (
        Column("rank", "Rank"),
        Column("rank_clean", "Rank clean", None, "without the leaked topics"),
        Column("run", "System"),
        Column("score", str(measure), 4),
        Column("score_leaked", "Leaked", 4, f"on the {len(impact.leaked)} leaked topics"),
        Column("score_clean", "Clean", 4, f"on the {len(impact.clean)} clean topics"),
        Column("difference", "Difference", 4, "leaked less clean"),
        Column("low", "Low", 4, "lower end of its 95 % interval"),
        Column("high", "High", 4, "upper end of its 95 % interval"),
        Column("relative", "Relative", 4, f"difference less that of {reference}"),
        Column("relative_low", "Low", 4, "lower end of its 95 % interval"),
        Column("relative_high", "High", 4, "upper end of its 95 % interval"),
        Column("p", "p", 3, "random topics in place of the leaked ones give a relative difference as large"),
        Column("p_holm", "p (Holm)", 3, "over all systems"),
    )
    rows: list[tuple[Cell, ...]] = []
    for one in impact.systems:
        low, high = one.relative_interval[:2] if one.relative_interval else (None, None)
        rows.append(
            (
                one.rank, one.rank_clean, one.run, one.score, one.score_leaked, one.score_clean, one.difference,
                one.interval.low, one.interval.high, one.relative, low, high, one.p, one.p_holm,
            )
        )  # fmt: skip
    note = (
        "Leaked and clean topics are different topics: a difference also shows which are harder. The relative one "
        f"takes away what {reference} shows, and with it what is hard for all. Intervals resample leaked and clean "
        "topics, each among themselves."
    )
    if impact.not_judged:
        note += f" {len(impact.not_judged)} leaked topics have no judgments and are not in this table."
    if impact.unsearched:
        note += f" On neither side, as they could not be searched for: {brief(impact.unsearched)}."
    return Table("impact", "Systems on leaked and clean topics", columns, tuple(rows), note)


def _impact_figure(impact: Impact) -> Figure:
    points = tuple(
        Point(one.run, one.relative, one.relative_interval.low, one.relative_interval.high)
        for one in impact.systems
        if one.relative is not None and one.relative_interval is not None
    )
    note = (
        f"{impact.measure} on leaked less that on clean topics, relative to {impact.reference}. Whiskers are 95 % "
        "bootstrap intervals over leaked and over clean topics."
    )
    name = f"gain in {impact.measure}"
    return Figure("impact", "Gain on leaked topics", "dots", (Series("relative", points),), name, note=note)


def _order_table(order: OrderChange) -> Table:
    columns = (Column("fact", "Fact"), Column("value", "Value"))
    rows: Rows = (
        ("tau_AP_b with the order over all topics", order.tau_ap_b),
        ("the same without as many random topics, mean", order.random_tau_ap_b),
        ("the same without as many random topics, 5 % quantile", order.random_low),
        ("p of tau_AP_b: random topics change the order as much", order.p_tau_ap_b),
        ("tau_b with the order over all topics", order.tau_b),
        ("p of tau_b: random topics change the order as much", order.p_tau_b),
        ("pairs of systems", order.pairs),
        ("pairs that change places", len(order.swaps)),
        ("of these significant", sum(swap.is_significant(rules.ALPHA) for swap in order.swaps)),
    )
    return Table("order", "Order of systems without the leaked topics", columns, rows)


def _swaps_table(order: OrderChange) -> Table:
    columns = (
        Column("ahead", "Ahead with leaks"),
        Column("behind", "Ahead without"),
        Column("difference", "Difference", 4, "over all topics"),
        Column("p_holm", "p (Holm)", 3),
        Column("difference_clean", "Difference clean", 4, "over clean topics"),
        Column("p_holm_clean", "p clean (Holm)", 3),
        Column("change", "Change", 4, "difference over leaked less that over clean topics"),
        Column("p_holm_change", "p of change (Holm)", 3),
        Column("significant", "Significant", None, f"whether p of the change is below {rules.ALPHA}"),
    )
    rows: Rows = tuple((*swap, swap.is_significant(rules.ALPHA)) for swap in order.swaps)
    note = (
        "Paired t-tests of the two differences, Welch's t-test of the change between leaked and clean topics; the "
        "family of each is all pairs of systems, also those that do not swap."
    )
    return Table("swaps", "Pairs of systems that change places", columns, rows, note)


def pairs_tables(pairs: PairLeakage | None) -> tuple[Table, ...]:
    """Judged documents in the training data; nothing where it names none."""
    if pairs is None or not pairs.positives:
        return ()
    columns = (
        Column("topic_id", "Topic"),
        Column("query_id", "Query id"),
        Column("query", "Training query"),
        Column("doc_id", "Document", None, "positive of the training query, judged for the topic"),
        Column("relevance", "Relevance"),
        Column("similarity", "Similarity", 4),
        Column("source", "Source"),
    )
    by_topic = (
        Column("topic_id", "Topic"),
        Column("judged", "Judged"),
        Column("judged_seen", "Judged, seen", None, "positives of some training query"),
        Column("relevant", "Relevant"),
        Column("relevant_seen", "Relevant, seen", None, "positives of some training query"),
        Column("relevant_leaked", "Relevant, leaked", None, "positives of a training query that leaks the topic"),
    )
    note = "Documents are compared by id; both sides have to be of one corpus."
    return (
        Table("pairs", "Leaking queries with judged positives", columns, tuple(pairs.pairs), note),
        Table("documents", "Judged documents among training positives", by_topic, tuple(pairs.topics), note),
    )


def recall_tables(recall: Recall | None) -> tuple[Table, ...]:
    """What a cascade left out, and what a sample of it shows; nothing for an exact search."""
    if recall is None or not recall.strata:
        return ()
    columns = (
        Column("low", "From", 2, "screened similarity to the nearest text of a topic"),
        Column("queries", "Queries", None, "training queries in this stratum"),
        Column("sampled", "Sampled", None, "encoded in full"),
        Column("hits", "Hits", None, "of the sampled, above the threshold; they are among the candidates"),
        Column("nearest", "Nearest", 4, "largest exact similarity in the sample"),
    )
    note = (
        f"The cascade encoded every query with a screened similarity of {recall.cut:.2f} or more, and of the others an "
        f"even sample in each stratum. About {recall.missed:.2g} more are expected above the threshold, if "
        "similarities fall off beyond the largest in the samples as they do among these."
    )
    return (Table("screened", "What was screened out", columns, tuple(recall.strata), note),)


def definitions(search: SearchResult, rule: str) -> Text:
    """What was compared, and what counts."""
    log = "the training queries" if search.log_size is None else f"{search.log_size:,} training queries"
    encoder = f" ({search.encoder})" if search.encoder else ""
    default = default_at(search.encoder, search.threshold)
    origin = _DEFAULT.format(default) if default else ""
    body = (
        f"Each text of {len(search.topics):,} topics was compared with {log} by the cosine of their vectors{encoder}. "
        f"{_CASCADE if search.recall else ''}A topic and a query are as similar as the topic's nearest text is. "
        f"Counted as leaks: {rule}. {origin}Similar is not yet the same: where there is a probability, it says how "
        "often people found such a pair to be a true leak, and a type says how the query was reformulated. It is the "
        "likeliest of five: different-topic may be that though the four kinds of true leaks together are likelier."
    )
    return Text("definitions", "How to read this", body)
