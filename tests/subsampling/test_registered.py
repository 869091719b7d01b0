from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import ir_datasets
import pytest

from ringtrue.data.load import load
from ringtrue.errors import InputError, UnknownNameError
from ringtrue.subsampling import hook, pieces
from ringtrue.subsampling.extract import Progress, extract, read_before, read_extraction
from ringtrue.subsampling.registered import dataset, register, sample_folder, samples, unregister


@pytest.fixture(scope="module", autouse=True)
def names_in_ir_datasets() -> None:
    hook.install()


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    ids = [document.doc_id for document in load("builtin:lighthouse").documents()][::4]
    extract("builtin:lighthouse", ids, tmp_path / "sample", name="quarter")
    return tmp_path / "sample"


@pytest.fixture(autouse=True)
def forget() -> None:
    """Each test has a cache of its own; ir_datasets keeps what it has loaded."""
    for name in [name for name in ir_datasets.registry if name.startswith("ringtrue/")]:
        del ir_datasets.registry._registered[name]


def test_a_sample_is_a_dataset(sample: Path):
    found, read = ir_datasets.load("ringtrue/quarter"), load(sample)
    assert found.docs_count() == 84
    assert [(one.doc_id, one.title, one.text) for one in found.docs_iter()] == [
        (one.doc_id, one.title, one.text) for one in read.documents()
    ]
    assert [(one.query_id, one.text) for one in found.queries_iter()] == [
        (one.query_id, one.title) for one in read.queries
    ]
    assert [(one.query_id, one.doc_id, one.relevance) for one in found.qrels_iter()] == list(read.qrels)
    assert found.dataset_id() == "ringtrue/quarter"


def test_random_access_and_slices(sample: Path):
    found = ir_datasets.load("ringtrue/quarter")
    every = list(found.docs_iter())
    assert list(found.docs_iter()[3:5]) == every[3:5]
    store = found.docs_store()
    assert store.get(every[7].doc_id) == every[7]
    assert store.get_many([every[1].doc_id, "nowhere"]) == {every[1].doc_id: every[1]}
    assert list(found.docs_iter()) == every, "read from the store now"
    assert every[0].default_text() == f"{every[0].title} {every[0].text}"


def test_it_loads_as_a_collection(sample: Path):
    from_irds, from_folder = load("irds:ringtrue/quarter"), load(sample)
    assert list(from_irds.documents()) == list(from_folder.documents())
    assert [query.title for query in from_irds.queries] == [query.title for query in from_folder.queries]
    assert list(from_irds.qrels) == list(from_folder.qrels)


@pytest.mark.parametrize("access", ["auto", "stream", "store"])
def test_a_sample_of_a_sample(sample: Path, tmp_path: Path, access):
    every = {document.doc_id: document for document in load(sample).documents()}
    ids = sorted(every)[:5]
    if access == "auto":
        ir_datasets.load("ringtrue/quarter").docs_store().build()
    found = extract("irds:ringtrue/quarter", [*ids, "nowhere"], tmp_path / "out", access=access)
    assert sorted(load(tmp_path / "out").documents()) == sorted(every[one] for one in ids)
    assert found.missing == ("nowhere",)
    assert found.read == (len(every) if access == "stream" else 6)
    assert found.topics > 0


def test_the_order_does_not_depend_on_the_access(sample: Path, tmp_path: Path):
    ids = [document.doc_id for document in load(sample).documents()][::-2]
    first = extract("irds:ringtrue/quarter", ids, tmp_path / "stream", access="stream")
    extract("irds:ringtrue/quarter", ids, tmp_path / "store", access="store")
    for name in ("corpus.jsonl", "corpus.parquet", "queries.jsonl", "qrels/test.tsv"):
        assert (tmp_path / "stream" / name).read_bytes() == (tmp_path / "store" / name).read_bytes()
    assert [document.doc_id for document in load(tmp_path / "store").documents()] == sorted(ids)
    assert extract("irds:ringtrue/quarter", ids, tmp_path / "stream", access="store") == first, "it is finished"


def test_a_store_that_was_built_meanwhile(sample: Path, tmp_path: Path, monkeypatch):
    monkeypatch.setattr(pieces, "_STEP", 10)
    ids = [document.doc_id for document in load(sample).documents()][:4]
    whole = extract("irds:ringtrue/quarter", ids, tmp_path / "whole")

    def interrupt(progress: Progress) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        extract("irds:ringtrue/quarter", ids, tmp_path / "out", checkpoint_s=0, progress=interrupt)
    assert read_before(tmp_path / "out") == 10
    ir_datasets.load("ringtrue/quarter").docs_store().build()
    assert extract("irds:ringtrue/quarter", ids, tmp_path / "out") == whole
    assert (tmp_path / "out" / "result.json").read_bytes() == (tmp_path / "whole" / "result.json").read_bytes()
    assert read_before(tmp_path / "out") is None


