from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from ringtrue.data.collection import Collection
from ringtrue.data.load import load
from ringtrue.data.records import Document, LogQuery
from ringtrue.errors import InputError, UnknownNameError
from ringtrue.leakage.search import Settings as SearchSettings
from ringtrue.leakage.search import search_log
from ringtrue.leakage.trainsets.build import build_trainsets
from ringtrue.leakage.trainsets.leaks import KnownLeaks, Rewriting, read_planted
from ringtrue.leakage.trainsets.records import Settings, Trainsets, Triple
from ringtrue.study.training import planted_in_lighthouse

KNOWN = KnownLeaks((("t-bees", "leak-1"), ("t-bees", "leak-2"), ("t-bread", "leak-3")), "by hand")


def _settings(**given: object) -> Settings:
    return Settings(**{"sizes": (16, 32), "encoder": "hashing", **given})  # type: ignore[arg-type]


@pytest.fixture
def made(world: Collection) -> Trainsets:
    return build_trainsets(world, world, known=KNOWN, settings=_settings())


def test_sizes_are_exact_and_larger_sets_contain_the_smaller(made: Trainsets) -> None:
    assert [one.name for one in made.sets] == ["none-16", "none-32", "msm-16", "msm-32", "test-16", "test-32"]
    for one in made.sets:
        assert 2 * len(one.triples) == one.instances
        assert len(set(one.triples)) == len(one.triples)
    for kind in ("none", "msm", "test"):
        assert set(made.find(kind, 16).triples) <= set(made.find(kind, 32).triples)


def test_the_account_adds_up(made: Trainsets) -> None:
    for one in made.sets:
        rest = one.by_origin.get("log", 0)
        assert sum(one.by_origin.values()) == one.instances // 2
        assert sum(one.by_source.values()) == rest
        counts = [one.by_source.get(source, 0) for source in ("questions", "web")]
        assert max(counts) - min(counts) <= 1
    assert made.find("none", 32).by_origin == {"log": 16}
    assert made.find("msm", 32).by_origin == {"leak": 3, "log": 13}
    assert made.find("test", 32).by_origin == {"log": 8, "topic": 8}
    assert {note.what: note.times for note in made.notes}["training queries without a relevant document skipped"] == 1


def test_no_leak_is_left_in_the_rest(made: Trainsets, world: Collection) -> None:
    rest = {triple.query_id for one in made.sets for triple in one.triples if not triple.topic_id}
    assert not rest & {"log/leak-1", "log/leak-2", "log/leak-3", "log/no-docs", "log/short"}
    log = [LogQuery(query_id, made.queries[query_id]) for query_id in sorted(rest)]
    found = search_log(world, Collection.from_records("rest", log=log), SearchSettings("hashing"))
    assert found.result.candidates == ()
    assert made.nearest[0].similarity == pytest.approx(max(one.similarity for one in found.neighbours))
    assert made.nearest[0].similarity <= made.threshold


def test_what_is_near_a_topic_is_left_out_also_where_nobody_knew(world: Collection) -> None:
    log = [*world.log(), *(LogQuery(f"near-{n}", "the care of bees", "web", (f"bees-{n}",)) for n in range(8))]
    other = Collection.from_records("other", world.documents(), world.queries, world.qrels, log)
    made = build_trainsets(other, other, known=KNOWN, settings=_settings(sizes=(64, 88)))
    assert made.near > 0
    assert not any(triple.query_id.startswith("log/near") for one in made.sets for triple in one.triples)


def test_the_words_of_a_known_leak_leak_under_another_id_too(world: Collection) -> None:
    """Also where the detector finds them far, as here every query."""
    log = [*world.log(), *(LogQuery(f"twin-{n}", "Care of: bees!", "web", (f"bees-{n}",)) for n in range(8))]
    other = Collection.from_records("other", world.documents(), world.queries, world.qrels, log)
    made = build_trainsets(other, other, known=KNOWN, settings=_settings(sizes=(64, 88), threshold=1.0))
    assert made.near == 0
    assert not any(triple.query_id.startswith("log/twin") for one in made.sets for triple in one.triples)
    assert ("training queries with the words of a leaking one left out", 8) in {one[:2] for one in made.notes}


