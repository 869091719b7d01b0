"""The cascade against encoding everything: what it finds, what it says of itself, and how it goes on."""

from __future__ import annotations

import io
from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from ringtrue.errors import InputError
from ringtrue.retrieval import cascade
from ringtrue.retrieval.cascade import Cascade, Plan
from ringtrue.retrieval.search import Block, search
from ringtrue.retrieval.sieve import Sieve, range_of


@dataclass(frozen=True)
class Known:
    """A text is a number; its similarity to the one text that is searched for is known."""

    values: tuple[float, ...]
    dim: int = 2

    def encode(self, texts):
        cosines = np.array([1.0 if text == "?" else self.values[int(text)] for text in texts], np.float32)
        return np.stack((cosines, np.sqrt(1 - cosines * cosines)), axis=1)


@dataclass(frozen=True)
class Scores:
    values: tuple[float, ...]

    def nearest(self, texts):
        return np.array([self.values[int(text)] for text in texts], np.float32)


def made(seed, size=20_000, noise=0.05):
    """Exact similarities and a stand-in's, as they come out on real logs: many far, few near."""
    generator = np.random.default_rng(seed)
    stand_in = np.clip(generator.normal(0.4, 0.1, size), -1, 1)
    near = generator.random(size) < 0.005
    stand_in[near] = generator.uniform(0.6, 1.0, int(near.sum()))
    exact = np.clip(stand_in + noise * generator.normal(size=size), -1, 1)
    return tuple(exact.tolist()), tuple(stand_in.tolist())


def blocks(size, step=3000):
    names = [str(number) for number in range(size)]
    return [Block(names[start : start + step], names[start : start + step]) for start in range(0, size, step)]


def start(exact, stand_in, threshold=0.85, **plan):
    return Cascade(Known(exact), ["?"], k=5, threshold=threshold, plan=Plan(**plan), screener=Scores(stand_in))


def run(exact, stand_in, **options):
    searching = start(exact, stand_in, **options)
    for _ in searching.run(blocks(len(exact))):
        pass
    return searching.finish()


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(cascade, "LEAST", 500)


def test_it_finds_what_an_exact_search_finds_and_says_so():
    exact, stand_in = made(1)
    whole = search(Known(exact), ["?"], blocks(len(exact)), k=5, threshold=0.85)
    found = run(exact, stand_in, recall=0.98, effort=0.2)
    assert found.hits.items.tolist() == whole.hits.items.tolist()
    assert found.hits.similarities.tolist() == whole.hits.similarities.tolist()
    assert found.texts == whole.texts and found.ids == whole.ids and found.seen == len(exact)
    screened = found.screened
    assert screened.hits == np.count_nonzero(np.array(exact, np.float32) > np.float32(0.85))
    assert screened.estimate > 0.98 and screened.interval[0] >= 0.98 and screened.interval[1] == 1
    assert screened.scored < len(exact) / 4 and not screened.refuted
    assert screened.certain < screened.interval[0]


def test_the_cut_is_lowered_until_the_recall_is_reached():
    exact, stand_in = made(2, noise=0.1)
    low, high = (run(exact, stand_in, recall=recall, effort=0.5).screened for recall in (0.3, 0.999))
    assert high.cut < low.cut and high.scored > low.scored
    assert 0.3 <= low.interval[0] < 0.999 <= high.interval[0]


def test_what_it_could_not_reach_is_told():
    exact, stand_in = made(3, noise=0.2)
    screened = run(exact, stand_in, recall=0.999, effort=0.03).screened
    assert screened.interval[0] < 0.999 and screened.estimate < 0.9


@pytest.mark.parametrize("noise", [0.02, 0.08, 0.2])
def test_the_interval_holds_the_truth(noise):
    held = []
    for seed in range(30):
        exact, stand_in = made(seed, 6000, noise)
        screened = run(exact, stand_in, recall=0.999, effort=0.1, seed=seed).screened
        true = screened.hits / np.count_nonzero(np.array(exact, np.float32) > np.float32(0.85))
        held.append(screened.interval[0] <= true <= screened.interval[1] and screened.certain <= true)
    assert np.mean(held) >= 0.9


def test_a_stand_in_that_knows_nothing_is_found_out():
    exact, _ = made(4)
    noise = tuple(np.random.default_rng(1).uniform(-1, 1, len(exact)).tolist())
    hits = np.count_nonzero(np.array(exact, np.float32) > np.float32(0.85))
    for seed in range(10):
        screened = run(exact, noise, recall=0.999, effort=0.05, seed=seed).screened
        assert screened.certain <= screened.hits / hits < 0.2
        assert screened.interval[0] < 0.2 and (screened.estimate is None or screened.estimate < 0.5)


