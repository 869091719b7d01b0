from __future__ import annotations

import json
import math
from dataclasses import replace
from importlib.resources import files

import pytest
from ir_measures import nDCG

from ringtrue.audit import Figure, Interval, Table, Verdict, gravest
from ringtrue.data.collection import Collection
from ringtrue.data.load import load
from ringtrue.data.notes import Note
from ringtrue.data.qrels import Qrels
from ringtrue.data.records import Qrel
from ringtrue.data.runs import Run, RunSet, run_files
from ringtrue.leakage import rules
from ringtrue.leakage.audit import LeakageAudit, audit_leakage
from ringtrue.leakage.candidates import Candidate
from ringtrue.leakage.choice import Choice, Counted, leaked_topics
from ringtrue.leakage.impact import measure_impact
from ringtrue.leakage.pairs import find_leaked_pairs
from ringtrue.leakage.result import Impact, PairLeakage, Recall, SearchResult
from ringtrue.report.html import as_html
from ringtrue.report.json import as_json


def candidate(topic_id: str, query_id: str, similarity: float = 0.95, probability: float | None = 0.9) -> Candidate:
    return Candidate(
        topic_id=topic_id, field="title", text="lamp oil", query_id=query_id, query="oil of lamps",
        similarity=similarity, type="identical", probability=probability, source="web",
    )  # fmt: skip


def search(*candidates: Candidate, topics: int = 50, log_size: int = 1000, **more: object) -> SearchResult:
    ids = tuple(str(101 + place) for place in range(topics))
    return replace(SearchResult(candidates, ids, 0.91, "hashing", log_size), **more)  # type: ignore[arg-type]


def verdicts(audit: LeakageAudit) -> dict[str, Verdict]:
    return {finding.name: finding.verdict for finding in audit.findings}


@pytest.fixture(scope="module")
def lighthouse() -> Collection:
    return load("builtin:lighthouse")


@pytest.fixture(scope="module")
def planted(lighthouse: Collection) -> SearchResult:
    lines = files("ringtrue.data").joinpath("lighthouse/leaks.jsonl").read_text(encoding="utf-8").splitlines()
    log = {entry.query_id: entry for entry in lighthouse.log()}
    found = []
    for place, row in enumerate(map(json.loads, lines)):
        if row["type"] != "different-topic":
            entry = log[row["query_id"]]
            similarity = 0.915 + place % 9 / 100
            found.append(
                Candidate(
                    topic_id=row["topic_id"], field="title", text="", query_id=entry.query_id, query=entry.text,
                    similarity=similarity, type=row["type"], probability=0.9, source=entry.source,
                )
            )  # fmt: skip
    topics = tuple(query.query_id for query in lighthouse.queries)
    return SearchResult(tuple(found), topics, 0.91, "hashing", len(log))


@pytest.fixture(scope="module")
def whole(lighthouse: Collection, planted: SearchResult) -> LeakageAudit:
    assert lighthouse.runs_folder is not None
    runs = RunSet.read(run_files(lighthouse.runs_folder), cached=False)
    topics = leaked_topics(planted.candidates)
    impact = measure_impact(runs, lighthouse.qrels, topics, replicates=200, permutations=500)
    pairs = find_leaked_pairs(lighthouse.positives(), lighthouse.qrels, planted.candidates)
    return audit_leakage(planted, impact=impact, pairs=pairs)


def test_lighthouse_leaks_but_its_systems_never_saw_the_log(whole):
    assert verdicts(whole) == {
        "leaked topics": Verdict.FAIL,
        "leaked documents": Verdict.FAIL,
        "order of systems": Verdict.PASS,
        "gain on leaked topics": Verdict.PASS,
    }
    share = whole.findings[0]
    assert share.figure == 26 / 50
    assert share.interval is not None and share.interval[:2] == pytest.approx((0.3851, 0.6520), abs=1e-4)
    assert "26 of 50 topics (52%)" in share.seen and "by 258 pairs" in share.seen
    assert "232.2 true leaks are expected in 23.4 topics" in share.seen