def test_the_same_id_or_the_same_words_again_are_queries_of_their_own(world: Collection) -> None:
    same = [LogQuery("x", f"trains word{n} gamma", "web", (f"trains-{n}",)) for n in range(4)]
    same += [
        LogQuery("x", "trains word9 delta", source, (f"trains-{n}",))
        for n, source in enumerate(["web", "questions"], 4)
    ]
    log = [*(one for one in world.log() if not one.query_id.endswith(tuple("4567"))), *same]
    other = Collection.from_records("other", world.documents(), world.queries, world.qrels, log)
    made = build_trainsets(other, other, known=KNOWN, settings=_settings(sizes=(90,), kinds=("none",), balanced=False))
    (whole,) = made.sets
    ids = [triple.query_id for triple in whole.triples]
    assert len(set(ids)) == len(ids) == 45
    again = {triple.query_id: triple for triple in whole.triples if triple.query_id.startswith("log/x")}
    assert len(again) >= 2
    for name, triple in again.items():
        number = triple.positive[-1]
        assert made.queries[name] == ("trains word9 delta" if number in "45" else f"trains word{number} gamma")
        assert number not in "45" or triple.negative not in ("trains-4", "trains-5")


def test_more_topics_than_the_smallest_set_has_room_for(world: Collection) -> None:
    full = {one.query_id for one in _topics(build_trainsets(world, world, settings=_settings(kinds=("test",))))}
    assert len(full) == 4
    made = build_trainsets(world, world, settings=_settings(kinds=("none", "test"), sizes=(12, 32)))
    for size in (12, 32):
        counts = Counter(triple.topic_id for triple in made.find("test", size).triples if triple.topic_id)
        assert sorted(counts.values()) == [1, 1, 2, 2]
    assert made.find("test", 12).by_origin == {"topic": 6}
    what = "test topics taken less often, as the smallest set has no room for more"
    assert {note.what: note.times for note in made.notes}[what] == 2
    again = build_trainsets(world, world, settings=_settings(kinds=("test",), sizes=(4,)))
    assert again.find("test", 4).by_origin == {"topic": 2} and len(again.find("test", 4).leaked_topics) == 2


def test_topics_without_text_are_no_queries_to_train_on(world: Collection) -> None:
    blank, *others = world.queries
    topics = [blank._replace(title=" "), *others]
    other = Collection.from_records("other", world.documents(), topics, world.qrels, world.log())
    made = build_trainsets(other, other, settings=_settings(kinds=("test",), sizes=(32,)))
    assert blank.query_id not in made.find("test", 32).leaked_topics
    assert all(text.strip() for text in made.queries.values())
    assert ("test topics without text skipped", 1) in {one[:2] for one in made.notes}


def _topics(made: Trainsets) -> list[Triple]:
    return [triple for triple in made.sets[-1].triples if triple.origin == "topic"]


def test_documents_are_right(made: Trainsets, world: Collection) -> None:
    positives = {f"log/{query.query_id}": query.doc_ids for query in world.log()}
    for one in made.sets:
        for triple in one.triples:
            assert triple.positive != triple.negative
            if triple.origin == "topic":
                assert world.qrels.by_topic[triple.topic_id][triple.positive] > 0
                assert world.qrels.by_topic[triple.topic_id][triple.negative] == 0
            else:
                assert triple.positive in positives[triple.query_id]
                assert triple.negative not in positives[triple.query_id]
    judged = world.qrels.by_topic
    for triple in made.find("msm", 16).triples:
        if triple.topic_id:
            assert judged[triple.topic_id].get(triple.negative, 0) == 0


def test_each_topic_comes_twice_with_other_documents(made: Trainsets) -> None:
    topics = [triple for triple in made.find("test", 32).triples if triple.origin == "topic"]
    assert set(Counter(triple.topic_id for triple in topics).values()) == {2}
    for column in ("positive", "negative"):
        assert len({(triple.topic_id, getattr(triple, column)) for triple in topics}) == len(topics)


def test_a_seed_decides_everything_and_the_order_of_the_log_nothing(made: Trainsets, world: Collection) -> None:
    turned = Collection.from_records("w", world.documents(), world.queries, world.qrels, reversed([*world.log()]))
    again = build_trainsets(turned, turned, known=KNOWN, settings=_settings())
    assert again.sets == made.sets
    assert build_trainsets(world, world, known=KNOWN, settings=_settings(seed=1)).sets != made.sets


def test_sizes_larger_than_the_data_say_what_is_possible(world: Collection) -> None:
    with pytest.raises(InputError, match="the largest set without leakage has ") as error:
        build_trainsets(world, world, known=KNOWN, settings=_settings(sizes=(16, 4000)))
    largest = int(str(error.value).partition("without leakage has ")[2].split()[0].replace(",", ""))
    assert build_trainsets(world, world, settings=_settings(kinds=("none",), sizes=(largest,))).sets[0].triples
    with pytest.raises(InputError, match="the largest set"):
        build_trainsets(world, world, settings=_settings(kinds=("none",), sizes=(largest + 4,)))