def test_leaks_of_another_kind_break_the_interval_but_not_the_certain_bound():
    exact, stand_in = made(5)
    hidden = np.array(stand_in)
    hits = np.flatnonzero(np.array(exact) > 0.85)
    hidden[hits[::4]] = 0.3
    for seed in range(5):
        screened = run(exact, tuple(hidden.tolist()), recall=0.999, effort=0.1, seed=seed).screened
        assert screened.certain <= screened.hits / len(hits)


def test_nothing_found_is_no_recall_of_one():
    exact, stand_in = made(6)
    screened = run(tuple(min(one, 0.8) for one in exact), stand_in, effort=0.05).screened
    assert screened.hits == 0 and screened.estimate is None and screened.interval[0] == 0


def test_a_short_log_is_encoded_as_a_whole_where_need_be():
    exact, stand_in = made(7, 300)
    screened = run((0.9, *exact[1:]), stand_in, recall=1.0).screened
    assert screened.scored == 300 and screened.interval == (1, 1) and screened.estimate == 1


def test_scores_that_are_all_the_same():
    exact, _ = made(8, 3000)
    screened = run(exact, (0.5,) * 3000, effort=0.1).screened
    assert screened.cut > 0.5 and screened.interval[0] < 0.5


@dataclass(frozen=True)
class Counted(Known):
    """Keeps what it was given."""

    given: list[str] = field(default_factory=list)

    def encode(self, texts):
        self.given.extend(texts)
        return super().encode(texts)


def test_a_repeated_query_is_encoded_once_and_stops_nothing():
    exact, stand_in = (list(values) for values in made(13))
    leaks = np.random.default_rng(2).permutation(len(exact))[:3100]
    for place in leaks:
        exact[place], stand_in[place] = 0.95, 0.97
    texts = [str(number) for number in range(len(exact))]
    for place in leaks[:3000]:
        texts[place] = str(leaks[0])
    encoder = Counted(tuple(exact))
    searching = Cascade(encoder, ["?"], k=5, threshold=0.85, plan=Plan(effort=0.1), screener=Scores(tuple(stand_in)))
    for _ in searching.run([Block(texts, texts)]):
        pass
    found = searching.finish()
    assert set(leaks.tolist()) <= set(found.hits.items.tolist())
    assert len(encoder.given) == len(set(encoder.given)) < 3000
    assert found.screened.interval[0] > 0.95 and found.screened.hits == len(found.hits.items)


def test_copies_of_a_sampled_leak_are_found_but_not_taken_for_known():
    exact, stand_in = (list(values) for values in made(14))
    texts = [str(number) for number in range(len(exact))]
    far = np.flatnonzero(np.array(stand_in) < 0.3)[::3]
    exact[far[0]] = 0.99
    for place in far:
        texts[place], stand_in[place] = str(far[0]), 0.2
    searching = start(tuple(exact), tuple(stand_in), effort=0.04)
    for _ in searching.run([Block(texts, texts)]):
        pass
    found = searching.finish()
    assert set(far.tolist()) <= set(found.hits.items.tolist())
    assert found.screened.estimate < 1 and found.screened.hits == len(found.hits.items)


@dataclass(frozen=True, repr=False)
class Coarse(Known):
    """In bf16 all similarities come out a little too high."""

    precision: str = "fp32"

    def encode(self, texts):
        exact = super().encode(texts)[:, 0]
        cosines = np.minimum(exact + np.float32(0.01), 1) if self.precision == "bf16" else exact
        return np.stack((cosines, np.sqrt(1 - cosines * cosines)), axis=1)

    def at(self, precision):
        return replace(self, precision=precision)

    def bf16_is_fast(self):
        return True


def test_what_is_found_is_counted_by_exact_similarities():
    exact, stand_in = made(15)
    searching = Cascade(Coarse(exact), ["?"], k=5, threshold=0.85, plan=Plan(effort=0.2), screener=Scores(stand_in))
    for _ in searching.run(blocks(len(exact))):
        pass
    found = searching.finish()
    above = found.hits.items[found.hits.similarities > 0.85]
    assert 0 < found.screened.hits == len(above) <= np.count_nonzero(np.array(exact, np.float32) > np.float32(0.85))


