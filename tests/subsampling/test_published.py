from __future__ import annotations

import json
from pathlib import Path

import pytest

from ringtrue.audit import Table
from ringtrue.errors import FormatError, InputError
from ringtrue.subsampling.published import class_means, full_corpus_kwh, read_study, total
from ringtrue.subsampling.published_tables import CORPUS_DOCUMENTS, evidence
from ringtrue.subsampling.sizes import SampleSize, Size, read_sizes

CORPORA = {name: CORPUS_DOCUMENTS[name] for name in ("clueweb09", "clueweb12", "msmarco-passage", "disks45")}
CLASSES = ("bi-encoder", "late interaction", "lexical")

# RBO@10 of bi-encoders, late interaction and lexical systems; corpora as above
RBO = {
    "re-rank-top-1000-bm25": (".139 .192 .037", ".146 .159 .084", ".890 .749 .858", ".921 .758 .963"),
    "loft-1000": (".070 .090 .040", ".115 .103 .176", ".680 .634 .513", ".113 .130 .138"),
    "loft-10000": (".096 .111 .056", ".185 .167 .308", ".777 .693 .601", ".431 .459 .495"),
    "top-10-run-pool": (".297 .263 .295", ".289 .256 .606", ".908 .756 .880", ".712 .682 .885"),
    "top-25-run-pool": (".405 .333 .449", ".407 .358 .686", ".954 .761 .901", ".824 .726 .910"),
    "top-50-run-pool": (".495 .394 .550", ".506 .440 .752", ".973 .781 .914", ".888 .755 .927"),
    "top-100-run-pool": (".600 .481 .660", ".613 .524 .792", ".981 .787 .933", ".936 .759 .946"),
    "top-1000-run-pool": (".989 .964 .993", ".990 .977 .990", "1.0 .994 .999", "1.0 .995 1.0"),
}
KWH = {
    "top-100-run-pool": (
        ".05876 .03873 .00953", ".03421 .03959 .01528", ".02913 .05022 .00130", ".12523 .09145 .01631"
    ),
    "top-1000-run-pool": (
        ".37159 .27619 .09017", ".24976 .29404 .20949", ".23902 .27824 .00888", ".41408 .19061 .04940"
    ),
}  # fmt: skip
FULL = {
    "clueweb09": (1054.7, 728.1, 206.1), "clueweb12": (531.6, 644.0, 375.3), "msmarco-passage": (2.07, 2.86, 0.087),
    "disks45": (0.449, 0.276, 0.054),
}  # fmt: skip


@pytest.fixture(scope="module")
def paper(shared: Path) -> Path:
    return shared / "subsampling" / "paper"


def test_totals(paper: Path):
    found = total(read_study(paper / "aggregated.jsonl.gz"))
    assert (found.rows, round(found.kwh, 4), round(found.kg_co2e, 4)) == (840, 30.8209, 11.7412)


def test_means_of_the_classes(paper: Path):
    means = {
        (one.corpus, one.sampler, one.system_class): one
        for one in class_means(read_study(paper / "aggregated.jsonl.gz"))
    }
    for sampler, cells in RBO.items():
        for corpus, cell in zip(CORPORA, cells, strict=True):
            for kind, value in zip(CLASSES, cell.split(), strict=True):
                assert means[corpus, sampler, kind].rbo_10 == pytest.approx(float(value), abs=5.1e-4)
    for sampler, cells in KWH.items():
        for corpus, cell in zip(CORPORA, cells, strict=True):
            for kind, value in zip(CLASSES, cell.split(), strict=True):
                assert means[corpus, sampler, kind].kwh == pytest.approx(float(value), abs=5.1e-6)
    assert {one.rows for one in means.values()} == {8, 3, 10, 16, 6, 20}


def test_the_full_corpora(paper: Path):
    rows, sizes = read_study(paper / "aggregated.jsonl.gz"), read_sizes(paper / "dataset-sizes.json")
    found = full_corpus_kwh(rows, sizes, CORPORA)
    for corpus, values in FULL.items():
        for kind, value in zip(CLASSES, values, strict=True):
            assert found[corpus, kind] == pytest.approx(value, rel=1e-2)
    assert full_corpus_kwh(rows, sizes, {"clueweb09": 10**9})["clueweb09", "bi-encoder"] == pytest.approx(
        1013.343, abs=1e-3
    )


def test_tables(paper: Path):
    found = evidence(paper / "aggregated.jsonl.gz", paper / "dataset-sizes.json")
    tables = {section.name: section for section in found.sections() if isinstance(section, Table)}
    assert list(tables) == ["classes", "corpora", "corpus-sizes", "sizes"]
    assert "30.8209 kWh" in tables["classes"].note
    assert len(tables["classes"].rows) == 96
    sums = {(corpus, sampler): (mega, how) for corpus, sampler, _, mega, how in tables["corpus-sizes"].rows}
    assert sums["clueweb09", "top-100-run-pool"] == (pytest.approx(907.2, abs=0.05), "estimated")
    assert {how for *_, how in tables["sizes"].rows} == {"measured", "estimated"}
    assert [section.name for section in evidence(paper / "aggregated.jsonl.gz").sections()] == ["classes"]


def row(**changes: object) -> str:
    energy = {"energy_consumed": 0.5, "emissions": 0.2}
    return json.dumps(
        {"sampling": "s", "approach": "BM25", "dataset": "c/t", "RBO@10": 0.5, "aggregated": energy} | changes
    )


def test_a_worked_example(tmp_path: Path):
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join([row(), row(approach="DPH", **{"RBO@10": 1.0}), row(sampling="t")]) + "\n")
    rows = read_study(path)
    assert [(one.sampler, one.rows, one.rbo_10, one.kwh) for one in class_means(rows)] == [
        ("s", 2, 0.75, 0.5), ("t", 1, 0.5, 0.5)
    ]  # fmt: skip
    sizes = [SampleSize("c/t", "s", Size(100)), SampleSize("c/t", "t", Size(50))]
    assert full_corpus_kwh(rows, sizes, {"c": 1000}) == {("c", "lexical"): pytest.approx(1.5 / 250 * 1000)}
    with pytest.raises(InputError, match="'t' of 'c/t' is not known"):
        full_corpus_kwh(rows, sizes[:1], {"c": 1000})


@pytest.mark.parametrize("line", ["{", "{}", row(aggregated={}), row(**{"RBO@10": None})])
def test_broken_rows(tmp_path: Path, line):
    path = tmp_path / "rows.jsonl"
    path.write_text(f"{row()}\n{line}\n")
    with pytest.raises(FormatError, match="line 2"):
        read_study(path)


def test_an_unknown_system(tmp_path: Path):
    path = tmp_path / "rows.jsonl"
    path.write_text(row(approach="BM26"))
    with pytest.raises(InputError, match="BM25"):
        read_study(path)
