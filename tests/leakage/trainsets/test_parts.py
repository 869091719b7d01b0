from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ringtrue.data.collection import Collection
from ringtrue.data.notes import Notes
from ringtrue.data.qrels import Qrels
from ringtrue.data.records import Document, Qrel
from ringtrue.errors import FormatError, InputError
from ringtrue.leakage.candidates import Candidate
from ringtrue.leakage.trainsets.corpora import Corpus, has_text
from ringtrue.leakage.trainsets.dice import draw, shuffled
from ringtrue.leakage.trainsets.documents import Asked, choose_documents
from ringtrue.leakage.trainsets.entries import Entry, document_entries
from ringtrue.leakage.trainsets.leaks import (
    KnownLeaks,
    Rewriting,
    choose_leaks,
    find_leaks,
    from_candidates,
    from_labels,
    read_planted,
    simulate_leaks,
)
from ringtrue.leakage.trainsets.records import Leak, Settings, Triple
from ringtrue.leakage.trainsets.rest import Fillers, shares_of


@given(st.integers(0, 60), st.lists(st.integers(0, 20), max_size=5), st.booleans())
def test_shares_add_up_and_never_take_what_is_not_there(number: int, available: list[int], balanced: bool) -> None:
    shares = shares_of(number, available, balanced)
    if shares is None:
        assert number > (sum(available) if not balanced else min(available, default=0) * len(available))
        return
    assert sum(shares) == number
    assert all(share <= have for share, have in zip(shares, available, strict=True))
    if balanced and shares:
        assert max(shares) - min(shares) <= 1


def test_shares_worked_by_hand() -> None:
    assert shares_of(7, [9, 9, 9], True) == [3, 2, 2]
    assert shares_of(9, [2, 9, 9], True) is None
    assert shares_of(9, [2, 9, 9], False) == [2, 4, 3]
    assert shares_of(21, [2, 9, 9], False) is None


@pytest.mark.parametrize(
    ("available", "balanced", "words"),
    [
        ({"log": 9, "web": 4}, True, "the largest set without leakage has 18 instances"),
        ({"log": 4, "web": 9}, True, "the largest set without leakage has 16 instances"),
        ({"log": 9, "web": 4}, False, "the largest set without leakage has 26 instances"),
        ({"log": 0, "web": 0}, True, r"log 0, web 0: all others leak.*a higher --threshold"),
    ],
)
def test_the_largest_set_that_is_named_can_be_made(available: dict[str, int], balanced: bool, words: str) -> None:
    triple = Triple("q", "a", "b", "log", "log")
    fillers = Fillers({source: [triple] * number for source, number in available.items()}, balanced)
    with pytest.raises(InputError, match=words):
        fillers.take(40)


def test_lots_depend_on_seed_and_thing_alone() -> None:
    entries = [Entry(f"e{n}", "text", "ab"[n % 2], ("d",)) for n in range(50)]
    drawn = draw(entries, 10, 3)
    assert list(drawn) == ["a", "b"]
    assert all(len(some) == 10 for some in drawn.values())
    assert draw(reversed(entries), 10, 3) == drawn
    assert draw(entries, 5, 3) == {source: some[:5] for source, some in drawn.items()}
    assert draw(entries, 10, 4) != drawn
    assert sorted(shuffled(range(20), 1)) == list(range(20))


def test_queries_of_documents_leave_the_document_without_them() -> None:
    corpus = Corpus(Collection.from_records("c", []))
    text = "flow past a plate . the boundary layer grows along the plate . ok then ."
    found = list(document_entries([Document("7", text, "flow past a plate .")], corpus, 10))
    assert [(one.query_id, one.source, one.text) for one in found] == [
        ("document/7#title", "title", "flow past a plate ."),
        ("document/7#sentence-1", "sentence", "the boundary layer grows along the plate ."),
    ]
    assert found[0].made == "the boundary layer grows along the plate . ok then ."
    assert found[1].positives == ("7#without-sentence-1",)
    assert found[1].made == "flow past a plate . flow past a plate . ok then ."


