"""The evidence of an experiment as tables and figures: the study's Tables 3 to 8 and its Figure 2."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

from ir_measures import Measure

from ringtrue.audit import Cell, Column, Figure, Point, Section, Series, Table, Text
from ringtrue.evaluation.measures import direction
from ringtrue.leakage.experiment import rules
from ringtrue.leakage.experiment.result import Effect, ExperimentResult, Memory, Spread
from ringtrue.leakage.trainsets.records import TITLES

Rows = tuple[tuple[Cell, ...], ...]

_MEASURE = Column("measure", "Measure")
_MODEL = Column("model", "Model")
_KIND = Column("kind", "Training")
_SIZE = Column("size", "Instances")


def all_sections(result: ExperimentResult) -> Iterator[Section]:
    """Effectiveness, swaps, size by size, memorization, and what it took."""
    measures = dict.fromkeys(one.measure for one in result.effects)
    for measure in measures:
        yield effects_table(result, measure)
    yield swaps_table(result)
    for model in dict.fromkeys(one.model for one in result.sizes):
        yield size_figure(result, model, next(iter(measures)))
    yield sizes_table(result)
    if result.memory:
        yield from memory_tables(result)
    yield costs_table(result)
    if result.notes:
        yield tolerated_table(result)
    if result.missing:
        yield missing_table(result)
    yield definitions(result)


def effects_table(result: ExperimentResult, measure: Measure) -> Table:
    """One of the study's Tables 3 to 5, for one measure."""
    columns = (
        _MODEL,
        _KIND,
        Column("value", str(measure), 4),
        Column("difference", "Difference", 4, "to no leakage"),
        Column("p", "p", 3, "paired t-test against no leakage"),
        Column("p_bonferroni", "p (Bonf.)", 3),
        Column("p_holm", "p (Holm)", 3),
        Column("mark", "Mark", None, "† significant after Bonferroni; ⇅ swaps with another model"),
        Column("rank", "Rank", None, "among the models with this training"),
        Column("sizes", "Sizes", None, "with how many folds chose each"),
    )
    effects = [one for one in result.effects if one.measure == measure]
    family = sum(one.kind != "none" for one in effects)
    rows: Rows = tuple(
        (
            one.model, TITLES[one.kind], one.value, None if one.kind == "none" else one.difference, one.p,
            one.p_bonferroni, one.p_holm, _mark(result, one), one.rank, _sizes(one.sizes),
        )
        for one in effects
    )  # fmt: skip
    better = "higher" if direction(measure) > 0 else "lower"
    note = (
        f"{better.capitalize()} is better; {result.plan.first_stage} alone has {result.first_stage[measure]:.4f}. "
        f"Cross-validated over {len(result.topics)} topics in {result.plan.folds} folds; seeds averaged: "
        f"{len(result.plan.seeds)}. The family of both corrections is the {family} comparisons of this table; † p < "
        f"{rules.ALPHA} after Bonferroni. ⇅ the model changes places with another that was behind or ahead of it "
        "without leakage."
    )
    return Table(f"effect_{_plain(measure)}", f"{measure} with and without leakage", columns, rows, note)


def _mark(result: ExperimentResult, effect: Effect) -> str:
    significant = effect.p_bonferroni is not None and effect.p_bonferroni < rules.ALPHA
    swapped = any(
        (swap.measure, swap.kind) == (effect.measure, effect.kind) and effect.model in (swap.ahead, swap.behind)
        for swap in result.swaps
    )
    return ("†" if significant else "") + ("⇅" if swapped else "")


