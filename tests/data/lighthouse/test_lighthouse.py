"""The built-in collection is what its README says."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest
from ir_measures import Judged, nDCG

from ringtrue.data import lighthouse
from ringtrue.data.collection import Collection
from ringtrue.data.groups import group_of_each, read_groups
from ringtrue.data.load import load
from ringtrue.data.notes import Notes
from ringtrue.data.runs import RunSet, run_files
from ringtrue.evaluation.measures import evaluate

FOLDER = Path(lighthouse.__file__).parent


@pytest.fixture(scope="module")
def collection() -> Collection:
    return load("builtin:lighthouse")


@pytest.fixture(scope="module")
def leaks() -> list[dict[str, str]]:
    return [json.loads(line) for line in (FOLDER / "leaks.jsonl").read_text(encoding="utf-8").splitlines()]


def test_it_is_small():
    assert sum(file.stat().st_size for file in FOLDER.rglob("*") if file.is_file()) < 3_000_000


def test_documents_and_topics(collection):
    documents = list(collection.documents())
    assert len(documents) == 336
    assert len({document.doc_id.split("-")[0] for document in documents}) == 12
    assert all(40 <= len(document.text.split()) <= 130 and document.title for document in documents)
    assert len(collection.queries) == 50
    for query in collection.queries:
        assert query.title and query.description and query.narrative
        assert len({variant.lower() for variant in query.variants} - {query.title.lower()}) >= 5


def test_judgments(collection):
    assert set(collection.qrels.relevance.tolist()) == {0, 1, 2, 3}
    known = {document.doc_id for document in collection.documents()}
    assert set(collection.qrels.docs) <= known
    relevant = Counter(judgment.query_id for judgment in collection.qrels if judgment.relevance > 0)
    assert min(relevant[query.query_id] for query in collection.queries) >= 4


def test_log(collection):
    log = list(collection.log())
    assert len(log) >= 3000
    assert len({query.query_id for query in log}) == len({query.text.lower() for query in log}) == len(log)
    known = {document.doc_id for document in collection.documents()}
    assert all(query.doc_ids and set(query.doc_ids) <= known for query in log)
    assert {query.source for query in log} == {"web", "questions"}


def test_leaks_of_every_type_are_planted_and_some_topics_are_clean(collection, leaks):
    types = Counter(leak["type"] for leak in leaks)
    assert set(types) == {"identical", "generalization", "specialization", "reformulation", "different-topic"}
    assert min(types.values()) >= 50
    log = {query.query_id: query.text for query in collection.log()}
    topics = {query.query_id: query for query in collection.queries}
    assert all(leak["query_id"] in log and leak["topic_id"] in topics for leak in leaks)
    leaked = {leak["topic_id"] for leak in leaks if leak["type"] != "different-topic"}
    assert len(leaked) == 26


def test_systems_differ(collection):
    runs = RunSet.read(run_files(FOLDER / "runs"))
    groups = group_of_each(runs.names, read_groups(FOLDER / "groups.csv", Notes()), FOLDER / "groups.csv")
    assert len(runs) >= 24 and len(set(groups)) == 8
    scores = evaluate(runs, collection.qrels, [nDCG @ 10, Judged @ 10])
    means = dict(zip(runs.names, scores.means(nDCG @ 10), strict=True))
    assert 0.4 < means["harbour_bm25"] < 0.8
    assert max(means.values()) - min(means.values()) > 0.4
    assert scores.of(Judged @ 10).min() == 1


def test_readme_counts_are_true(collection):
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    numbers = {int(number.replace(",", "")) for number in re.findall(r"\b[\d,]*\d\b", text)}
    assert {336, 50, len(collection.qrels), len(list(collection.log()))} <= numbers