def test_documents_are_never_short_equal_or_relevant() -> None:
    documents = [
        Document("good", "lamps and lenses of the coast"),
        Document("twin", "Lamps and lenses, of the coast!"),
        Document("tiny", "lamps"),
        Document("other", "lamps in another town far away"),
        Document("barred", "lamps that are relevant as well"),
    ]
    corpus = Corpus(Collection.from_records("c", documents))
    notes = Notes()
    asked = [Asked("q", "lamps", ("tiny", "gone", "good"), frozenset({"barred"})), Asked("r", "lamps", ("tiny",))]
    for seed in range(10):
        pairs = choose_documents(asked, corpus, Settings(seed=seed), notes)
        assert pairs == {"q": ("good", "other")}
    made = Asked("q", "another town", ("good",), verbatim="anothertown")
    found = {
        choose_documents([made._replace(text="lamps")], corpus, Settings(seed=seed), notes)["q"] for seed in range(9)
    }
    assert found == {("good", "barred")}
    what = {note.what: note.times for note in notes}
    assert what["training queries without a relevant document that has text skipped"] == 10
    assert has_text("a-b c 1", 4) and not has_text("...", 1)


def test_leaks_from_everywhere(world: Collection, tmp_path: Path) -> None:
    path = tmp_path / "leaks.jsonl"
    path.write_text('{"query_id": "a", "topic_id": "1", "type": "identical"}\n'
                    '{"query_id": "b", "topic_id": "1", "type": "different-topic"}\n')  # fmt: skip
    assert read_planted(path).pairs == (("1", "a"),)
    path.write_text('{"query_id": "a"}\n')
    with pytest.raises(FormatError, match="line 1"):
        read_planted(path)
    assert from_labels({("1", "a"): True, ("1", "b"): False}).pairs == (("1", "a"),)
    candidate = Candidate("1", "title", "t", "a", "q", 0.95)
    assert "not verified" in from_candidates([candidate], "above").rule
    notes = Notes()
    known = KnownLeaks((("t-bees", "leak-1"), ("t-none", "leak-2"), ("t-bees", "gone"), ("t-bees", "no-docs")), "x")
    found = find_leaks(known, world, [query.query_id for query in world.queries], notes)
    assert [(leak.topic_id, leak.query_id) for leak in found] == [("t-bees", "log/leak-1")]
    assert {note.what: note.times for note in notes} == {
        "known leaks of topics that are not tested": 1,
        "known leaks without text or relevant document skipped": 1,
        "known leaks that are not in the training log": 1,
    }


def test_variations_stand_for_leaks() -> None:
    qrels = Qrels.from_records([Qrel("1", "a", 1), Qrel("1", "b", 1), Qrel("1", "c", 0), Qrel("2", "a", 0)])
    notes = Notes()
    given_ = [Rewriting("1", "some words", "m"), Rewriting("1", "Some  words", "n"), Rewriting("2", "more", "m")]
    found = simulate_leaks(given_, qrels, 0, notes)
    assert [(leak.topic_id, leak.text, leak.source, sorted(leak.doc_ids)) for leak in found] == [
        ("1", "some words", "m", ["a", "b"])
    ]
    assert next(iter(notes)).times == 1


def test_leaks_are_spread_over_topics() -> None:
    leaks = [
        Leak(topic, f"{topic}{n}", "", "", ()) for topic, count in (("a", 5), ("b", 2), ("c", 1)) for n in range(count)
    ]
    chosen = choose_leaks(leaks, 6, 0)
    assert sorted(leak.topic_id for leak in chosen) == ["a", "a", "a", "b", "b", "c"]
    assert sorted(leak.topic_id for leak in chosen[:3]) == ["a", "b", "c"]
    assert len(choose_leaks(leaks, 100, 0)) == 8
