"""Whether systems lose on the same variations, and whether they lose more where the meaning moves more.

The study's code correlates what variations cost each two models; the similarity in meaning beside it is ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from ir_measures import Measure

from ringtrue.evaluation.measures import direction
from ringtrue.robustness.evaluate import Floats, Values
from ringtrue.robustness.result import Correlation
from ringtrue.robustness.task import Task
from ringtrue.robustness.validity import Checked

ALL = "all categories"
SIMILARITY = "similarity in meaning"
_FEWEST = 3  # a correlation of two pairs is always 1 or -1


def correlations(
    systems: Sequence[Values], measure: Measure, checked: Sequence[Checked] = ()
) -> tuple[Correlation, ...]:
    """Pearson's correlation of the changes by each two systems, over all valid variations and by category.

    Where the variations have similarities, these are correlated with the changes by each system as well.
    """
    if not systems:
        return ()
    task = systems[0].task
    row, sign = systems[0].place(measure), direction(measure)
    changes = {one.system: sign * (one.slots[row] - one.original[row]) for one in systems}
    pairs = list(combinations(changes, 2))
    if any(one.similarity is not None for one in checked):
        pairs += [(system, SIMILARITY) for system in changes]
        changes[SIMILARITY] = _similarities(task, checked)
    return tuple(
        Correlation(category, first, second, *_pearson(changes[first][own], changes[second][own]))
        for category, own in _rows(task).items()
        for first, second in pairs
    )


def _rows(task: Task) -> dict[str, list[int]]:
    """The slots of all categories together, where there are several, and of each."""
    categories = [slot.category for slot in task.slots]
    named = list(dict.fromkeys(categories))
    rows = {ALL: list(range(len(categories)))} if len(named) > 1 else {}
    return rows | {name: [row for row, category in enumerate(categories) if category == name] for name in named}


def _similarities(task: Task, checked: Sequence[Checked]) -> Floats:
    """How alike each variation and its query are, by slot and query; nan where that is not known."""
    known = {
        (one.variation.query_id, *one.variation[1:3], one.variation.variation): one.similarity
        for one in checked
        if one.similarity is not None
    }
    found = np.full((len(task.slots), len(task.queries)), np.nan)
    for row, (slot, texts) in enumerate(task.texts.items()):
        for column, query in enumerate(task.queries):
            text = texts.get(query.query_id)
            found[row, column] = known.get((query.query_id, slot.category, slot.method, text), np.nan)
    return found


def _pearson(first: Floats, second: Floats) -> tuple[int, float]:
    """How many pairs are known of both, and their correlation; nan where one of them never changes."""
    known = ~np.isnan(first) & ~np.isnan(second)
    one, two = first[known], second[known]
    if len(one) < _FEWEST or np.ptp(one) == 0 or np.ptp(two) == 0:
        return len(one), float("nan")
    return len(one), float(np.corrcoef(one, two)[0, 1])
