from __future__ import annotations

from dataclasses import dataclass

import pytest

from ringtrue.data.runs import Run
from ringtrue.errors import InputError, UnknownNameError
from ringtrue.retrieval.bm25 import BM25
from ringtrue.retrieval.pipeline import Composable, Cut, Pipeline, parse_ranker
from ringtrue.retrieval.rm3 import RM3
from ringtrue.retrieval.weighting import DPH, PL2


@dataclass(frozen=True, repr=False)
class Constant(Composable):
    """A ranker of someone else's: all candidates with one score."""

    score: float = 1.0

    def rank(self, collection, queries, candidates=None):
        lines = {
            topic: [(line.doc_id, self.score) for line in candidates.ranking(topic)] for topic in candidates.topics
        }
        return Run.from_results(repr(self), lines)


def ids(run, query_id):
    return [line.doc_id for line in run.ranking(query_id)]


def test_operators_bind_as_they_are_read():
    pipeline = BM25() % 100 >> RM3(fb_docs=5) % 10
    assert pipeline == Pipeline((Cut(BM25(), 100), Cut(RM3(fb_docs=5), 10)))
    assert repr(pipeline) == "bm25 % 100 >> rm3:fb_docs=5 % 10"


def test_brackets_do_not_matter():
    assert BM25() >> (DPH() >> PL2()) == (BM25() >> DPH()) >> PL2()
    assert (BM25() >> DPH()) % 5 == BM25() >> DPH() % 5


@pytest.mark.parametrize(
    "ranker",
    [
        BM25(),
        BM25(k1=1.2, b=0.75, method="bm25+", stopwords="english"),
        BM25() % 100 % 10,
        BM25() % 100 >> RM3(fb_docs=5, model="pl2:c=2.0") >> DPH(depth=7) % 3,
    ],
    ids=repr,
)
def test_a_name_reads_back(ranker):
    assert parse_ranker(repr(ranker)) == ranker


def test_parse_with_and_without_blanks():
    expected = Pipeline((Cut(BM25(k1=1.2, b=0.75), 100), RM3(fb_docs=5)))
    assert parse_ranker("bm25:k1=1.2,b=.75 % 100 >> rm3:fb_docs=5") == expected
    assert parse_ranker(" bm25:k1=1.2,b=.75%100>>rm3:fb_docs=5 ") == expected
    assert parse_ranker("bm25:50") == BM25(depth=50)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("", "a stage is empty"),
        ("bm25 >>", "a stage is empty"),
        ("% 10", "a stage is empty"),
        ("bm25 % ten", "whole number, not 'ten'"),
        ("bm25 % -1", "whole number, not '-1'"),
        ("bm25:k1=much", "k1 should be a number, not 'much'"),
        ("bm25:method=best", "unknown value"),
    ],
)
def test_bad_text_is_explained(spec, message):
    with pytest.raises(InputError, match=message):
        parse_ranker(spec)


def test_unknown_names_list_the_nearest():
    with pytest.raises(UnknownNameError, match="did you mean bm25"):
        parse_ranker("bm52 % 10")


def test_stages_pass_the_run_on(fruit):
    whole = BM25(stemmer="none").rank(fruit, fruit.queries)
    cut = (BM25(stemmer="none") % 1).rank(fruit, fruit.queries)
    assert ids(cut, "q2") == ids(whole, "q2")[:1]
    run = (BM25(stemmer="none") % 2 >> Constant(score=3.0)).rank(fruit, fruit.queries)
    assert ids(run, "q2") == sorted(ids(whole, "q2")[:2])
    assert run.name == "bm25:stemmer=none % 2 >> Constant:score=3.0"


def test_the_first_stage_gets_the_candidates(fruit):
    given = Run.from_results("given", {"q2": [("d2", 1.0)]})
    run = (BM25(stemmer="none") >> DPH(stemmer="none")).rank(fruit, fruit.queries, given)
    assert ids(run, "q2") == ["d2"]


def test_a_cut_at_nothing_is_an_error(fruit):
    with pytest.raises(InputError, match="cannot keep 0 documents"):
        (BM25() % 0).rank(fruit, fruit.queries)