def test_a_range_that_is_too_large_gets_what_effort_is_left():
    exact, _ = made(8, 6000)
    encoder = Counted(exact)
    searching = Cascade(encoder, ["?"], threshold=0.6, plan=Plan(effort=0.5), screener=Scores((0.5,) * 6000))
    for _ in searching.run(blocks(6000)):
        pass
    screened = searching.finish().screened
    assert len(encoder.given) - 1 == screened.scored == 3000
    true = screened.hits / np.count_nonzero(np.array(exact, np.float32) > np.float32(0.6))
    assert 0.35 < true < 0.65 and screened.interval[0] <= true <= screened.interval[1]


def test_what_is_not_kept_is_told(monkeypatch):
    exact, stand_in = made(15, noise=0.2)
    assert not run(exact, stand_in, effort=0.1).screened.exhausted
    monkeypatch.setattr(cascade, "_ROOM", 300)
    assert not run(exact, stand_in, effort=0.1).screened.exhausted
    monkeypatch.setattr(cascade, "_LONG", 0)
    assert run(exact, stand_in, effort=0.5).screened.exhausted


def test_no_numbers_from_the_stand_in_mean_encoding():
    exact, stand_in = made(9, 2000)
    broken = tuple(float("nan") if one > 0.9 else score for one, score in zip(exact, stand_in, strict=True))
    assert run(exact, broken, effort=0.2).screened.hits >= np.count_nonzero(np.array(exact) > 0.9)


def test_the_same_seed_gives_the_same_and_another_another_sample():
    exact, stand_in = made(10)
    first, again, other = (run(exact, stand_in, effort=0.05, seed=seed) for seed in (1, 1, 2))
    assert first.screened == again.screened and first.ids == again.ids
    assert first.screened.bands != other.screened.bands


def test_stopped_after_any_block_it_ends_with_the_same(monkeypatch):
    monkeypatch.setattr(cascade, "_ROOM", 900)
    monkeypatch.setattr(cascade, "_LONG", 0)
    exact, stand_in = made(11, 9000)
    pieces = blocks(9000, 1000)
    whole = start(exact, stand_in, effort=0.05)
    for _ in whole.run(pieces):
        pass
    data = stored(whole.state())
    expected = whole.finish()
    for stop in (0, 1, 4, 9):
        first, second = start(exact, stand_in, effort=0.05), start(exact, stand_in, effort=0.05)
        for _ in first.run(pieces[:stop]):
            pass
        with np.load(io.BytesIO(stored(first.state())), allow_pickle=False) as arrays:
            second.restore(dict(arrays))
        assert second.seen == 1000 * stop
        for _ in second.run(pieces[stop:]):
            pass
        assert stored(second.state()) == data
        found = second.finish()
        assert found.screened == expected.screened
        assert found.hits.items.tolist() == expected.hits.items.tolist()


def stored(state):
    buffer = io.BytesIO()
    np.savez(buffer, **state)
    return buffer.getvalue()


def test_a_state_of_another_search_is_refused():
    exact, stand_in = made(12, 500)
    state = start(exact, stand_in).state()
    for other in (start(exact, stand_in, seed=1), start(exact, stand_in, threshold=0.8)):
        with pytest.raises(InputError, match="another search"):
            other.restore(state)


@pytest.mark.parametrize("plan", [{"recall": 0.0}, {"recall": 1.5}, {"effort": 0.0}, {"effort": 2.0}])
def test_shares_that_are_none(plan):
    with pytest.raises(InputError, match="shares"):
        Plan(**plan)


def test_a_sieve_keeps_the_highest_and_an_even_sample_and_no_more():
    generator = np.random.default_rng(1)
    scores = generator.uniform(-1, 1, 60_000).astype(np.float32)
    sieve = Sieve(seed=3, room=200, sample=20)
    for low in range(0, 60_000, 1000):
        names = [str(number) for number in range(low, low + 1000)]
        sieve.add(names, names, scores[low : low + 1000])
        assert len(sieve.texts.texts) < 5000
    sieve.trim()
    assert set(np.argsort(-scores)[:200]) <= set(sieve.numbers.tolist())
    assert sieve.counts.sum() == 60_000
    drawn = sieve.numbers[sieve.drawn(50, 150)[:500]]
    assert len(drawn) == 500
    assert set(range_of(scores[drawn])) <= set(range(50, 150))
    assert abs(scores[drawn].mean()) < 0.1 and abs(drawn.mean() / 60_000 - 0.5) < 0.06
