"""A search through a log: what it keeps, what it goes on with after a kill, and when it searches again."""

from __future__ import annotations

import tracemalloc
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace

import numpy as np
import pytest

from ringtrue.data.cells import packed
from ringtrue.data.collection import Collection
from ringtrue.data.records import LogQuery, Query
from ringtrue.leakage import running
from ringtrue.leakage.embeddings import KeptVectors
from ringtrue.leakage.running import Running, Wish
from ringtrue.leakage.search import Settings, search_log, searching
from ringtrue.retrieval import cascade, scoring
from ringtrue.retrieval.cascade import Plan
from ringtrue.retrieval.encoders import key_of
from ringtrue.retrieval.encoders.hashing import Hashing

WORDS = ("lamp", "fog", "ship", "coast", "bees", "honey", "oil", "night")
TEXTS = [f"{a} {b} {c}" for a in WORDS for b in WORDS for c in WORDS[:4]]
LOG = tuple(LogQuery(f"q{number}", text) for number, text in enumerate(TEXTS))
TRAIN = Collection.from_records("train", log=LOG)
TEST = Collection.from_records("test", queries=[Query("t1", "lamp oil fog"), Query("t2", "honey bees")])
OTHER = Collection.from_records("other", queries=[Query("t3", "ship at night")])


class Killed(Exception):
    """Stands for a process that ends."""


@pytest.fixture(autouse=True)
def saved_at_once(monkeypatch):
    monkeypatch.setattr(running, "_SAVE_SECONDS", -1.0)


def settings(**more):
    return Settings("hashing:dimensions=64", 0.7, 5, block=32, **more)


def dies_after(blocks: int):
    """Something to `say` to that ends the process when so many blocks were searched."""

    def say(message: str) -> None:
        if message == f"searched {32 * blocks:,} training queries":
            raise Killed

    return say


def killed(test: Collection, after: int, **more) -> None:
    with pytest.raises(Killed):
        search_log(test, TRAIN, settings(**more), dies_after(after))


def kept_vectors(own_cache) -> np.ndarray:
    (path,) = (own_cache / "embeddings").glob("*/vectors.f16")
    assert (path.parent / "complete").is_file()
    return np.fromfile(path, np.float16).reshape(-1, 64)


def exact_vectors() -> np.ndarray:
    return Hashing(64).encode(TEXTS).astype(np.float16)


@pytest.mark.parametrize(
    "before",
    [
        [],
        [(TEST, 5, {})],
        [(TEST, 5, {"keep_embeddings": True})],
        [(TEST, 5, {"keep_embeddings": True}), (OTHER, 2, {"keep_embeddings": True})],
        [(TEST, 2, {"keep_embeddings": True}), (OTHER, 5, {"keep_embeddings": True})],
        [(TEST, 5, {}), (OTHER, 3, {"keep_embeddings": True})],
    ],
)
def test_kept_vectors_are_those_of_the_log_whatever_was_killed_before(own_cache, before):
    expected = search_log(TEST, TRAIN, settings())
    for test, after, more in before:
        killed(test, after, **more)
    found = search_log(TEST, TRAIN, settings(keep_embeddings=True))
    assert found.neighbours == expected.neighbours and found.result.candidates
    assert np.array_equal(kept_vectors(own_cache), exact_vectors())


def test_a_search_that_is_gone_on_with_keeps_all_vectors_and_skips_what_it_has(own_cache):
    killed(TEST, 5, keep_embeddings=True)
    said: list[str] = []
    search_log(TEST, TRAIN, settings(keep_embeddings=True), said.append)
    assert "going on after 128 training queries" in said  # the state before the block that it died after
    assert np.array_equal(kept_vectors(own_cache), exact_vectors())


@pytest.mark.parametrize("keep", [True, False])
def test_a_second_search_reads_what_the_first_kept_asked_or_not(monkeypatch, keep):
    search_log(TEST, TRAIN, settings(keep_embeddings=True))
    expected = search_log(OTHER, Collection.from_records("copy", log=LOG[::-1]), settings()).result
    encoded: list[str] = []
    encode = Hashing.encode
    monkeypatch.setattr(Hashing, "encode", lambda self, texts: encoded.extend(texts) or encode(self, texts))
    said: list[str] = []
    found = search_log(OTHER, TRAIN, settings(keep_embeddings=keep), said.append).result
    assert "reading the log's vectors, which an earlier search kept" in said
    assert len(encoded) < len(TEXTS) / 4
    assert {(one.query, one.similarity) for one in found.candidates} == {
        (one.query, one.similarity) for one in expected.candidates
    }


