from __future__ import annotations

from pathlib import Path

import pytest

from ringtrue.errors import InputError
from ringtrue.study import Study


def study(folder: Path, text: str) -> Study:
    path = folder / "study.toml"
    path.write_text(text)
    return Study.from_toml(path)


def test_paths_are_relative_to_the_file_and_names_stay(tmp_path):
    found = study(
        tmp_path,
        'collection = "irds:a/b"\nqueries = "q.tsv"\nruns = "runs"\ngroups = "tags.csv"\ntrain = "log.tsv"\n'
        'rankers = ["bm25"]\nseed = 7\n',
    )
    assert (found.collection, found.rankers, found.seed) == ("irds:a/b", ("bm25",), 7)
    assert (found.queries, found.runs) == (tmp_path / "q.tsv", tmp_path / "runs")
    assert (found.groups, found.train) == (str(tmp_path / "tags.csv"), str(tmp_path / "log.tsv"))
    assert study(tmp_path, 'groups = "tags"\n').groups == "tags"


def test_the_threshold_is_any_number_that_a_cosine_can_have(tmp_path):
    assert study(tmp_path, "threshold = 0.8\n").threshold == 0.8
    assert study(tmp_path, "threshold = 0\n").threshold == 0
    with pytest.raises(InputError, match="threshold should be a number"):
        study(tmp_path, 'threshold = "high"\n')
    with pytest.raises(InputError, match="a cosine lies between"):
        Study(collection="c", threshold=7).check()
    assert study(tmp_path, 'positives = "pairs.tsv"\n').positives == tmp_path / "pairs.tsv"


def test_files_make_a_collection_too():
    assert Study(queries=Path("q.tsv")).or_builtin().collection is None
    assert Study(qrels=Path("q.txt")).or_builtin().collection == "builtin:lighthouse"
    assert isinstance(Study().or_builtin(), Study)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (Study(runs=Path("r"), train="log.tsv"), "--train needs the test topics"),
        (Study(runs=Path("r"), variants=Path("v")), "--variants needs the test topics"),
        (Study(runs=Path("r"), rankers=("bm25",)), "--ranker needs the test topics"),
        (Study(collection="c", variations=Path("v")), "--variations needs a --ranker"),
        (Study(collection="c", variations=Path("nowhere.csv"), rankers=("bm25",)), "nowhere.csv: no such file"),
        (Study(ties="none"), "unknown tie rule"),
        (Study(measure="nDGC"), "nDCG"),
        (Study(collection="c", rankers=("biencoder:minilmm",)), "unknown encoder 'minilmm'"),
        (Study(collection="c", rankers=("bm25 >> lateinteraction:hashing",)), "has no token vectors"),
        (Study(collection="c", rankers=("bm25", "knrm")), "ranker knrm ranks candidates again"),
        (Study(collection="c", rankers=("bm25 % 10 >> knrm",)), "'knrm' needs a trained model"),
        (Study(collection="c", rankers=("bm25 >> knrm:checkpoint=nowhere % 5",)), "nowhere is not a checkpoint"),
    ],
)
def test_names_and_combinations_are_checked_before_reading(given, message):
    with pytest.raises(InputError, match=message):
        given.check()


def test_given_judgments_come_before_those_of_the_collection(tmp_path):
    from ringtrue.study import Material

    (tmp_path / "q.txt").write_text("101 0 lights-01 3\n")
    material = Material(Study(collection="builtin:lighthouse", qrels=tmp_path / "q.txt"), lambda message: None)
    assert len(material.qrels) == 1 and material.collection is not None and len(material.collection.qrels) == 1
