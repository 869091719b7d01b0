from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ringtrue.data.qrels import Qrels
from ringtrue.leakage.experiment.memorization import look_at, remember
from ringtrue.leakage.experiment.scores import ScoredPairs
from ringtrue.leakage.trainsets.records import Triple

# Topic 1 ranks a, b, c again; x and y leaked and are not among them. Topic 2 ranks a and b again, of which a leaked.
ROWS = [("1", "a", 1), ("1", "b", 1), ("1", "c", 1), ("1", "x", 0), ("1", "y", 0), ("2", "a", 1), ("2", "b", 1)]


@pytest.fixture
def pairs() -> ScoredPairs:
    docs = ("a", "b", "c", "x", "y")
    return ScoredPairs(
        Path(),
        ("1", "2"),
        docs,
        np.array([int(topic) - 1 for topic, _, _ in ROWS]),
        np.array([docs.index(doc) for _, doc, _ in ROWS]),
        np.array([bool(candidate) for *_, candidate in ROWS]),
        Qrels.from_records(()),
    )


#                   a    b    c    x    y    a    b
WITHOUT = np.array([0.9, 0.5, 0.5, 0.5, 0.1, 0.2, 0.3])
LEAKY = np.array([0.9, 0.5, 0.5, 0.95, 0.0, 0.4, 0.3])


def test_hypothetical_ranks_by_hand(pairs: ScoredPairs) -> None:
    scores = np.stack((WITHOUT, LEAKY))
    # x ties with b and c, which have smaller ids: three candidates are ahead of it; y is behind all three
    assert pairs.ranks(scores, "1", ["x", "y"]).tolist() == [[4, 4], [1, 4]]
    assert pairs.ranks(scores, "1", ["a", "b", "c"]).tolist() == [[1, 2, 3], [1, 2, 3]]
    assert pairs.ranks(scores, "2", ["a", "b"]).tolist() == [[2, 1], [1, 2]]


def test_tables_by_hand(pairs: ScoredPairs) -> None:
    leaked = [
        Triple("q", "x", "y", "leak", "", "1"),
        Triple("q", "b", "y", "leak", "", "1"),
        Triple("r", "a", "b", "leak", "", "2"),
        Triple("s", "z", "z", "leak", "", "not scored"),
    ]
    (row,) = remember("m", "msm", [8], look_at(pairs, WITHOUT[None], leaked), look_at(pairs, LEAKY[None], leaked))
    assert (row.topics, row.documents) == (2, 3)
    # topic 1: x and b have ranks 4 and 2 without, 1 and 2 with leakage; topic 2: a has 2 and 1
    assert row.rank_without.mean == pytest.approx((3 + 2) / 2)
    assert row.rank_with.mean == pytest.approx((1.5 + 1) / 2)
    assert row.rank_without.sd == pytest.approx(np.std([3, 2], ddof=1))
    assert row.score_without.mean == pytest.approx((0.5 + 0.2) / 2)
    assert row.score_with.mean == pytest.approx(((0.95 + 0.5) / 2 + 0.4) / 2)
    # offsets without: topic 1 (4 - 4, 4 - 2) -> 1, topic 2 (1 - 2) -> -1; with: (4 - 1, 4 - 2) -> 2.5, (2 - 1) -> 1
    assert row.growth.mean == pytest.approx(((2.5 - 1) + (1 + 1)) / 2)
    assert row.growth.sd == pytest.approx(np.std([1.5, 2.0], ddof=1))
    assert row.interval.low < row.growth.mean < row.interval.high


def test_sizes_are_averaged_in_the_last_row(pairs: ScoredPairs) -> None:
    leaked = [Triple("q", "x", "y", "leak", "", "1"), Triple("r", "a", "b", "leak", "", "2")]
    without = look_at(pairs, np.stack((WITHOUT, WITHOUT)), leaked)
    leaky = look_at(pairs, np.stack((WITHOUT, LEAKY)), leaked)
    rows = list(remember("m", "msm", [8, 16], without, leaky))
    assert [row.size for row in rows] == [8, 16, None]
    assert rows[0].growth.mean == 0
    assert rows[2].growth.mean == pytest.approx((rows[0].growth.mean + rows[1].growth.mean) / 2)


def test_a_document_behind_all_hundred_has_rank_101() -> None:
    docs = tuple(f"d{number:03}" for number in range(101))
    pairs = ScoredPairs(
        Path(), ("1",), docs, np.zeros(101, np.int64), np.arange(101), np.arange(101) < 100, Qrels.from_records(())
    )
    scores = -np.arange(101, dtype=np.float64)[None]
    assert pairs.ranks(scores, "1", ["d100", "d099", "d000"]).tolist() == [[101, 100, 1]]