def test_sections_hold_the_evidence_and_can_be_rendered(whole):
    sections = {section.name: section for section in whole.sections() if isinstance(section, Table)}
    assert list(sections) == [
        "fields", "types", "topics", "impact", "order", "swaps", "candidates", "pairs", "documents",
    ]  # fmt: skip
    assert [column.name for column in sections["candidates"].columns] == [
        "topic_id", "field", "text", "query_id", "query", "similarity", "type", "probability", "source",
    ]  # fmt: skip
    assert len(sections["candidates"].rows) == 258 and len(sections["topics"].rows) == 26
    figures = {section.name: section for section in whole.sections() if isinstance(section, Figure)}
    assert {name: figure.kind for name, figure in figures.items()} == {"similarities": "bars", "impact": "dots"}
    assert sum(point.y for point in figures["similarities"].series[0].points) == 258
    told = json.loads(as_json([whole]))["audits"][0]
    assert (told["name"], told["verdict"]) == ("leakage", "FAIL")
    assert told["title"].endswith("?")
    assert told["provenance"]["components"] == ["hashing"]
    assert told["provenance"]["settings"]["threshold"] == 0.91
    assert "Pairs of systems that change places" in as_html([whole])
    assert as_json([whole]) == as_json([whole])


def test_the_histogram_has_every_bin_and_holds_1():
    leaks = [candidate("101", "a", 0.92), candidate("101", "b", 0.951), candidate("101", "c", 1.0000008)]
    figure = next(one for one in audit_leakage(search(*leaks)).sections() if isinstance(one, Figure))
    points = figure.series[0].points
    assert [point.x for point in points] == [0.92, 0.93, 0.94, 0.95, 0.96, 0.97, 0.98, 0.99]
    assert [point.y for point in points] == [1, 0, 0, 1, 0, 0, 0, 1]


@pytest.mark.parametrize(
    ("candidates", "verdict"),
    [
        ((), Verdict.PASS),
        ((candidate("101", "a", probability=0.2), candidate("102", "b", probability=0.2)), Verdict.PASS),
        ((candidate("101", "a", probability=0.2), candidate("102", "b", probability=None)), Verdict.WARN),
        ((candidate("101", "a"),), Verdict.WARN),
        (tuple(candidate(str(101 + place), f"q{place}") for place in range(5)), Verdict.WARN),
        (tuple(candidate(str(101 + place), f"q{place}") for place in range(6)), Verdict.FAIL),
        ((candidate("101", "a", 0.91), candidate("102", "b", 0.90)), Verdict.PASS),
    ],
)
def test_the_share_of_leaked_topics_decides(candidates, verdict):
    assert verdicts(audit_leakage(search(*candidates)))["leaked topics"] is verdict


def test_nothing_searched_is_unknown():
    assert verdicts(audit_leakage(search(topics=0)))["leaked topics"] is Verdict.UNKNOWN
    assert verdicts(audit_leakage(search(log_size=0)))["leaked topics"] is Verdict.UNKNOWN


def test_without_leaks_the_order_cannot_change_and_without_runs_it_is_unknown():
    clean = audit_leakage(search())
    assert gravest(clean.findings) is Verdict.PASS
    assert [section.name for section in clean.sections()] == ["definitions"]
    assert verdicts(audit_leakage(search(candidate("101", "a")))) == {
        "leaked topics": Verdict.WARN,
        "order of systems": Verdict.UNKNOWN,
    }


