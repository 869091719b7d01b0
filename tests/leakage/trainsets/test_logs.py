from __future__ import annotations

from pathlib import Path

import pytest

from ringtrue.data.collection import Collection
from ringtrue.data.formats.tabular import write_log
from ringtrue.data.load import load
from ringtrue.data.records import Document, LogQuery
from ringtrue.errors import InputError
from ringtrue.leakage.search import log_key
from ringtrue.leakage.trainsets.logs import join_logs
from ringtrue.leakage.trainsets.records import Settings, Trainsets
from ringtrue.study.training import LeakSources, make_trainsets

SETTINGS = Settings(kinds=("none", "test"), sizes=(16, 32), encoder="hashing")


@pytest.fixture
def test(world: Collection) -> Collection:
    """The topics without their log."""
    return Collection.from_records("test", world.documents(), world.queries, world.qrels)


def _log(path: Path, world: Collection, source: str, prefix: str = "") -> str:
    own = (query for query in world.log() if query.source == source)
    write_log(path, [query._replace(query_id=prefix + query.query_id, source="") for query in own])
    return str(path)


def _make(test: Collection, *train: str, **given: Path) -> Trainsets:
    return make_trainsets(test, train, LeakSources(), SETTINGS, documents=given.get("documents"))


def test_a_log_without_documents_names_those_of_the_collection(
    world: Collection, test: Collection, tmp_path: Path
) -> None:
    path = _log(tmp_path / "log.jsonl", world, "web")
    made = _make(test, path)
    assert made.find("none", 32).by_source == {"log": 16}
    assert made.prefix == "" and made.inputs["train"] == log_key(load(path))
    known = {document.doc_id for document in world.documents()}
    assert all(triple.positive in known for one in made.sets for triple in one.triples)


def test_several_logs_are_a_source_each(world: Collection, test: Collection, tmp_path: Path) -> None:
    logs = [_log(tmp_path / f"{name}.jsonl", world, name) for name in ("web", "questions")]
    assert _make(test, *logs).find("none", 32).by_source == {"questions": 8, "web": 8}
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
    logs = [_log(tmp_path / n / "log.jsonl", world, s) for n, s in (("a", "web"), ("b", "questions"))]
    assert _make(test, *logs).find("none", 32).by_source == dict.fromkeys(logs, 8)


def test_a_joined_log_reads_the_same_in_lines_and_in_columns(world: Collection, tmp_path: Path) -> None:
    logs = [load(_log(tmp_path / f"{name}.jsonl", world, name)) for name in ("web", "questions")]
    joined = join_logs(logs, world)
    lines = [(one.query_id, one.text, one.source) for one in joined.log()]
    columns = [line for block in joined.log_blocks(7) for line in zip(block.ids, block.texts, block.sources)]  # noqa: B905
    assert lines == columns and {line[2] for line in lines} == {"web", "questions"}
    assert log_key(joined) != log_key(join_logs(logs[::-1], world)) != log_key(logs[0])


def test_documents_of_the_training_side_may_be_given_apart(test: Collection, tmp_path: Path) -> None:
    log = [LogQuery(f"q{n}", f"query number{n} alpha{n} things", "", (f"other-{n}",)) for n in range(40)]
    write_log(tmp_path / "log.jsonl", log)
    lines = [f'{{"_id": "other-{n}", "text": "quite other things number{n} beta{n}"}}' for n in range(40)]
    (tmp_path / "corpus.jsonl").write_text("\n".join(lines))
    with pytest.raises(InputError, match=r"none of the 40 documents that 'log' names .*--train-documents"):
        _make(test, str(tmp_path / "log.jsonl"))
    made = _make(test, str(tmp_path / "log.jsonl"), documents=tmp_path / "corpus.jsonl")
    rest = [triple for triple in made.find("none", 32).triples]
    assert made.prefix == "test/" and all(triple.positive.startswith("train/other-") for triple in rest)


def test_what_cannot_be_trained_on_is_found_before_a_search(
    world: Collection, test: Collection, tmp_path: Path
) -> None:
    (tmp_path / "bare.tsv").write_text("q1\tsome words\nq2\tmore words\n")
    with pytest.raises(InputError, match="no query of 'bare' names a document"):
        _make(test, str(tmp_path / "bare.tsv"))
    logs = [_log(tmp_path / f"{name}.jsonl", world, "web") for name in ("a", "b")]
    with pytest.raises(InputError, match="query ids are both in a and in b, such as 'w-bees-0'; make them distinct"):
        _make(test, *logs)
    with pytest.raises(InputError, match="two of the training logs are named"):
        _make(test, logs[0], logs[0])
    bare = Collection.from_records("bare", None, world.queries, world.qrels)
    with pytest.raises(InputError, match="come without documents"):
        join_logs([load(logs[0])], bare)
    one, two = (
        Collection.from_records(
            name, [Document(f"{name}-d", "text")], (), (), [LogQuery(name, "q", "", (f"{name}-d",))]
        )
        for name in ("one", "two")
    )
    with pytest.raises(InputError, match=r"one and two have different documents; .*--train-documents"):
        join_logs([one, two], test)
    empty = Collection.from_records("empty", [Document("d", "text")])
    with pytest.raises(InputError, match="no training queries"):
        join_logs([empty], test)
