import json

import pytest

from ringtrue.annotate.leaks import Leaks
from ringtrue.annotate.session import Session
from ringtrue.annotate.store import Answered
from ringtrue.annotate.tasks import missing, sensible
from ringtrue.errors import InputError
from ringtrue.leakage.exchange import read_labels

ROWS = [
    {"text": "bear attack", "label": [], "title": "Bear attacks", "topic_id": "1", "variant": "bears that attack",
     "description": "When do bears attack?", "query_id": "q1", "similarity": 0.95},
    {"text": "bears attack", "label": ["Title-Identical", "Variant-Identical"], "title": "Bear attacks", 
     "topic_id": "1", "variant": "bear  ATTACKS", "query_id": "q2", "similarity": 0.9},
]  # fmt: skip


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "pairs.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return path


def test_what_is_asked_of_a_pair(file):
    first, second = Leaks.read(file).tasks
    assert first.heading == "Topic 1"
    assert [shown.text for shown in first.texts] == ["bear attack", "Bear attacks", "bears that attack"]
    assert [(shown.name, shown.text) for shown in first.background] == [("Description", "When do bears attack?")]
    assert [question.name for question in first.questions] == ["title", "variant"]
    assert [question.name for question in second.questions] == ["title"], "the nearest text is the title"
    assert (first.given, second.given) == ({}, {"title": "identical", "variant": "identical"})


def test_the_similarity_is_shown_only_where_asked(file):
    assert "Similarity" not in [shown.name for task in Leaks.read(file).tasks for shown in task.background]
    assert Leaks.read(file, similarity=True).tasks[0].background[-1].text == "0.9500"


@pytest.mark.parametrize(
    ("answers", "labels"),
    [
        ({"title": "specialization", "variant": "identical"}, ("Title-Specialization", "Variant-Identical")),
        ({"title": "different-topic"}, ("Different Topic",)),
        ({}, ()),
    ],
)
def test_labels_are_read_back_by_the_pillar(file, tmp_path, answers, labels):
    work = Leaks.read(file)
    work.write(tmp_path / "out.jsonl", {work.tasks[0].key: answers}, "anna")
    read = read_labels(tmp_path / "out.jsonl")
    assert [pair.labels for pair in read] == [labels, ()]
    assert [(pair.topic_id, pair.query_id, pair.query) for pair in read] == [
        ("1", "q1", "bear attack"),
        ("1", "q2", "bears attack"),
    ]


def test_one_answer_is_enough_where_the_title_is_nearest(file, tmp_path):
    work = Leaks.read(file)
    work.write(tmp_path / "out.csv", {work.tasks[1].key: {"title": "reformulation"}}, "anna")
    assert read_labels(tmp_path / "out.csv")[1].labels == ("Title-Reformulation", "Variant-Reformulation")


def test_what_is_missing(file):
    task = Leaks.read(file).tasks[0]
    assert missing(task, {}) == "How does the query relate to the title?"
    assert missing(task, {"title": "identical"}) == "And to the nearest text of the topic?"
    assert missing(task, {"title": "nonsense", "variant": "identical"}) is not None
    assert missing(task, {"title": "different-topic"}) is None
    assert sensible(task, {"title": "different-topic", "variant": "identical", "other": "x"}) == {
        "title": "different-topic"
    }


def test_a_pair_that_comes_twice(tmp_path):
    path = tmp_path / "twice.jsonl"
    path.write_text(json.dumps(ROWS[0]) + "\n" + json.dumps(ROWS[0]) + "\n")
    with pytest.raises(InputError, match="topic '1' and query 'q1' come twice"):
        Leaks.read(path)


def test_the_studys_labels_given_again_are_its_table(shared, tmp_path):
    """Whoever answers as the study's files do gets the study's labels back."""
    source = shared / "leakage/annotations/query-reformulation-classification-iteration-04-annotated-by-maik.jsonl"
    session = Session.open(source, store=tmp_path / "answers.sqlite")
    for task in session.work.tasks:
        session.store.save("maik", task.key, Answered(sensible(task, task.given)))
    (path,) = session.write_all(tmp_path)
    before, after = read_labels(source), read_labels(path)
    plain = [pair for pair in before if "Different Topic" not in pair.labels and len(pair.labels) == 2]
    again = {(pair.topic_id, pair.query_id): set(pair.labels) for pair in after}
    assert len(plain) > 50
    other = [pair for pair in plain if again[pair.topic_id, pair.query_id] != set(pair.labels)]
    # one query is the title and the nearest text, and was labelled as two relations to one text
    assert [(pair.query, pair.title, pair.text) for pair in other] == [("federal minimum wage increase",) * 3]
    different = [pair for pair in before if "Different Topic" in pair.labels]
    assert {frozenset(again[pair.topic_id, pair.query_id]) for pair in different} == {frozenset({"Different Topic"})}
