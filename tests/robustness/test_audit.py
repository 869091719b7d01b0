"""The audit as a whole."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import toy
from ir_measures import AP, nDCG

from ringtrue.audit import Interval, Verdict, gravest
from ringtrue.data.collection import Collection
from ringtrue.data.load import load
from ringtrue.errors import InputError
from ringtrue.evaluation.measures import MFR
from ringtrue.report.files import write_report
from ringtrue.report.json import as_json
from ringtrue.report.text import as_text
from ringtrue.retrieval.encoders import ENCODERS
from ringtrue.retrieval.pipeline import parse_ranker
from ringtrue.robustness import rules
from ringtrue.robustness.audit import audit_robustness
from ringtrue.robustness.labels import known_queries, read_labels
from ringtrue.robustness.result import CategoryDrop, Swap
from ringtrue.robustness.settings import Settings
from ringtrue.robustness.task import make_task
from ringtrue.robustness.topics import write_topics
from ringtrue.robustness.validity import check
from ringtrue.robustness.variations import Variation
from ringtrue.robustness.vary import parse_generators, vary

QUICK = Settings(replicates=50)


@pytest.fixture(scope="module")
def lighthouse():
    collection = load("builtin:lighthouse")
    names = ("NeighbCharSwap", "QWERTYCharSub", "RmvStopWords", "RandOrderSwap")
    rows = known_queries(vary(collection.queries, parse_generators(names)), collection.queries, collection.notes)
    return collection, check(rows)


def test_bm25_and_rm3_on_the_built_in_collection(lighthouse, tmp_path):
    collection, checked = lighthouse
    rankers = [parse_ranker("bm25"), parse_ranker("bm25 >> rm3")]
    audit = audit_robustness(collection, rankers, checked, measures=[nDCG @ 10, AP], settings=QUICK)
    assert [finding.name for finding in audit.findings] == ["loss of bm25", "loss of bm25 >> rm3", "order of systems"]
    drops = {(one.system, one.measure, one.category): one.drop for one in audit.drops}
    assert drops["bm25", "nDCG@10", "ordering"] == pytest.approx(0, abs=1e-12)
    assert drops["bm25", "nDCG@10", "misspelling"] > 0.02
    assert len(audit.comparisons) == 2 * 2 * 4
    text = as_text([audit])
    assert "Bonferroni's correction over the 4 methods of each system" in text
    written = {path.name for path in write_report([audit], tmp_path)}
    assert {"report.html", "result.json", "robustness-table_nDCG_10.tex", "robustness-drops.svg"} <= written
    again = audit_robustness(collection, rankers, checked, measures=[nDCG @ 10, AP], settings=QUICK)
    assert as_json([again]) == as_json([audit])


def test_judgments_of_other_documents_are_told(lighthouse):
    collection, checked = lighthouse
    qrels = [one if one.query_id == "101" else one._replace(doc_id=f"x{one.doc_id}") for one in collection.qrels]
    other = Collection.from_records("other", collection.documents(), collection.queries, qrels)
    audit = audit_robustness(other, [parse_ranker("bm25")], checked, measures=[nDCG @ 10], settings=QUICK)
    (finding,) = [one for one in audit.findings if one.name == "judged"]
    assert finding.verdict is Verdict.WARN and "bm25 finds by the original queries 2.0% are judged" in finding.seen


def test_every_section_has_a_name_of_its_own():
    audit = audit_robustness(toy.COLLECTION, [toy.Fragile(), toy.Overlap()], toy.checked(), settings=QUICK)
    names = [section.name for section in audit.sections()]
    kinds = [(type(section).__name__, section.name) for section in audit.sections()]
    assert len(set(kinds)) == len(names)
    assert "failures" in names
    assert "failures" in [finding.name for finding in audit.findings]


def test_too_few_queries_are_unknown():
    audit = audit_robustness(toy.COLLECTION, [toy.Overlap()], toy.checked(), settings=QUICK)
    assert gravest(audit.findings) is Verdict.UNKNOWN
    assert "3 at most" in audit.findings[0].seen


def test_depths_of_re_ranking():
    settings = Settings(replicates=20, depths=(1, 5))
    pipeline = toy.Overlap() >> toy.Overlap(first=1)
    audit = audit_robustness(toy.COLLECTION, [pipeline, toy.Overlap()], toy.checked(), settings=settings)
    assert [(row.system, row.depth) for row in audit.depths] == [(repr(pipeline), 1)] * 3 + [(repr(pipeline), 5)] * 3
    assert "depths" in [section.name for section in audit.sections()]


def test_runs_made_elsewhere_stand_beside_rankers(tmp_path):
    task = make_task(toy.QUERIES, toy.COLLECTION.qrels.topics, toy.checked())
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    for path in write_topics(task, tmp_path / "topics"):
        run = toy.Overlap().rank(toy.COLLECTION, load(queries=path).queries)
        (folder / f"{path.stem}.run").write_text(run.to_trec(), encoding="utf-8")
    audit = audit_robustness(toy.COLLECTION, [toy.Overlap()], toy.checked(), runs=[folder], settings=QUICK)
    here, there = audit.systems
    assert there.values.system == "elsewhere"
    assert [one.varied for one in here.comparisons] == [one.varied for one in there.comparisons]


def test_systems_must_be_there_and_have_names_of_their_own():
    with pytest.raises(InputError, match="no system"):
        audit_robustness(toy.COLLECTION, [], toy.checked())
    with pytest.raises(InputError, match="two systems are named 'Overlap'"):
        audit_robustness(toy.COLLECTION, [toy.Overlap(), toy.Overlap()], toy.checked())


def drop(value: float, queries: int = 50) -> CategoryDrop:
    return CategoryDrop("s", "nDCG@10", "misspelling", queries, 60, 0.5, 0.4, value, Interval(0, 1), value, 0)


@pytest.mark.parametrize(
    ("drops", "verdict"),
    [
        ([drop(0.10)], Verdict.PASS),
        ([drop(0.25), drop(0.0)], Verdict.WARN),
        ([drop(0.2), drop(0.26)], Verdict.FAIL),
        ([drop(0.9, queries=9)], Verdict.UNKNOWN),
        ([drop(0.9, queries=9), drop(0.01)], Verdict.PASS),
        ([drop(-0.2)], Verdict.PASS),
    ],
)
def test_the_worst_category_decides(drops, verdict):
    assert rules.survives(drops).verdict is verdict


def test_nothing_to_lose_is_said_as_it_is():
    finding = rules.survives([replace(drop(0.0), original=0.0, varied=0.0)])
    assert finding.verdict is Verdict.UNKNOWN
    assert "nDCG@10 is 0 for the original queries already, over 50 queries" in finding.seen


def test_a_depth_needs_something_to_re_rank():
    with pytest.raises(InputError, match=r"depth of re-ranking \(5\) needs a ranker that ranks again"):
        audit_robustness(toy.COLLECTION, [toy.Overlap()], toy.checked(), settings=Settings(depths=(5,)))


def test_marks_stand_beside_their_numbers(lighthouse):
    collection, checked = lighthouse
    table = audit_robustness(collection, [parse_ranker("bm25")], checked, settings=QUICK).sections()[0]
    assert [column.name for column in table.columns] == ["category", "method", "valid", "bm25", "bm25_mark"]
    assert all(isinstance(row[3], float) and row[4] in ("", "▼", "▲") for row in table.rows)


def test_an_encoder_draws_a_map():
    audit = audit_robustness(
        toy.COLLECTION, [toy.Overlap()], toy.checked(), settings=QUICK, encoder=ENCODERS.parse("hashing")
    )
    (figure,) = [section for section in audit.sections() if section.name == "map"]
    assert [series.name for series in figure.series] == ["original query", "misspelling", "ordering", "recorded"]


def test_a_significant_swap_fails_and_another_warns():
    swap = Swap("nDCG@10", "misspelling", "DeleteChar", "a", "b", 0.1, 0.1, 0.5, 1.0)
    assert rules.same_order([], 2, 3, 10)[0].verdict is Verdict.PASS
    assert rules.same_order([swap], 2, 3, 10)[0].verdict is Verdict.WARN
    assert rules.same_order([swap._replace(p_corrected=0.01)], 2, 3, 10)[0].verdict is Verdict.FAIL
    assert rules.same_order([swap], 1, 3, 10) == ()


def test_an_order_that_stands_without_valid_variations_is_no_pass():
    rows = [one._replace(valid=False) for one in toy.checked()]
    audit = audit_robustness(toy.COLLECTION, [toy.Overlap(), toy.Overlap(first=1)], rows, settings=QUICK)
    verdicts = {finding.name: finding.verdict for finding in audit.findings}
    assert verdicts["order of systems"] is Verdict.UNKNOWN
    assert rules.same_order([], 2, 3, 9)[0].verdict is Verdict.UNKNOWN


def test_the_study_variations_on_the_judged_passages(shared: Path):
    collection = load(shared / "collections" / "dl19-judged")
    labels = read_labels(shared / "robustness" / "variations_trec2019_labeled.csv", collection.notes)
    rows = known_queries([label.variation for label in labels], collection.queries, collection.notes)
    audit = audit_robustness(collection, [parse_ranker("bm25")], check(rows, labels=labels), settings=QUICK)
    assert [one.valid for one in audit.comparisons] == [43, 42, 42, 37, 35, 43, 23, 26, 27, 16]
    assert all(one.queries == 43 for one in audit.comparisons)
    worst = max(audit.drops, key=lambda one: one.drop)
    assert worst.category == "misspelling" and 0.2 < worst.drop < 0.4


def test_a_mean_rank_that_grows_is_a_loss(lighthouse):
    collection, _ = lighthouse
    rows = [Variation(query.query_id, "misspelling", "All", query.title, "zzzz", 1) for query in collection.queries]
    audit = audit_robustness(collection, [parse_ranker("bm25")], check(rows), measures=[MFR @ 10], settings=QUICK)
    finding = audit.findings[0]
    assert finding.verdict is Verdict.FAIL and "lost" in finding.seen
    assert audit.comparisons[0].mark == audit.systems[0].comparisons[0].mark == "▼"


def test_another_mean_than_the_tests_take_is_refused():
    with pytest.raises(InputError, match="harmonic mean, and tests and intervals are of arithmetic ones"):
        audit_robustness(toy.COLLECTION, [toy.Overlap()], toy.checked(), measures=[MFR(mean="harmonic") @ 10])