def test_another_sample_under_the_same_name_is_another_corpus(sample: Path, tmp_path: Path):
    some = [document.doc_id for document in load(sample).documents()][:6]
    before = load("irds:ringtrue/quarter").fingerprint
    extract("irds:ringtrue/quarter", some, tmp_path / "of")
    extract("builtin:lighthouse", some[:5], tmp_path / "new", name="quarter")
    now = load("irds:ringtrue/quarter")
    assert now.fingerprint != before
    assert now.fingerprint_of("documents") == load("irds:ringtrue/quarter").fingerprint_of("documents")
    with pytest.raises(InputError, match="a corpus that has changed since"):
        extract("irds:ringtrue/quarter", some, tmp_path / "of")
    assert extract("irds:ringtrue/quarter", some, tmp_path / "fresh").missing == (some[5],)


def test_a_sample_that_was_made_anew_is_found_at_once(sample: Path, tmp_path: Path):
    found = ir_datasets.load("ringtrue/quarter")
    before = found.docs_store().get_many([one.doc_id for one in found.docs_iter()])
    extract("builtin:lighthouse", sorted(before)[:3], tmp_path / "new", name="quarter")
    assert [one.doc_id for one in found.docs_iter()] == sorted(before)[:3]
    assert found.docs_count() == 3


def test_names(sample: Path):
    assert samples() == {"quarter": sample}
    assert register("track/pool-100", sample) == "ringtrue/track/pool-100"
    assert sorted(samples()) == ["quarter", "track/pool-100"]
    assert ir_datasets.load("ringtrue/track/pool-100").docs_count() == 84
    assert ir_datasets.docs_parent_id("ringtrue/track/pool-100") == "ringtrue/track/pool-100"
    unregister("quarter")
    assert sorted(samples()) == ["track/pool-100"]
    with pytest.raises(UnknownNameError):
        unregister("quarter")


@pytest.mark.parametrize("name", ["", "..", "../x", "a//b", "/a", "a b", "é", ".hidden"])
def test_names_that_would_leave_the_folder(sample: Path, name):
    with pytest.raises(InputError, match="cannot name a sample"):
        register(name, sample)
    with pytest.raises(UnknownNameError):
        sample_folder(name)


def test_a_name_that_is_given_later_reads_nothing_again(sample: Path, tmp_path: Path, monkeypatch):
    source, out = tmp_path / "later.jsonl", tmp_path / "later"
    source.write_bytes((sample / "corpus.jsonl").read_bytes())
    ids = [json.loads(line)["_id"] for line in source.read_text(encoding="utf-8").splitlines()]
    before = extract(source, ids, out)
    monkeypatch.setattr("ringtrue.subsampling.extract.search_piece", None)
    for name in ("later", "later-still"):
        assert extract(source, ids, out, name=name) == replace(before, name=name) == read_extraction(out)
        assert ir_datasets.load(f"ringtrue/{name}").docs_count() == len(ids)
    assert extract(source, ids, out).name == "later-still", "no name takes none away"


def test_only_samples_are_registered(tmp_path: Path):
    with pytest.raises(InputError, match="no extracted sample"):
        register("x", tmp_path)


def test_a_sample_that_is_gone(sample: Path):
    found = ir_datasets.load("ringtrue/quarter")
    shutil.move(sample, sample.with_name("moved"))
    with pytest.raises(InputError, match="not there any more"):
        next(iter(found.docs_iter()))
    with pytest.raises(InputError, match=r"ringtrue/quarter was in .*sample"):
        dataset("quarter")
    register("quarter", sample.with_name("moved"))
    assert ir_datasets.load("ringtrue/quarter").docs_count() == 84


def test_an_unknown_name(sample: Path):
    with pytest.raises(KeyError, match="quarter"):
        ir_datasets.load("ringtrue/quarters")
    with pytest.raises(UnknownNameError):
        load("irds:ringtrue/quarters")


IMPORTS = {
    "after": "hook.install(); assert 'ir_datasets' not in sys.modules; import ir_datasets",
    "before": "import ir_datasets; hook.install()",
    "inside": "hook.install(); from ringtrue.subsampling import registered; import ir_datasets",
}


@pytest.mark.parametrize("order", IMPORTS.values(), ids=IMPORTS)
def test_whatever_is_imported_first(sample: Path, order):
    code = f"import sys; from ringtrue.subsampling import hook; {order}"
    code += "; print(ir_datasets.load('ringtrue/quarter').docs_count())"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout == "84\n"


def test_the_hook_imports_next_to_nothing():
    code = "import sys; from ringtrue.subsampling import hook; hook.install(); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert not {"ir_datasets", "numpy", "pyarrow", "json"} & set(done.stdout.split())