def test_unbalanced_sets_take_more_from_where_there_is_more(world: Collection) -> None:
    log = [query for query in world.log() if query.source == "web" or query.query_id.endswith(("-0", "-1"))]
    other = Collection.from_records("other", world.documents(), world.queries, world.qrels, log)
    settings = _settings(kinds=("none",), sizes=(80,))
    with pytest.raises(InputError, match="--unbalanced"):
        build_trainsets(other, other, settings=settings)
    made = build_trainsets(other, other, settings=_settings(kinds=("none",), sizes=(80,), balanced=False))
    assert sum(made.sets[0].by_source.values()) == 40
    assert made.sets[0].by_source["questions"] <= 12


def test_leaks_must_fit_and_be_there(world: Collection) -> None:
    with pytest.raises(InputError, match="no room for its"):
        build_trainsets(world, world, known=KNOWN, settings=_settings(sizes=(4,), leaks=3))
    with pytest.raises(InputError, match="only 3 can be trained on"):
        build_trainsets(world, world, known=KNOWN, settings=_settings(leaks=4))
    with pytest.raises(InputError, match="no leaking queries are known"):
        build_trainsets(world, world, settings=_settings())
    with pytest.raises(InputError, match="has no judgments"):
        bare = Collection.from_records("bare", world.documents(), world.queries, None, world.log())
        build_trainsets(bare, bare, known=KNOWN, settings=_settings())


def test_without_a_log_queries_are_made_of_documents(world: Collection) -> None:
    bare = Collection.from_records("bare", world.documents(), world.queries, world.qrels)
    rewritings = [Rewriting(f"t-{subject}", f"how to care for {subject}", "hand") for subject in ("bees", "bread")]
    made = build_trainsets(bare, None, rewritings=rewritings, settings=_settings())
    assert "made of documents" in made.rest
    assert made.find("none", 32).by_origin == {"document": 16}
    assert made.find("msm", 32).by_origin == {"document": 14, "leak": 2}
    assert sorted(made.find("none", 32).by_source) == ["sentence", "title"]
    for triple in made.find("none", 32).triples:
        own = made.documents[triple.positive]
        assert made.queries[triple.query_id] not in own
        assert triple.negative != triple.positive.partition("#")[0]
    for triple in made.find("msm", 32).triples:
        if triple.topic_id:
            assert bare.qrels.by_topic[triple.topic_id][triple.positive] > 0


def test_two_corpora_have_keys_that_cannot_meet(world: Collection) -> None:
    documents = [
        Document(f"bees-{n}", f"other text {n} of another corpus about word{n} things alpha{n}") for n in range(16)
    ]
    log = [LogQuery(f"x{n}", f"word{n} alpha{n} things", "web", (f"bees-{n}",)) for n in range(16)]
    train = Collection.from_records("train", documents, log=log)
    made = build_trainsets(world, train, settings=_settings(kinds=("none", "test"), sizes=(24,)))
    assert made.prefix == "test/"
    prefixes = {triple.origin: triple.positive.partition("/")[0] for triple in made.find("test", 24).triples}
    assert prefixes == {"topic": "test", "log": "train"}
    assert all("another corpus" in made.documents[t.positive] for t in made.find("none", 24).triples)


def test_bad_settings() -> None:
    with pytest.raises(InputError, match="even number"):
        Settings(sizes=(3,))
    with pytest.raises(UnknownNameError, match="kind of training set"):
        Settings(kinds=("some",))  # type: ignore[arg-type]
    with pytest.raises(InputError, match="at least one kind"):
        Settings(sizes=())
    with pytest.raises(InputError, match="repeats"):
        Settings(repeats=0)


def test_lighthouse(tmp_path: Path) -> None:
    collection = load("builtin:lighthouse")
    known = read_planted(planted_in_lighthouse())
    made = build_trainsets(collection, collection, known=known, settings=Settings(sizes=(250, 500), encoder="hashing"))
    leaks = [triple for triple in made.find("msm", 250).triples if triple.topic_id]
    assert len(leaks) == 100
    assert set(known.pairs) >= {(leak.topic_id, leak.query_id.removeprefix("log/")) for leak in leaks}
    spread = Counter(leak.topic_id for leak in leaks)
    assert len(spread) == 26
    assert max(spread.values()) - min(spread.values()) <= 2
    assert made.find("test", 250).by_origin == {"log": 25, "topic": 100}