def test_rows_go_where_they_belong_and_leave_no_gap(tmp_path):
    kept, rows = KeptVectors(tmp_path / "kept", 2), np.arange(12, dtype=np.float32).reshape(6, 2)
    with pytest.raises(AssertionError, match="gap"):
        kept.write(1, rows[1:2])
    kept.write(0, rows[:3])
    other = KeptVectors(tmp_path / "kept", 2)  # another process, which is behind
    other.write(0, rows[:2])
    kept.write(3, rows[3:5])
    other.write(2, rows[2:4])
    kept.complete(6)
    assert not kept.is_complete and kept.written == 5
    kept.write(5, rows[5:])
    kept.complete(6)
    assert kept.is_complete and np.array_equal(kept.rows(0, 6), rows)
    (tmp_path / "kept" / "vectors.f16").write_bytes(b"\0" * 8)
    assert not kept.is_complete


def test_another_model_under_the_same_name_has_another_key(tmp_path, monkeypatch):
    pytest.importorskip("torch")
    from ringtrue.retrieval.encoders.sbert import SBert
    from ringtrue.retrieval.encoders.static import Static

    for place, weights in (("one", "1"), ("two", "2")):
        (tmp_path / place / "model").mkdir(parents=True)
        (tmp_path / place / "model" / "config.json").write_text("{}")
        (tmp_path / place / "model" / "weights").write_text(weights)
    encoders = [SBert("./model"), SBert("./model", "bf16"), Static("sbert:./model")]
    keys = set()
    for place in ("one", "two"):
        monkeypatch.chdir(tmp_path / place)
        keys |= {key_of(encoder) for encoder in encoders}
    (tmp_path / "two" / "model" / "weights").write_text("trained again")
    keys |= {key_of(encoder) for encoder in encoders}
    assert len(keys) == 9
    (tmp_path / "two" / "model" / "weights").write_text("2")
    assert {key_of(encoder) for encoder in encoders} < keys


def test_what_was_saved_stays_until_the_result_is_used(own_cache):
    with pytest.raises(Killed), searching(TEST, TRAIN, settings()):
        raise Killed
    assert list((own_cache / "searches").glob("*.npz"))
    said: list[str] = []
    with searching(TEST, TRAIN, settings(), said.append) as found:
        assert found.result.candidates
    assert f"going on after {len(TEXTS):,} training queries" in said
    assert not list((own_cache / "searches").iterdir())


@dataclass(frozen=True)
class Rough:
    """Hashing with a lower precision that is off by as much as is said, from a text on."""

    error: float = 0.0
    since: str = ""
    precision: str = "fp32"
    dim: int = 64
    given: list[str] = field(default_factory=list, repr=False, compare=False)
    lives: list[int] = field(default_factory=list, repr=False, compare=False)

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        if self.precision == "fp32":
            self.given.extend(texts)
            if self.lives:
                self.lives[0] -= 1
                if not self.lives[0]:
                    raise Killed
        vectors = Hashing(self.dim).encode(texts)
        if self.precision == "fp32":
            return vectors
        noise = Hashing(self.dim, 2, 2).encode([text[::-1] for text in texts])
        return vectors + np.float32(self.error) * noise * np.array([[text >= self.since] for text in texts])

    def at(self, precision: str) -> Rough:
        return Rough(self.error, self.since, precision, self.dim)

    def bf16_is_fast(self) -> bool:
        return True


def run(encoder: Rough, log: Sequence[LogQuery] = LOG, say=lambda message: None, **wish) -> Running:
    wanted = Wish(["lamp oil fog", "honey bees"], 0.7, **{"k": 5, "screen": "auto", **wish})
    return Running(encoder, wanted, "log", lambda: packed(iter(log), 32), say)


def as_rows(found):
    return found.hits.rows.tolist(), found.hits.items.tolist(), found.hits.similarities.tolist()


def test_a_log_that_is_too_short_for_screening_is_encoded_in_full_at_once():
    assert run(Rough(1e-3), LOG[:19]).run().rescored is None
    assert run(Rough(1e-3), LOG[:20]).run().rescored is not None
    assert run(Rough(1e-3)).run().rescored is not None