def swaps_table(result: ExperimentResult) -> Table:
    """Pairs of models whose order leakage turns."""
    columns = (
        _MEASURE,
        _KIND,
        Column("ahead", "Ahead without leakage"),
        Column("behind", "Ahead with leakage"),
        Column("difference", "Difference without", 4, "positive is better"),
        Column("p_holm", "p (Holm)", 3),
        Column("difference_leaked", "Difference with", 4),
        Column("p_holm_leaked", "p with (Holm)", 3),
        Column("change", "Change", 4, "difference with less difference without"),
        Column("p_holm_change", "p of change (Holm)", 3, "by which a swap is significant"),
    )
    rows: Rows = tuple((str(one.measure), TITLES[one.kind], *one[2:]) for one in result.swaps)
    models, kinds = len({one.model for one in result.effects}), len(set(result.plan.kinds) - {"none"})
    note = (
        f"Paired t-tests over topics; the family of each p is all {models * (models - 1) // 2 * kinds} pairs of models "
        "and kinds of leakage of a measure, also those that do not swap. A swap is significant where the change is: "
        "the difference with leakage less that without, topic by topic."
    )
    return Table("model_swaps", f"{len(rows)} swaps in the order of models", columns, rows, note)


def size_figure(result: ExperimentResult, model: str, measure: Measure) -> Figure:
    """The study's Figure 2 for one model: leaked topics only."""
    series = tuple(
        Series(
            TITLES[kind],
            tuple(
                Point(float(one.size), one.everything if one.leaked is None else one.leaked, one.low, one.high)
                for one in result.sizes
                if (one.measure, one.model, one.kind) == (measure, model, kind)
            ),
        )
        for kind in result.plan.kinds
    )
    note = f"Means over {len(result.leaked)} leaked topics; the band goes from the lowest to the highest seed."
    place = result.plan.models.index(model)
    title = f"{model} on leaked topics by size of the training set"
    return Figure(f"size_{place + 1}", title, "lines", series, "instances", str(measure), note)


def sizes_table(result: ExperimentResult) -> Table:
    """All points behind the figures, and what becomes of topics that do not leak."""
    columns = (
        _MEASURE,
        _MODEL,
        _KIND,
        _SIZE,
        Column("leaked", "Leaked topics", 4, f"{len(result.leaked)} topics"),
        Column("low", "Low", 4, "lowest seed"),
        Column("high", "High", 4, "highest seed"),
        Column("others", "Other topics", 4, f"{len(result.topics) - len(result.leaked)} topics"),
        Column("everything", "All topics", 4),
    )
    rows: Rows = tuple((str(one.measure), one.model, TITLES[one.kind], *one[3:]) for one in result.sizes)
    return Table("sizes", "Effectiveness by size of the training set", columns, rows, "Seeds are averaged.")


def memory_tables(result: ExperimentResult) -> tuple[Table, ...]:
    """The study's Tables 6 to 8."""
    note = (
        f"Over topics, documents averaged. A document that is not among the {result.plan.depth} that are ranked again "
        f"counts with the rank that its score would give it, {result.plan.depth + 1} at most."
    )
    ranks = _memory_table(
        result, "leaked_ranks", "Mean rank of leaked relevant documents", lambda one: (one.rank_without, one.rank_with),
        note,
    )  # fmt: skip
    scores = _memory_table(
        result, "leaked_scores", "Mean score of leaked relevant documents",
        lambda one: (one.score_without, one.score_with), "Scores of different models cannot be compared.",
    )  # fmt: skip
    return ranks, scores, _growth_table(result)


def _memory_table(
    result: ExperimentResult, name: str, title: str, both: Callable[[Memory], tuple[Spread, Spread]], note: str
) -> Table:
    columns = (
        _MODEL,
        _KIND,
        _SIZE,
        Column("without", "Without", 3, "trained without leakage"),
        Column("without_sd", "±", 3),
        Column("with", "With", 3, "trained with leakage"),
        Column("with_sd", "±", 3),
        Column("topics", "Topics"),
        Column("documents", "Documents"),
    )
    rows: list[tuple[Cell, ...]] = []
    for one in result.memory:
        without, leaky = both(one)
        rows.append((*_who(one), *without, *leaky, one.topics, one.documents))
    return Table(name, title, columns, tuple(rows), note)


