"""Rankings of variations: slots, failures, re-ranking alone."""

from __future__ import annotations

import pytest
import toy

from ringtrue.data.records import Query
from ringtrue.errors import InputError, MissingModelError
from ringtrue.retrieval.bm25 import BM25
from ringtrue.retrieval.pipeline import Cut, Pipeline, parse_ranker
from ringtrue.robustness import ranking
from ringtrue.robustness.ranking import at_depth, rank_task, split_first_stage
from ringtrue.robustness.task import MethodCounts, Slot, make_task


@pytest.fixture
def task():
    return make_task(toy.QUERIES, toy.COLLECTION.qrels.topics, toy.checked())


def test_variations_are_sorted_into_slots(task):
    assert task.texts == {
        Slot("misspelling", "DeleteChar"): {"q1": "red fx", "q2": "lmp dor", "q3": "dog huse"},
        Slot("misspelling", "DeleteChar", 2): {"q1": "re fox"},
        Slot("ordering", "RandOrderSwap"): {"q1": "fox red", "q3": "house dog"},
        Slot("recorded", "Recorded"): {"q1": "snow fox"},
    }
    assert [query.query_id for query in task.queries] == ["q1", "q2", "q3", "q4"]
    assert task.unjudged == 1


def test_nothing_is_dropped_without_a_count(task):
    assert task.counts == (
        MethodCounts("misspelling", "DeleteChar", variations=4, valid=3, invalid=0, copies=0, missing=1),
        MethodCounts("ordering", "RandOrderSwap", variations=3, valid=2, invalid=0, copies=1, missing=1),
        MethodCounts("recorded", "Recorded", variations=1, valid=1, invalid=0, copies=0, missing=3),
    )


def test_nothing_to_rank_is_an_error():
    with pytest.raises(InputError, match="no query has judgments"):
        make_task(toy.QUERIES, (), toy.checked())
    with pytest.raises(
        InputError, match=r"none of the 1 queries \(01\) is among the 1 judged topics \(1\); .* 01 is not 1"
    ):
        make_task([Query("01", "lamp")], ["1"], toy.checked())
    with pytest.raises(InputError, match="no variations of judged queries"):
        make_task(toy.QUERIES, toy.COLLECTION.qrels.topics, toy.checked()[-1:])


def test_each_slot_is_ranked_as_if_its_texts_were_the_queries(task):
    ranked = rank_task(toy.Overlap(), toy.COLLECTION, task)
    for slot, texts in task.texts.items():
        expected = toy.Overlap().rank(toy.COLLECTION, [Query(*item) for item in texts.items()])
        assert ranked.varied[slot].rankings == expected.rankings
    assert ranked.failures == ()
    assert ranked.name == "Overlap"


@pytest.mark.parametrize(
    ("spec", "rerank_only"),
    [("bm25", False), ("bm25 >> rm3", False), ("bm25 % 3 >> dph", False), ("bm25 >> pl2", True)],
)
def test_one_pass_over_all_variations_gives_what_a_pass_for_each_method_gives(task, spec, rerank_only, monkeypatch):
    ranker = parse_ranker(spec)
    together = rank_task(ranker, toy.COLLECTION, task, rerank_only=rerank_only)
    monkeypatch.setattr(ranking, "_reads_texts", lambda stage: False)
    apart = rank_task(ranker, toy.COLLECTION, task, rerank_only=rerank_only)
    assert together.original.rankings == apart.original.rankings
    assert {slot: run.rankings for slot, run in together.varied.items()} == {
        slot: run.rankings for slot, run in apart.varied.items()
    }
    assert any(run.rankings for run in together.varied.values())


def test_two_calls_are_enough(task, monkeypatch):
    calls = []
    rank = BM25.rank
    monkeypatch.setattr(BM25, "rank", lambda self, *given: calls.append(len(given[1])) or rank(self, *given))
    rank_task(BM25(), toy.COLLECTION, task)
    assert calls == [4, 7]


def test_in_one_pass_a_failure_is_still_told_by_its_query(task, monkeypatch):
    rank = BM25.rank

    def fragile(self, collection, queries, candidates=None):
        if any("lmp" in query.title for query in queries):
            raise ZeroDivisionError("cannot do lmp")
        return rank(self, collection, queries, candidates)

    monkeypatch.setattr(BM25, "rank", fragile)
    ranked = rank_task(BM25(), toy.COLLECTION, task)
    assert [(failure.query_id, failure.text) for failure in ranked.failures] == [("q2", "lmp dor")]


