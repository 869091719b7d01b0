import json

import pytest

from ringtrue.annotate.adjudication import Adjudication
from ringtrue.annotate.session import Session
from ringtrue.annotate.store import Answered
from ringtrue.errors import InputError
from ringtrue.leakage.exchange import read_labels
from ringtrue.leakage.labels import summarise

SAID = {
    "anna": {
        "q1": ["Title-Identical"],
        "q2": ["Different Topic"],
        "q3": ["Title-Specialization"],
        "q4": [],
        "q5": [],
        "q6": [],
    },
    "ben": {"q1": ["Title-Identical"], "q2": ["Title-Identical"], "q4": ["Title-Identical"], "q6": []},
}


@pytest.fixture
def files(tmp_path):
    paths = []
    for name, said in SAID.items():
        rows = [
            {"topic_id": "1", "query_id": query_id, "text": f"query {query_id}", "title": "a query", "label": labels}
            for query_id, labels in said.items()
        ]
        paths.append(tmp_path / f"{name}.jsonl")
        paths[-1].write_text("".join(json.dumps(row) + "\n" for row in rows))
    return paths


def test_only_what_is_not_said_alike_is_asked(files):
    tasks = Adjudication.read(files).tasks
    assert [task.key for task in tasks] == ["1\tq2", "1\tq3", "1\tq4"]
    said = [(shown.name, shown.text) for shown in tasks[0].background]
    assert said == [("anna", "Different Topic"), ("ben", "Title-Identical")]
    assert tasks[1].background[1].text == "no label"


def test_decisions_stand_beside_what_is_agreed(files, tmp_path):
    session = Session.open(*files)
    session.store.save("carl", "1\tq2", Answered({"title": "different-topic"}))
    (path,) = session.write_all(tmp_path)
    assert path.name == "anna-adjudicated-by-carl.jsonl"
    assert [pair.labels for pair in read_labels(path)] == [("Title-Identical",), ("Different Topic",), (), (), (), ()]


def test_people_who_agree(files):
    with pytest.raises(InputError, match="two of the 2 files have one name"):
        Adjudication.read([files[0], files[0]])
    same = files[0].with_name("carl.jsonl")
    same.write_text(files[1].read_text())
    files[0].write_text(files[1].read_text())
    with pytest.raises(InputError, match="anna, carl agree on all 3 pairs that they labelled"):
        Adjudication.read([files[0], same])
    for path in (files[0], same):
        path.write_text(path.read_text().replace("Title-Identical", "").replace('[""]', "[]"))
    with pytest.raises(InputError, match="anna, carl labelled no pair; there is nothing to decide"):
        Adjudication.read([files[0], same])


def test_the_studys_two_annotators(shared, tmp_path):
    """Whoever decides as the study did gets the study's adjudicated labels for all pairs that were in dispute."""
    folder = shared / "leakage" / "annotations"
    first, second = sorted((folder / "annotator-agreement").glob("*-by-*.jsonl"))
    session = Session.open(first, second, store=tmp_path / "answers.sqlite")
    decided = {
        f"{pair.topic_id}\t{pair.query_id}": pair
        for pair in read_labels(
            folder / "query-reformulation-classification-iteration-01-annotated-by-maik-and-cakiki.jsonl"
        )
    }
    assert len(decided) == 103 > len(session.work.tasks) > 20
    for task in session.work.tasks:
        is_leak = "Different Topic" not in decided[task.key].labels
        kind = "reformulation" if is_leak else "different-topic"
        session.store.save("both", task.key, Answered({question.name: kind for question in task.questions}))
    (path,) = session.write_all(tmp_path)
    counts = summarise(read_labels(path)).counts[0]
    expected = sum("Different Topic" in pair.labels for pair in decided.values())
    assert counts.false_queries == expected