def two_systems(trained: list[int], plain: list[int], leaked: int) -> Impact:
    """Two systems with a relevant document (1) or none (0) at the first rank of each topic."""
    topics = [str(101 + place) for place in range(len(trained))]
    qrels = Qrels.from_records(Qrel(topic, "good", 1) for topic in topics)
    runs = RunSet.from_runs(
        Run.from_results(
            name, {topic: [("good" if hit else "bad", 1.0)] for topic, hit in zip(topics, hits, strict=True)}
        )
        for name, hits in (("trained", trained), ("plain", plain))
    )
    return measure_impact(runs, qrels, topics[:leaked], permutations=500, replicates=100)


def test_a_significant_swap_fails():
    impact = two_systems([1] * 20 + [0] * 20, [0] * 20 + [1] * 10 + [0] * 10, 20)
    audit = audit_leakage(search(candidate("101", "a")), impact=impact)
    assert verdicts(audit)["order of systems"] is Verdict.FAIL
    assert verdicts(audit)["gain on leaked topics"] is Verdict.WARN
    seen = {finding.name: finding.seen for finding in audit.findings}
    assert "1 of 1 pairs of systems change places, 1 of them significantly" in seen["order of systems"]
    assert "the best system is plain then, not trained." in seen["order of systems"]
    assert "1 of 2 systems gains significantly; the largest gain is that of trained" in seen["gain on leaked topics"]


def test_a_change_beyond_chance_without_a_significant_swap_warns(whole):
    assert whole.impact is not None and whole.impact.order is not None
    order = replace(whole.impact.order, p_tau_ap_b=0.01)
    audit = replace(whole, impact=replace(whole.impact, order=order))
    assert verdicts(audit)["order of systems"] is Verdict.WARN


def test_systems_that_are_all_alike_have_no_order_to_pass():
    audit = audit_leakage(search(candidate("101", "a")), impact=two_systems([1] * 20, [1] * 20, 10))
    assert verdicts(audit)["order of systems"] is Verdict.UNKNOWN


def test_a_gain_that_could_never_be_significant_is_unknown():
    impact = two_systems([1, 0] * 10, [0, 1] * 10, 10)
    assert (
        verdicts(audit_leakage(search(candidate("101", "a")), impact=impact))["gain on leaked topics"] is Verdict.PASS
    )
    few = replace(impact, settings={**impact.settings, "permutations": 39})  # p is 1/40 at least, 2/40 after Holm
    finding = rules.gain_on_leaked_topics(few)
    assert finding.verdict is Verdict.UNKNOWN and "no gain, however large" in finding.seen
    assert replace(impact, clean=impact.clean[:5], leaked=impact.leaked[:5]).least_p == 1 / math.comb(10, 5)


def test_too_few_topics_and_one_system_are_unknown():
    few = audit_leakage(search(candidate("101", "a")), impact=two_systems([1] * 20, [0] * 20, 4))
    assert verdicts(few)["order of systems"] is verdicts(few)["gain on leaked topics"] is Verdict.UNKNOWN
    assert "4 leaked and 16 clean topics are judged; at least 5" in few.findings[1].seen
    impact = two_systems([1] * 20, [0] * 20, 10)
    alone = replace(impact, systems=(replace(impact.systems[0], relative=None, p_holm=None),), order=None)
    audit = audit_leakage(search(candidate("101", "a")), impact=alone)
    assert verdicts(audit)["order of systems"] is verdicts(audit)["gain on leaked topics"] is Verdict.UNKNOWN


def test_a_choice_narrows_what_counts():
    found = search(candidate("101", "a", probability=0.9), candidate("102", "b", probability=0.4))
    audit = audit_leakage(found, choice=Choice(0.91, Counted.LIKELY, 0.5))
    assert [leak.query_id for leak in audit.leaks] == ["a"]
    assert "similarity above 0.91 and probability above 0.5" in audit.findings[0].rule