def test_an_uncertain_screening_is_done_again_in_full():
    said: list[str] = []
    calm = run(Rough(1e-3))
    assert calm.run().rescored.certain and not calm.again
    search = run(Rough(0.5, "ship"), say=said.append)  # the first block, which the margin is from, is of lamps
    found = search.run()
    assert search.again and any("searching again in full" in message for message in said)
    assert found.rescored is None and as_rows(found) == as_rows(run(Rough(), screen="fp32").run())


def test_kept_vectors_that_are_wrong_are_dropped_and_made_again(own_cache):
    expected = as_rows(run(Rough(), keep=True).run())
    (path,) = (own_cache / "embeddings").glob("*/vectors.f16")
    good = path.read_bytes()
    rows = np.fromfile(path, np.float16).reshape(-1, 64)
    (rows + np.float16(0.05)).tofile(path)
    search = run(Rough(), keep=True)
    assert as_rows(search.run()) == expected and search.again
    assert path.read_bytes() == good


def test_a_search_done_again_is_told_of(monkeypatch):
    monkeypatch.setattr("ringtrue.leakage.search.ENCODERS", SimpleNamespace(parse=lambda name: Rough(0.5, "ship")))
    result = search_log(TEST, TRAIN, settings()).result
    notes = {note.what: note.times for note in result.notes}
    assert notes["searches that screening made uncertain, done again without it"] == 1


@dataclass(frozen=True)
class Guess:
    """Scores by hashing with other numbers."""

    def nearest(self, texts):
        rows = Hashing(32).encode(["lamp oil fog", "honey bees"])
        return (Hashing(32).encode(texts) @ rows.T).max(axis=1)


@pytest.mark.parametrize("plan", [None, Plan(effort=0.5)])
def test_what_is_encoded_after_the_log_was_read_is_not_encoded_again(monkeypatch, own_cache, plan):
    monkeypatch.setattr(cascade, "LEAST", 64)
    monkeypatch.setattr(cascade, "_student", lambda *given: Guess())
    monkeypatch.setattr(scoring, "SAMPLE", 20)
    monkeypatch.setattr(scoring, "_CHUNK", 16)
    monkeypatch.setattr("ringtrue.retrieval.rescoring._SMALLEST", 1)
    monkeypatch.setattr("ringtrue.retrieval.rescoring.usual_block", lambda encoder: 16)
    wish = {"plan": plan, "screen": "auto" if plan is None else "fp32", "k": 20}
    whole = Rough(1e-3)
    expected = run(whole, **wish).run()
    for path in (own_cache / "searches").glob("*"):
        for file in path.glob("*"):
            file.unlink()
    mortal = Rough(1e-3, lives=[5])
    with pytest.raises(Killed):
        run(mortal, **wish).run()
    last = mortal.given[-16:]
    again = Rough(1e-3)
    search = run(again, **wish)
    found = search.run()
    assert as_rows(found) == as_rows(expected) and found.screened == expected.screened
    assert len(again.given) < len(whole.given)
    assert len(set(mortal.given[2:]) & set(again.given[2:]) - set(last)) == 0
    search.forget()
    assert not list((own_cache / "searches").iterdir())


@dataclass(frozen=True)
class ByLength:
    """Scores and vectors that cost next to nothing: long texts are near."""

    dim: int = 2

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        cosines = np.array([min(len(text) / 100, 1.0) for text in texts], np.float32)
        return np.stack((cosines, np.sqrt(1 - cosines * cosines)), axis=1)

    def nearest(self, texts: Sequence[str]) -> np.ndarray:
        return self.encode(texts)[:, 0]


@pytest.mark.parametrize("plan", [None, Plan(effort=0.001)])
def test_memory_does_not_grow_with_the_log(monkeypatch, plan):
    for name, value in (("LEAST", 500), ("_ROOM", 1000), ("_LONG", 0), ("_KEPT_SAMPLE", 20)):
        monkeypatch.setattr(cascade, name, value)
    monkeypatch.setattr(cascade, "_student", lambda *given: ByLength())
    monkeypatch.setattr(running, "_SAVE_SECONDS", 60.0)

    def peak(lines: int) -> int:
        log = (LogQuery(f"query {number}", f"{number} " + "x" * (number * 7919 % 89)) for number in range(lines))
        wish = Wish(["x" * 100], 0.93, 5, "fp32", plan=plan)
        tracemalloc.start()
        search = Running(ByLength(), wish, str(lines), lambda: packed(log, 1000), lambda message: None)
        assert search.run().seen == lines
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    small, large = peak(10_000), peak(100_000)
    assert large < small + 40 * 90_000, (small, large)  # a line that was kept would take several hundred bytes
