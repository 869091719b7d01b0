"""The search against comparing everything with everything."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ringtrue.errors import InputError
from ringtrue.retrieval.encoders.hashing import Hashing
from ringtrue.retrieval.encoders.minilm import MiniLM
from ringtrue.retrieval.neighbours import Neighbours, Pairs, Wanted
from ringtrue.retrieval.scan import NumpyScanner, TorchScanner, compare, nearest
from ringtrue.retrieval.search import HALF_MARGIN, Block, ExactSearch, search, top_k

torch = pytest.importorskip("torch")


def brute_force(rows, vectors, k, threshold):
    """All similarities, sorted: row, item and similarity of what is wanted."""
    found = []
    similarities = (rows.astype(np.float64) @ vectors.astype(np.float64).T).astype(np.float32)
    for row, values in enumerate(similarities):
        order = np.lexsort((np.arange(len(values)), -values))
        above = 0 if threshold is None else int((values > np.float32(threshold)).sum())
        found += [(row, int(item), values[item]) for item in order[: max(k, above)]]
    return found


def as_rows(hits):
    return list(zip(hits.rows.tolist(), hits.items.tolist(), hits.similarities, strict=True))


def random_vectors(seed, count, dim=8, levels=None):
    generator = np.random.default_rng(seed)
    if levels:  # few different directions, so that there are many ties
        return np.eye(dim, dtype=np.float32)[generator.integers(0, levels, count)]
    vectors = generator.normal(size=(count, dim)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def cut(items, sizes):
    ends = np.cumsum(sizes)
    return [items[end - size : end] for end, size in zip(ends, sizes, strict=True)]


@pytest.mark.parametrize("place", [np.asarray, torch.from_numpy])
@given(
    seed=st.integers(0, 10**6),
    sizes=st.lists(st.integers(0, 30), min_size=1, max_size=6),
    k=st.integers(1, 12),
    threshold=st.none() | st.floats(-0.2, 0.95),
    levels=st.none() | st.integers(1, 8),
)
def test_top_k_is_brute_force(place, seed, sizes, k, threshold, levels):
    rows, vectors = random_vectors(seed, 5, levels=levels), random_vectors(seed + 1, sum(sizes), levels=levels)
    hits = top_k(rows, (place(block) for block in cut(vectors, sizes)), k, threshold)
    assert as_rows(hits) == brute_force(rows, vectors, k, threshold)


def test_a_worked_example():
    rows = np.array([[1, 0], [0, 1]], np.float32)
    vectors = np.array([[0.6, 0.8], [1, 0], [0.8, 0.6], [0, 1], [1, 0]], np.float32)
    hits = top_k(rows, [vectors[:2], vectors[2:]], k=2, threshold=0.7)
    assert hits.of(0)[0].tolist() == [1, 4, 2]
    assert hits.of(0)[1].tolist() == [1, 1, np.float32(0.8)]
    assert hits.of(1)[0].tolist() == [3, 0]
    assert hits.of(2)[0].tolist() == []


def test_the_threshold_itself_is_not_above_it():
    rows = np.array([[1, 0]], np.float32)
    vectors = np.array([[0.5, 0.5], [0.25, 0], [0.500001, 0]], np.float32)
    assert top_k(rows, [vectors], k=0, threshold=0.5).items.tolist() == [2]


@pytest.mark.parametrize("scanner", [NumpyScanner, lambda rows: TorchScanner(rows, torch.device("cpu"))])
def test_tiles_floods_and_sorting_again_change_nothing(scanner, monkeypatch):
    monkeypatch.setattr("ringtrue.retrieval.scan._TILE", 4 * 37)
    monkeypatch.setattr("ringtrue.retrieval.scan._GPU_TILE", 4 * 37)
    monkeypatch.setattr("ringtrue.retrieval.scan._PAIRS", 5)
    monkeypatch.setattr("ringtrue.retrieval.scan._GPU_PAIRS", 5)
    rows, vectors = random_vectors(1, 4), random_vectors(2, 900)
    place = np.asarray if scanner is NumpyScanner else torch.from_numpy
    so_far = Neighbours(4, Wanted(6, 0.8))
    so_far._limit = 30
    for start in range(0, 900, 300):
        pairs = compare(scanner(rows), place(vectors[start : start + 300]), so_far, 8)
        so_far.add(pairs._replace(items=pairs.items + start))
    assert list(zip(*(part.tolist() for part in so_far.best()), strict=True)) == brute_force(rows, vectors, 6, 0.8)


def test_memory_does_not_grow_with_the_stream():
    neighbours = Neighbours(3, Wanted(5, None))
    for start in range(0, 10**6, 20_000):
        scores = random_vectors(start, 20_000)[:, 0]
        neighbours.add(Pairs(np.zeros(20_000, np.int64), np.arange(start, start + 20_000), scores))
        assert neighbours._size <= neighbours._limit == 30_000
    assert len(neighbours.best().rows) == 5


@pytest.fixture(scope="module")
def titles(shared):
    text = (shared / "leakage" / "topics.robust04.txt").read_text(encoding="latin-1")
    return [" ".join(title.split()) for title in re.findall(r"<title>(.*?)<desc>", text, re.DOTALL)][:60]


@pytest.fixture(scope="module")
def log(shared):
    lines = (shared / "leakage" / "query-log.tsv").read_text(encoding="utf-8").splitlines()[::31]
    return [line.split("\t")[1] for line in lines]


@pytest.fixture(scope="module")
def vectors(log):
    return MiniLM("fp32", "cpu").encode(log)


@pytest.fixture(scope="module")
def exact(titles, vectors):
    return brute_force(MiniLM("fp32", "cpu").encode(titles), vectors, 10, 0.8)


def blocks(log, size=700):
    return [Block(log[start : start + size]) for start in range(0, len(log), size)]


@pytest.mark.parametrize("screen", ["fp32", "bf16"])
def test_real_queries_are_found_as_by_brute_force(screen, titles, log, exact):
    found = search(MiniLM("fp32", "cpu"), titles, blocks(log), k=10, threshold=0.8, screen=screen)
    assert as_rows(found.hits) == exact
    assert found.seen == len(log)
    assert all(found.texts[item] == log[item] for item in found.hits.items.tolist())
    assert (found.rescored is None) == (screen == "fp32")
    if found.rescored:
        assert found.rescored.certain
        assert found.rescored.texts < len(log) / 2


def test_kept_vectors_in_half_precision_give_the_same(titles, log, vectors, exact):
    running = ExactSearch(MiniLM("fp32", "cpu"), titles, k=10, threshold=0.8, margin=HALF_MARGIN)
    kept = vectors.astype(np.float16)
    for block in blocks(log):
        running.add(block, kept[running.seen : running.seen + len(block.texts)])
    found = running.finish()
    assert as_rows(found.hits) == exact
    assert found.rescored.deviation < HALF_MARGIN / 2


@dataclass(frozen=True)
class Rough:
    """Hashing, with an error of a chosen size in the lower precision."""

    error: float = 0.0
    precision: str = "fp32"
    dim: int = 64

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        vectors = Hashing(self.dim).encode(texts)
        if self.precision == "fp32":
            return vectors
        # by the text alone, as rounding would be
        noise = Hashing(self.dim, 2, 2).encode([text[::-1] for text in texts])
        return (vectors + self.error * noise).astype(np.float32)

    def at(self, precision: str) -> Rough:
        return Rough(self.error, precision, self.dim)

    def bf16_is_fast(self) -> bool:
        return True


TEXTS = ["lamp price", "fog at the coast", "ships by night"]
LOG = [
    f"{a} {b} {c}"
    for a in ("lamp", "ships", "bees")
    for b in ("price", "by", "fog")
    for c in ("night", "coast", "", "x")
]


@pytest.mark.parametrize("error", [0.0, 1e-3, 0.05, 0.3])
@pytest.mark.parametrize(("k", "threshold"), [(3, None), (2, 0.4), (0, 0.3), (100, 0.9)])
def test_screening_changes_nothing_however_rough(error, k, threshold):
    expected = brute_force(Rough().encode(TEXTS), Rough().encode(LOG), k, threshold)
    found = search(Rough(error), TEXTS, blocks(LOG, 8), k=k, threshold=threshold, screen="bf16")
    assert as_rows(found.hits) == expected


def test_a_margin_that_does_not_hold_is_told():
    calm, wild = ["lamp"] * 8, LOG
    encoder = Rough(0.2)
    running = ExactSearch(encoder, TEXTS, k=3, margin=1e-4)
    for texts in (calm, wild):
        running.add(Block(texts), encoder.at("bf16").encode(texts))
    assert not running.finish().rescored.certain


def stored(state):
    buffer = io.BytesIO()
    np.savez(buffer, **state)
    return buffer.getvalue()


def loaded(data):
    with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
        return dict(arrays)


@pytest.mark.parametrize("screen", ["fp32", "bf16"])
@pytest.mark.parametrize("threshold", [None, 0.3])
def test_stopped_after_any_block_it_ends_with_the_same_bytes(screen, threshold):
    pieces = [Block(block.texts, [f"id {text}\ud800" for text in block.texts]) for block in blocks(LOG, 7)]

    def start():
        return ExactSearch(Rough(0.01), TEXTS, k=4, threshold=threshold, screen=screen)

    whole = start()
    for _ in whole.run(pieces):
        pass
    for stop in range(len(pieces) + 1):
        first, second = start(), start()
        for _ in first.run(pieces[:stop]):
            first.state()
        data = stored(first.state())
        second.restore(loaded(data))
        assert second.seen == sum(len(block.texts) for block in pieces[:stop])
        assert stored(second.state()) == data
        for _ in second.run(pieces[stop:]):
            pass
        assert stored(second.state()) == stored(whole.state())
        ours, theirs = second.finish(), whole.finish()
        assert as_rows(ours.hits) == as_rows(theirs.hits)
        assert (ours.texts, ours.ids, ours.rescored) == (theirs.texts, theirs.ids, theirs.rescored)
        assert all(ours.ids[item] == f"id {LOG[item]}\ud800" for item in ours.hits.items.tolist())


def test_a_state_of_another_search_is_refused():
    state = ExactSearch(Rough(), TEXTS, k=4).state()
    for other in (
        ExactSearch(Rough(), TEXTS, k=5),
        ExactSearch(Rough(), TEXTS[:2], k=4),
        ExactSearch(Rough(0.5), TEXTS, k=4),
    ):
        with pytest.raises(InputError, match="another search"):
            other.restore(state)


def test_texts_that_nobody_needs_any_more_are_dropped(monkeypatch):
    monkeypatch.setattr("ringtrue.retrieval.search._TEXTS", 20)
    running = ExactSearch(Rough(), TEXTS, k=2, screen="fp32")
    generator = np.random.default_rng(1)
    for number in range(60):
        words = generator.permutation(LOG[number % len(LOG)].split())
        running.add(block := Block([f"{number} {' '.join(words)}"] * 3), Rough().encode(block.texts))
        assert len(running._kept.texts) <= 23
    assert set(running.finish().texts) == set(running.finish().hits.items.tolist())


class Broken(Rough):
    """Gives no numbers for some texts, and nothing for others."""

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        vectors = super().encode(texts)
        vectors[[text.startswith("bees") for text in texts]] = np.nan
        return vectors


def test_vectors_without_numbers_are_counted_and_not_found():
    log = ["", *LOG, " "]
    found = search(Broken(), ["lamp price"], [Block(log)], k=100, screen="fp32")
    assert (found.broken, found.blank, found.seen) == (12, 2, len(log))
    assert np.isfinite(found.hits.similarities).all()
    assert all(value == 0 for item, value in zip(*found.hits.of(0), strict=True) if log[item].startswith("bees"))


@dataclass(frozen=True)
class BrokenInBoth(Rough):
    """Has no numbers for some texts in either precision, and for others in the lower one."""

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        vectors = super().encode(texts)
        vectors[[text.startswith("bees") for text in texts]] = np.nan
        if self.precision != "fp32":
            vectors[[text.startswith("lamp by") for text in texts]] = np.inf
        return vectors

    def at(self, precision: str) -> BrokenInBoth:
        return BrokenInBoth(self.error, precision, self.dim)


@pytest.mark.parametrize("encoder", [Broken(1e-3), BrokenInBoth(1e-3)])
def test_vectors_without_numbers_spoil_no_screening(encoder):
    texts, options = ["lamp price", "lamp by night"], {"k": 5, "threshold": 0.3}
    log = [*LOG, *(f"{text} again" for text in LOG if not text.startswith("bees"))]
    plain = search(encoder, texts, blocks(log, 8), screen="fp32", **options)
    screened = search(encoder, texts, blocks(log, 8), screen="bf16", **options)
    assert len(plain.hits.rows) and as_rows(screened.hits) == as_rows(plain.hits)
    assert screened.rescored.certain and screened.rescored.margin < 0.1
    assert screened.broken <= plain.broken == 12
    assert screened.broken == 12 or isinstance(encoder, Broken)  # what screens well and is far is never looked at


@pytest.mark.parametrize("screen", ["fp32", "bf16"])
def test_broken_vectors_on_a_device_are_replaced_there(screen):
    encoder = BrokenInBoth()
    found = []
    for place in (np.asarray, torch.from_numpy):
        running = ExactSearch(encoder, ["lamp price", "lamp by night"], k=5, screen=screen)
        running.add(Block(LOG), place(encoder.at("fp32" if screen == "fp32" else "bf16").encode(LOG)))
        found.append(running.finish())
    assert as_rows(found[0].hits) == as_rows(found[1].hits) and len(found[0].hits.rows)
    assert found[0].broken == found[1].broken == 12


def test_a_first_block_of_nothing_but_broken_vectors():
    first = [text for text in LOG if text.startswith("bees")]
    found = search(BrokenInBoth(), ["lamp price"], [Block(first), Block(LOG)], k=3, screen="bf16")
    assert LOG[found.hits.items[0] - len(first)].startswith("lamp price")
    assert found.broken == 24


def test_a_text_without_numbers_is_an_error():
    with pytest.raises(InputError, match="no numbers for 1 texts, the first is 'bees'"):
        ExactSearch(Broken(), ["lamp", "bees"])


def test_a_text_of_which_nothing_is_known_is_near_nothing():
    found = search(Rough(), ["", "lamp"], [Block(LOG)], k=3)
    assert set(found.hits.rows.tolist()) == {1}
    assert found.unknown == (0,)


@pytest.mark.parametrize(("k", "threshold"), [(0, None), (-1, 0.5)])
def test_nothing_to_search_for(k, threshold):
    with pytest.raises(InputError, match="say 1 or more"):
        ExactSearch(Rough(), TEXTS, k=k, threshold=threshold)


def test_screening_where_there_is_no_lower_precision():
    assert search(Hashing(), TEXTS, [Block(LOG)], k=1).rescored is None
    with pytest.raises(InputError, match="cannot be screened"):
        ExactSearch(Hashing(), TEXTS, screen="bf16")


def test_screening_is_left_out_where_it_cannot_pay():
    assert search(Rough(), TEXTS, [Block(LOG)], k=10, expected=len(LOG)).rescored is None
    assert search(Rough(), TEXTS, [Block(LOG)], k=1, expected=len(LOG)).rescored is not None
    assert search(Rough(), TEXTS, [Block(LOG)], k=10).rescored is not None


def test_a_block_with_too_few_vectors():
    with pytest.raises(InputError, match="36 texts came with 2 vectors"):
        ExactSearch(Rough(), TEXTS).add(Block(LOG), Rough().encode(LOG[:2]))


def test_empty_blocks_and_an_empty_stream():
    assert len(search(Rough(), TEXTS, [], k=3).hits.rows) == 0
    found = search(Rough(), TEXTS, [Block([]), Block(LOG), Block([])], k=3)
    assert as_rows(found.hits) == brute_force(Rough().encode(TEXTS), Rough().encode(LOG), 3, None)


def test_how_near_the_nearest_row_is_does_not_depend_on_the_other_vectors():
    generator = np.random.default_rng(3)
    rows, vectors = (generator.standard_normal((count, 33)).astype(np.float32) for count in (7, 200))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors[5] = 0
    together = nearest(vectors, rows)
    assert (
        together.tolist() == (vectors.astype(np.float64) @ rows.T.astype(np.float64)).max(1).astype(np.float32).tolist()
    )
    for size in (1, 3, 64):
        parts = [nearest(vectors[start : start + size], rows) for start in range(0, len(vectors), size)]
        assert np.concatenate(parts).tobytes() == together.tobytes()
