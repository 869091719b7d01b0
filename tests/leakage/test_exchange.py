from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from ringtrue.data.notes import Notes
from ringtrue.errors import FormatError, InputError
from ringtrue.leakage.exchange import read_label_files, read_labels, write_labels
from ringtrue.leakage.labels import LabelledPair

STUDY = {
    "id": 7, "data": "black bear", "label": ["Title-Generalization", "Variant-Identical"],
    "title": "Black Bear Attacks", "topic": "336", "variant": "black bear", "narrative": "n", "description": "d",
    "ms-marco-qid": 2090340, "cosine_similarity": 0.95,
}  # fmt: skip


def same(pairs: tuple[LabelledPair, ...]) -> list[LabelledPair]:
    return [pair._replace(row="", source="") for pair in pairs]


def test_a_doccano_row_is_read(tmp_path: Path):
    (tmp_path / "a.jsonl").write_text(json.dumps(STUDY) + "\n")
    (pair,) = read_labels(tmp_path / "a.jsonl")
    assert pair[:9] == (
        "336", "2090340", "black bear", "Black Bear Attacks", "black bear", 0.95,
        ("Title-Generalization", "Variant-Identical"), 1.0, "a.jsonl",
    )  # fmt: skip


def test_lines_come_back_byte_for_byte_however_they_are_spelt(tmp_path: Path):
    lines = [
        json.dumps(STUDY),
        json.dumps(STUDY, separators=(",", ":")),
        json.dumps({**STUDY, "data": "señor 🐻"}),
        json.dumps({**STUDY, "data": "señor 🐻"}, ensure_ascii=False),
        '{"text":"x", "topic_id" : 3,"query_id":"q","similarity":1.50e-1, "label":[]}',
    ]
    (tmp_path / "in.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    write_labels(tmp_path / "out.jsonl", read_labels(tmp_path / "in.jsonl"))
    assert (tmp_path / "out.jsonl").read_bytes() == (tmp_path / "in.jsonl").read_bytes()


def test_a_changed_label_changes_nothing_else(tmp_path: Path):
    (tmp_path / "in.jsonl").write_text(json.dumps(STUDY) + "\n")
    (pair,) = read_labels(tmp_path / "in.jsonl")
    write_labels(tmp_path / "out.jsonl", [pair._replace(labels=("Different Topic",))])
    assert json.loads((tmp_path / "out.jsonl").read_text()) == {**STUDY, "label": ["Different Topic"]}


def test_every_annotation_file_comes_back_byte_for_byte(shared: Path, tmp_path: Path):
    files = sorted((shared / "leakage" / "annotations").rglob("*.jsonl"))
    assert len(files) == 12
    for path in files:
        pairs = read_labels(path)
        write_labels(tmp_path / "out.jsonl", pairs)
        assert (tmp_path / "out.jsonl").read_bytes() == path.read_bytes()
        for ending in (".json", ".csv"):
            write_labels(tmp_path / f"out{ending}", pairs)
            assert same(read_labels(tmp_path / f"out{ending}")) == same(pairs)


def test_label_studio_and_back_gives_the_lines_of_doccano(shared: Path, tmp_path: Path):
    path = next((shared / "leakage" / "annotations").glob("*-04-annotated-by-maik.jsonl"))
    write_labels(tmp_path / "tasks.json", read_labels(path))
    write_labels(tmp_path / "out.jsonl", read_labels(tmp_path / "tasks.json"))
    assert (tmp_path / "out.jsonl").read_bytes() == path.read_bytes()


def test_label_studio_tasks_with_several_people(tmp_path: Path):
    def done(who: object, *labels: str, cancelled: bool = False) -> dict[str, object]:
        result = [{"type": "choices", "value": {"choices": list(labels)}}]
        return {"completed_by": who, "was_cancelled": cancelled, "result": result}

    data = {"text": "bears", "topic_id": "1", "query_id": "q", "title": "t", "variant": "v", "similarity": 0.9}
    tasks = [
        {"id": 1, "data": data, "annotations": [done(3, "Title-Identical"), done({"email": "a@b"}, "Different Topic")]},
        {"id": 2, "data": {**data, "query_id": "r"}, "annotations": [done(3, "Title-Identical", cancelled=True)]},
        {"id": 3, "data": {**data, "query_id": "s"}},
    ]  # fmt: skip
    (tmp_path / "tasks.json").write_text(json.dumps(tasks, indent=2))
    notes = Notes()
    pairs = read_labels(tmp_path / "tasks.json", notes)
    assert [(pair.query_id, pair.labels, pair.source) for pair in pairs] == [
        ("q", ("Title-Identical",), "3"),
        ("q", ("Different Topic",), "a@b"),
        ("r", (), "tasks.json"),
        ("s", (), "tasks.json"),
    ]
    assert [(note.what, note.times) for note in notes] == [("annotations that were cancelled, skipped", 1)]


def test_the_short_export_of_label_studio(tmp_path: Path):
    row = {
        "id": 1,
        "data": "bears",
        "topic": "1",
        "query_id": 5,
        "label": {"choices": ["Title-Identical", "Variant-Identical"]},
    }
    rows = [row, {**row, "query_id": 6, "label": "Different Topic", "annotator": 9}]
    (tmp_path / "short.json").write_text(json.dumps(rows))
    pairs = read_labels(tmp_path / "short.json")
    assert [(pair.query_id, pair.labels, pair.source) for pair in pairs] == [
        ("5", ("Title-Identical", "Variant-Identical"), "short.json"),
        ("6", ("Different Topic",), "9"),
    ]


def test_csv_for_people_with_a_spreadsheet(tmp_path: Path):
    pairs = [
        LabelledPair("1", "q", 'say "hi", bear', "t", "v", 0.5, ("Title-Identical", "Variant-Identical"), 2.5),
        LabelledPair("1", "r", "x", "t", "v", None, ()),
    ]
    write_labels(tmp_path / "labels.csv", pairs)
    with open(tmp_path / "labels.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert rows[0]["label"] == "Title-Identical|Variant-Identical"
    assert same(read_labels(tmp_path / "labels.csv")) == pairs


@pytest.mark.parametrize(
    ("cell", "labels"),
    [
        ("Title-Identical#Variant-Identical", ("Title-Identical", "Variant-Identical")),
        ('"{""choices"": [""Title-Identical"", ""Variant-Identical""]}"', ("Title-Identical", "Variant-Identical")),
        ("Different Topic", ("Different Topic",)),
        ("{broken", ("{broken",)),
    ],
)
def test_csv_as_the_tools_export_it(tmp_path: Path, cell, labels):
    (tmp_path / "export.csv").write_text(f"annotator,topic,ms-marco-qid,text,label\n1,301,5,bear,{cell}\n")
    (pair,) = read_labels(tmp_path / "export.csv")
    assert (pair.query, pair.labels) == ("bear", labels)


def test_candidates_with_a_column_of_labels_are_labels(tmp_path: Path):
    row = {"topic_id": "1", "field": "title", "text": "bears", "query_id": "q", "query": "bear", "similarity": 0.9}
    (tmp_path / "c.jsonl").write_text(json.dumps({**row, "label": ["identical"]}) + "\n")
    (pair,) = read_labels(tmp_path / "c.jsonl")
    assert (pair.query, pair.text, pair.labels) == ("bear", "bears", ("identical",))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.jsonl", '{"topic": "1", "data": "x"}\n', "line 1: no query_id: found topic, data; expected query_id or"),
        ("a.jsonl", '{"topic": "1", "data": "x"\n', "line 1: not valid JSON"),
        ("a.jsonl", '{"topic": 1.5, "data": "x", "qid": 1}\n', "topic id should be text or a whole number, not 1.5"),
        ("a.jsonl", '{"topic": 1, "data": "x", "qid": 1, "label": "Title-Identical"}\n', "should be a list of texts"),
        ("a.json", '[{"id": 1}', "not valid JSON"),
        ("a.json", "[3]", "line 1: a task should be a JSON object, not '3'"),
        ("a.csv", "topic_id,query_id,query,similarity\n1,2,x,near\n", "line 2: the similarity should be a number"),
        ("a.txt", "no table\n", "labels are doccano's JSON Lines"),
    ],
)
def test_broken_files_say_where(tmp_path: Path, name: str, content: str, message: str):
    (tmp_path / name).write_text(content)
    with pytest.raises(FormatError, match=message):
        read_labels(tmp_path / name)


def test_files_one_after_the_other_and_unknown_endings(tmp_path: Path):
    for name in ("a.jsonl", "b.jsonl"):
        (tmp_path / name).write_text(json.dumps(STUDY) + "\n\n")
    notes = Notes()
    pairs = read_label_files([tmp_path / "a.jsonl", tmp_path / "b.jsonl"], notes)
    assert [pair.source for pair in pairs] == ["a.jsonl", "b.jsonl"]
    assert [(note.what, note.times) for note in notes] == [("blank lines skipped", 2)]
    with pytest.raises(InputError, match="end the name with one"):
        write_labels(tmp_path / "labels.xml", pairs)