def _growth_table(result: ExperimentResult) -> Table:
    columns = (
        _MODEL,
        _KIND,
        _SIZE,
        Column("growth", "Growth", 3, "of the rank offset between leaked relevant and non-relevant documents"),
        Column("sd", "±", 3),
        Column("low", "Low", 3, "lower end of the 95 % interval"),
        Column("high", "High", 3, "upper end of the 95 % interval"),
        Column("p", "p", 3, "paired t-test over topics"),
    )
    rows: Rows = tuple((*_who(one), *one.growth, one.interval.low, one.interval.high, one.p) for one in result.memory)
    note = (
        "The offset is the rank of the non-relevant document less that of the relevant one it was trained with; its "
        "growth is the offset with less that without leakage. Not corrected for the number of rows."
    )
    return Table("rank_offsets", "How much farther apart leakage puts leaked documents", columns, rows, note)


def _who(one: Memory) -> tuple[Cell, ...]:
    return one.model, TITLES[one.kind], "all" if one.size is None else f"{one.size:,}"


def costs_table(result: ExperimentResult) -> Table:
    """What the cells took."""
    columns = (
        _MODEL,
        Column("cells", "Cells"),
        Column("seconds", "Seconds", 1, "a cell, on average"),
        Column("triples_per_second", "Triples/s", 1, "in training"),
        Column("loss", "Loss", 4, "at the end of training, on average"),
        Column("device", "Device"),
        Column("precision", "Precision", None, "in training"),
    )
    return Table("costs", "What the cells took", columns, tuple(result.costs))


def tolerated_table(result: ExperimentResult) -> Table:
    """What the training of cells left out or did otherwise."""
    columns = (
        _MODEL,
        _KIND,
        _SIZE,
        Column("seed", "Seed"),
        Column("what", "What"),
    )
    rows: Rows = tuple((one.model, TITLES[one.kind] if one.kind else "all", *one[2:]) for one in result.notes)
    return Table("tolerated", "Tolerated in training", columns, rows)


def missing_table(result: ExperimentResult) -> Table:
    """Cells that are not done."""
    why = {one.name: one.error for one in result.failures}
    rows: Rows = tuple((name, why.get(name, "not worked on yet")) for name in result.missing)
    return Table("missing", "Cells that are missing", (Column("cell", "Cell"), Column("why", "Why")), rows)


def definitions(result: ExperimentResult) -> Text:
    """How it was done."""
    plan, sets = result.plan, result.trainsets
    options = ", ".join(f"{name} {value}" for name, value in plan.training.items()) or "the defaults"
    precision = "; ".join(f"{one.model} in {one.precision} on {one.device}" for one in result.costs)
    body = (
        f"Each model was trained on every kind and size of training set with {len(plan.seeds)} seeds (training: "
        f"{options}; {precision}) and ranked the best {plan.depth} of {plan.first_stage} again; equal scores "
        f"go by document id. Queries without leakage: {sets.rest}; none is above {sets.threshold:g} for any topic "
        f"({sets.encoder}). "
    )
    if "msm" in plan.kinds:
        body += f"{TITLES['msm']}: {sets.leak_rule}. "
    if "test" in plan.kinds:
        times = sets.settings.repeats
        body += f"{TITLES['test']}: each test topic up to {times} times, with other documents each time. "
    body += (
        "Each fold chose the size that does best on the other folds, for each measure alone. Memorization: the query "
        "is the topic's title."
    )
    return Text("experiment", "How to read the experiment", body)


def _sizes(sizes: tuple[int, ...]) -> str:
    """The sizes with how many folds chose each."""
    return ", ".join(f"{size:,} ({times})" for size, times in sorted(Counter(sizes).items()))


def _plain(measure: Measure) -> str:
    return "".join(letter if letter.isalnum() else "_" for letter in str(measure)).strip("_").lower()