def test_a_run_alone_cannot_see_variations(task, tmp_path):
    (tmp_path / "a.run").write_text("q1 Q0 d1 1 1.0 x\n")
    with pytest.raises(InputError, match="cannot see variations"):
        rank_task(parse_ranker(f"replay:{tmp_path / 'a.run'}"), toy.COLLECTION, task)
    ranked = rank_task(parse_ranker(f"replay:{tmp_path / 'a.run'} >> bm25"), toy.COLLECTION, task, rerank_only=True)
    assert [line.doc_id for line in ranked.varied[Slot("ordering", "RandOrderSwap")].ranking("q1")] == ["d1"]


def test_a_query_that_fails_is_recorded_and_the_rest_goes_on(task):
    ranked = rank_task(toy.Fragile(), toy.COLLECTION, task)
    (failure,) = ranked.failures
    assert failure[:3] == ("Fragile", "q2", Slot("misspelling", "DeleteChar"))
    assert failure.error == "ZeroDivisionError: cannot do lmp"
    whole = rank_task(toy.Overlap(), toy.COLLECTION, task)
    slot = Slot("misspelling", "DeleteChar")
    assert ranked.varied[slot].topics == ("q1", "q3")
    assert ranked.varied[slot].ranking("q1") == whole.varied[slot].ranking("q1")


def test_failing_everywhere_is_an_error(task):
    with pytest.raises(InputError, match="'Fragile:word=' fails on every query, on the first with ZeroDivisionError"):
        rank_task(toy.Fragile(word=""), toy.COLLECTION, task)


def test_finding_nothing_at_all_is_an_error(task, tmp_path):
    (tmp_path / "a.run").write_text("other Q0 d1 1 1.0 x\n")
    with pytest.raises(InputError, match="returns no document for any of the 4 queries"):
        rank_task(parse_ranker(f"bm25 >> replay:{tmp_path / 'a.run'}"), toy.COLLECTION, task)


def test_what_a_ranker_says_of_every_query_is_its_own_error(task):
    class Wrong(toy.Overlap):
        def rank(self, collection, queries, candidates=None):
            raise InputError("depth is 0; it should be 1 or more.")

    said: list[str] = []
    with pytest.raises(InputError, match=r"^depth is 0; it should be 1 or more"):
        rank_task(Wrong(), toy.COLLECTION, task, say=said.append)
    assert said[-1].endswith(": depth is 0; it should be 1 or more; now query by query")


def test_an_interrupt_is_no_failure(task):
    class Slow(toy.Overlap):
        def rank(self, collection, queries, candidates=None):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        rank_task(Slow(), toy.COLLECTION, task)


def test_a_missing_model_is_not_a_failure_of_a_query(task):
    class Missing(toy.Overlap):
        def rank(self, collection, queries, candidates=None):
            raise MissingModelError("no weights")

    with pytest.raises(MissingModelError):
        rank_task(Missing(), toy.COLLECTION, task)


def test_with_re_ranking_alone_the_first_stage_sees_the_original_query(task):
    pipeline = toy.Overlap() >> toy.Overlap(first=1)
    ranked = rank_task(pipeline, toy.COLLECTION, task, rerank_only=True)
    slot = Slot("recorded", "Recorded")
    # d4 has the word of the variation but not of the original query
    assert [line.doc_id for line in rank_task(pipeline, toy.COLLECTION, task).varied[slot].ranking("q1")] == [
        "d1",
        "d4",
        "d3",
    ]
    assert [line.doc_id for line in ranked.varied[slot].ranking("q1")] == ["d1", "d3"]
    assert ranked.original.rankings == rank_task(pipeline, toy.COLLECTION, task).original.rankings
    assert ranked.name == repr(pipeline)


def test_re_ranking_alone_needs_two_stages(task):
    with pytest.raises(InputError, match="has one stage"):
        rank_task(toy.Overlap(), toy.COLLECTION, task, rerank_only=True)


def test_pipelines_are_split_and_cut():
    a, b, c = toy.Overlap(), toy.Overlap(1), toy.Overlap(2)
    assert split_first_stage(a >> b) == (a, b)
    assert split_first_stage(a >> b >> c) == (a, Pipeline((b, c)))
    assert at_depth(a % 100 >> b, 10) == Pipeline((Cut(a, 10), b))
    assert at_depth(a >> b >> c, 10) == Pipeline((Cut(a, 10), b, c))


def test_rankings_are_cut_to_the_depth(task):
    ranked = rank_task(toy.Overlap(), toy.COLLECTION, task, depth=1)
    assert all(len(ranking) == 1 for ranking in ranked.original.rankings.values())