def test_a_cascade_has_to_reach_the_recall_that_was_asked_for():
    good = Recall(0.9996, Interval(0.9991, 0.9999), 0.999)
    poor = Recall(0.9985, Interval(0.9961, 0.9996), 0.999)
    assert verdicts(audit_leakage(search(recall=good)))["search recall"] is Verdict.PASS
    finding = audit_leakage(search(recall=poor)).findings[1]
    assert (finding.verdict, finding.figure, finding.interval) == (Verdict.WARN, 0.9985, poor.interval)
    assert "allow more" in finding.seen
    full = audit_leakage(search(recall=replace(poor, exhausted=True))).findings[1].seen
    assert "allow more" not in full and full.endswith("search exactly.")


def test_documents_without_positives_are_unknown_and_without_leaks_pass():
    none = PairLeakage(0, 10, 0, (), ())
    leaking = search(candidate("101", "a", 0.97))
    assert verdicts(audit_leakage(leaking, pairs=none))["leaked documents"] is Verdict.UNKNOWN
    assert verdicts(audit_leakage(search(), pairs=none))["leaked documents"] is Verdict.PASS
    qrels = Qrels.from_records([Qrel("101", "a", 1)])
    pairs = find_leaked_pairs([], qrels, ())
    shared = replace(pairs, positives=5)
    assert verdicts(audit_leakage(search(), pairs=shared))["leaked documents"] is Verdict.PASS
    finding = audit_leakage(leaking, pairs=shared).findings[1]  # nothing in common may be two numberings
    assert finding.verdict is Verdict.UNKNOWN and "check that these are of one" in finding.seen


def test_several_rows_of_one_pair_count_once():
    best = candidate("101", "a", 0.97)
    audit = audit_leakage(search(best._replace(field="description", similarity=0.93), best))
    assert audit.leaks == (best,)
    assert "0.9 true leaks are expected" in audit.findings[0].seen
    fields = next(section for section in audit.sections() if section.name == "fields")
    assert isinstance(fields, Table) and [row[2:] for row in fields.rows] == [(1, 1, 1)] * 3


def test_hits_of_every_field_and_tolerated_lines_are_shown():
    best = candidate("101", "a")
    hits = (best, best._replace(field="description", similarity=0.93), best._replace(field="variant", similarity=0.9))
    audit = audit_leakage(search(best, hits=hits, notes=(Note("blank lines skipped", 2, "log.tsv, line 3"),)))
    tables = {section.name: section for section in audit.sections() if isinstance(section, Table)}
    assert [row[:2] for row in tables["fields"].rows] == [("title", "all"), ("description", "all"), ("union", "all")]
    assert tables["fields"].note == "A pair counts under each field that is similar enough."
    assert tables["tolerated"].rows == (("blank lines skipped", 2, "log.tsv, line 3"),)


def test_candidates_of_a_file_need_no_search():
    audit = audit_leakage(SearchResult((candidate("101", "a", 0.85), candidate("999", "b")), ("101", "102")))
    assert audit.findings[0].seen == (
        "1 of 2 topics (50%) has a leak, by 1 pair of a topic and a query; 0.9 true leaks are expected in 0.9 "
        "topics; 1 more topics have candidates, but are not among these 2."
    )
    assert [section.name for section in audit.sections()] == [
        "fields", "similarities", "types", "topics", "candidates", "definitions",
    ]  # fmt: skip
    assert audit.provenance.components == ()


def test_a_default_threshold_says_where_it_comes_from():
    default, own = (audit_leakage(search(threshold=value)) for value in (0.66, 0.9))
    told, silent = (str(audit.sections()[-1]) for audit in (default, own))
    assert "The threshold of 0.66 is the encoder's default" in told and "827 pairs labelled" in told
    assert "default" not in silent
    assert default.provenance.settings["threshold_is"] == "the encoder's default"
    assert "threshold_is" not in own.provenance.settings


def test_the_measure_stands_in_the_provenance(whole):
    assert whole.impact is not None and whole.impact.measure == nDCG @ 10
    assert whole.provenance.settings["measure"] == "nDCG@10"
    assert whole.provenance.settings["ties"] == "score descending, then document id ascending"
