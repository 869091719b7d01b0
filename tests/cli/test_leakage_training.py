from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("safetensors")


@pytest.fixture
def bags(monkeypatch: pytest.MonkeyPatch) -> None:
    """A model that learns in no time."""
    from ringtrue.retrieval.neural.models import MODELS

    monkeypatch.setitem(MODELS.table, "bags", "bags:BagsModel")  # type: ignore[arg-type]


def test_trainsets_then_experiment_then_audit(bags: None, call: Callable, tmp_path: Path) -> None:
    sets = tmp_path / "sets"
    done = call("leakage", "trainsets", "--encoder", "hashing", "--size", "250", "--folder", sets)
    assert done.returncode == 0, done.stderr
    assert "3 training sets" in done.stdout
    assert (sets / "report" / "report.html").is_file() and (sets / "sets" / "msm-250.jsonl").is_file()

    work = tmp_path / "work"
    options = ("--folder", work, "--workers", "1")
    done = call(
        "leakage", "experiment", "--trainsets", sets, "--model", "bags", "--seeds", "1", "--depth", "20", *options,
        "--prepare-only",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "3 cells, 2,250 instances to train on" in done.stderr
    assert "python -m ringtrue.jobs" in done.stderr
    assert done.stdout == ""

    done = call("leakage", "experiment", *options)
    assert done.returncode == 0, done.stderr
    assert "about " in done.stderr
    assert "nDCG@10 with and without leakage" in done.stdout
    assert "MFR@20 with and without leakage" in done.stdout
    assert (work / "report" / "report.html").is_file()
    assert call("leakage", "experiment", *options, "--prepare-only", "--seeds", "2").stderr.count("3 cells") == 1
    assert json.loads(call("leakage", "experiment", *options, "--seeds", "1", "--json").stdout)

    done = call("leakage", "search", "--encoder", "hashing", "--k", "1", "--experiment", work)
    assert "gain by leakage" in done.stdout and "Leaks by field" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("trainsets", "--size", "3"), "even number"),
        (("trainsets", "--size", "100", "--leaks", "90", "--encoder", "hashing"), "no room for its 90"),
        (("trainsets", "--kind", "none", "--leaks", "5"), "--leaks has no effect without --kind msm"),
        (("experiment", "--kind", "none", "--variations", "v.csv"), "--variations has no effect without --kind msm"),
        (("trainsets", "--labels", "a.jsonl", "--candidates", "b.jsonl"), "give one"),
        (("experiment", "--model", "knrmm", "--encoder", "hashing"), "unknown model 'knrmm'"),
        (("experiment", "--kind", "test", "--encoder", "hashing", "--size", "250"), "'none' is needed"),
        (("experiment", "--trainsets", "nowhere"), "no training sets"),
    ],
)
def test_bad_input(
    call: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    done = call("leakage", *arguments)
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr


@pytest.fixture
def lighthouse(tmp_path: Path) -> Path:
    """The built-in collection as somebody's own: what is planted in its log is not known."""
    from ringtrue.data.load import load
    from ringtrue.study.training import planted_in_lighthouse

    shutil.copytree(planted_in_lighthouse().parent, tmp_path / "own")
    for name in ("leaks.jsonl", "groups.csv", "log.jsonl", "README.md"):
        (tmp_path / "own" / name).unlink()
    shutil.rmtree(tmp_path / "own" / "runs")
    assert not load(tmp_path / "own").has_log
    shutil.copy(planted_in_lighthouse().parent / "log.jsonl", tmp_path)
    return tmp_path / "own"


def test_the_same_command_goes_on_and_another_is_told_what_differs(
    bags: None, call: Callable, tmp_path: Path, lighthouse: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "hashing").mkdir()  # no name of an encoder is a path
    options = (
        "leakage", "experiment", "--collection", "own", "--train", "log.jsonl", "--encoder", "hashing", "--size", "100",
        "--kind", "none", "--kind", "test", "--depth", "20", "--unbalanced", "--threshold", "0.7", "--folds", "4",
        "--seed", "7", "--model", "bags", "--seeds", "1", "--workers", "1", "--folder", "work",
    )  # fmt: skip
    assert call(*options, "--prepare-only").returncode == 0
    done = call(*options)
    assert done.returncode == 0, done.stderr
    monkeypatch.chdir(tmp_path / "work")
    elsewhere = ("--collection", lighthouse, "--train", "../log.jsonl", "--folder", tmp_path / "work")
    assert call("leakage", "experiment", *elsewhere, "--prepare-only").returncode == 0
    monkeypatch.chdir(tmp_path)
    for more, words in (
        (("--collection", "builtin:lighthouse"), "was made with --collection /"),
        (("--train", "own"), "log.jsonl, not "),
        (("--train-documents", "own/corpus.jsonl"), "was made without --train-documents, not "),
        (("--labels", "labels.csv"), "was made without --labels"),
        (("--trainsets", "sets"), "was made without --trainsets"),
        (("--encoder", "minilm"), "was made with --encoder hashing, not minilm"),
        (("--threshold", "0.9"), "was made with --threshold 0.7, not 0.9"),
        (("--leaks", "3"), "was made without --leaks, not 3"),
        (("--depth", "50"), "was made with --depth 20, not 50"),
        (("--seed", "8"), "was made with --seed 7, not 8"),
        (("--epochs", "9"), "another training"),
        (("--size", "500"), "training set"),
        (("--folds", "51"), "50 topics cannot be cut into 51 folds"),
    ):
        done = call("leakage", "experiment", "--folder", "work", "--prepare-only", *more)
        assert done.returncode == 2, more
        assert words in done.stderr.replace("\n", " "), done.stderr
    assert call("leakage", "experiment", "--folder", "work", "--folds", "10").returncode == 0
    done = call("leakage", "experiment", "--folder", "work", "--json")
    assert json.loads(done.stdout)["audits"][0]["provenance"]["settings"]["folds"] == 10


def test_unbalanced_sets_are_refused_where_sets_are_given_or_were_made_balanced(
    bags: None, call: Callable, tmp_path: Path
) -> None:
    sets = ("--encoder", "hashing", "--kind", "none", "--kind", "test", "--size", "60")
    assert call("leakage", "trainsets", *sets, "--folder", tmp_path / "sets").returncode == 0
    options = ("--trainsets", tmp_path / "sets", "--model", "bags", "--seeds", "1", "--folder", tmp_path / "work")
    done = call("leakage", "experiment", *options, "--unbalanced")
    assert done.returncode == 2 and "--unbalanced has no effect with --trainsets" in done.stderr
    assert call("leakage", "experiment", *options, "--prepare-only").returncode == 0
    assert call("leakage", "experiment", *options, "--prepare-only").returncode == 0
    done = call("leakage", "experiment", *options, "--unbalanced")
    assert done.returncode == 2 and "was made without --unbalanced" in done.stderr


def test_more_folds_than_topics_are_refused_before_sets_are_made(call: Callable, tmp_path: Path) -> None:
    done = call("leakage", "experiment", "--folds", "51", "--folder", tmp_path / "work")
    assert done.returncode == 2 and "50 topics cannot be cut into 51 folds" in done.stderr
    assert "log" not in done.stderr and not (tmp_path / "work").exists()


@pytest.mark.parametrize(
    ("option", "words"),
    [(("--model", "knrm:kernels=0"), "kernels is 0; it should be 2 or more"), (("--kind", "test"), "'none' is needed")],
)
def test_what_cannot_be_trained_is_refused_before_sets_are_made(
    call: Callable, tmp_path: Path, option: tuple[str, str], words: str
) -> None:
    done = call("leakage", "experiment", *option, "--folder", tmp_path / "work")
    assert done.returncode == 2 and words in done.stderr
    assert "log" not in done.stderr and not (tmp_path / "work").exists()


def test_an_audit_has_the_tables_of_the_experiment(bags: None, call: Callable, tmp_path: Path) -> None:
    options = ("--encoder", "hashing", "--kind", "none", "--kind", "test", "--size", "60", "--depth", "20")
    folds = ("--folds", "10", "--seed", "7", "--model", "bags", "--workers", "1", "--folder", tmp_path / "work")
    done = call("leakage", "experiment", *options, *folds, "--json")
    assert done.returncode == 0, done.stderr
    (own,) = json.loads(done.stdout)["audits"]
    (tmp_path / "topics.tsv").write_text("1\tany topic\n")
    done = call("audit", "--queries", tmp_path / "topics.tsv", "--experiment", tmp_path / "work", "--json")
    assert done.returncode == 0, done.stderr
    (shown,) = json.loads(done.stdout)["audits"]
    assert shown == own
    done = call("leakage", "search", "--encoder", "hashing", "--k", "1", "--experiment", tmp_path / "work", "--json")
    (searched,) = json.loads(done.stdout)["audits"]
    tables = {part["name"]: part for part in searched["sections"]}
    assert all(tables[part["name"]] == part for part in own["sections"])


def test_a_folder_without_an_experiment_is_told_before_the_search(call: Callable, tmp_path: Path) -> None:
    for command in (("leakage", "search", "--encoder", "hashing"), ("audit",)):
        done = call(*command, "--experiment", tmp_path)
        assert done.returncode == 2 and "holds no experiment" in done.stderr
        assert "searched" not in done.stderr and "gives vectors" not in done.stderr


def _sets(folder: Path) -> dict[str, dict]:
    return {path.stem: json.loads(path.read_text()) for path in (folder / "sets").glob("*.json")}


def test_what_leaks_is_known_from_labels_candidates_variations_or_a_search(
    call: Callable, tmp_path: Path, lighthouse: Path
) -> None:
    leaks = ("101", "lights-q251"), ("101", "lights-q252"), ("102", "lights-q253")
    texts = {line["_id"]: line["text"] for line in map(json.loads, (tmp_path / "log.jsonl").open(encoding="utf-8"))}
    rows = [f'{topic},{query},"{texts[query]}"' for topic, query in leaks]
    (tmp_path / "labels.csv").write_text(
        "topic_id,query_id,text,label\n" + "".join(f"{row},Title-Identical\n" for row in rows)
    )
    found = [
        {"topic_id": topic, "field": "title", "text": "t", "query_id": query, "query": texts[query], "similarity": 0.6}
        for topic, query in leaks
    ]
    (tmp_path / "found.jsonl").write_text("".join(json.dumps(row) + "\n" for row in found))
    (tmp_path / "vary.csv").write_text(
        "query_id,category,method,original,variation,seed,reason\n"
        "101,ordering,M,a b,lamp fuel in lighthouses,1,\n102,ordering,M,a b,how lenses bend the light,1,\n"
    )
    common = ("--collection", lighthouse, "--train", tmp_path / "log.jsonl", "--encoder", "hashing", "--size", "60")
    for name, given, rule, number in (
        ("labels", ("--labels", tmp_path / "labels.csv"), "verified by people", 3),
        (
            "candidates",
            ("--candidates", tmp_path / "found.jsonl"),
            "found by the detector (all candidates), not",
            3,
        ),
        ("variations", ("--variations", tmp_path / "vary.csv"), "simulated: the topics in other words", 2),
        ("search", (), "found by the detector (similarity above 0.66), not verified", 30),
    ):
        done = call("leakage", "trainsets", *common, *given, "--folder", tmp_path / name)
        assert done.returncode == 0, done.stderr
        made = _sets(tmp_path / name)["msm-60"]
        assert made["by_origin"]["leak"] == number and rule in made["leaks"], made
        assert ("searching the training log for leaks" in done.stderr) == (name == "search")


def test_unbalanced_sets(call: Callable, tmp_path: Path, lighthouse: Path) -> None:
    lines = (tmp_path / "log.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    web = [line for line in lines if '"source": "web"' in line][:400]
    other = [line for line in lines if '"source": "web"' not in line][:20]
    (tmp_path / "few.jsonl").write_text("".join(web + other), encoding="utf-8")
    options = (
        "--collection", lighthouse, "--train", tmp_path / "few.jsonl", "--encoder", "hashing", "--kind", "none",
        "--size", "200", "--folder", tmp_path / "sets",
    )  # fmt: skip
    done = call("leakage", "trainsets", *options)
    assert done.returncode == 2 and "let sources differ (--unbalanced)" in done.stderr
    done = call("leakage", "trainsets", *options, "--unbalanced")
    assert done.returncode == 0, done.stderr
    counts = _sets(tmp_path / "sets")["none-200"]["without_leakage_by_source"]
    assert sum(counts.values()) == 100 and min(counts.values()) <= 20 < 80 <= counts["web"]


@pytest.fixture
def registered() -> Iterator[None]:
    """A corpus of ir_datasets with topics and two training logs."""
    import ir_datasets
    from ir_datasets.datasets.base import Dataset
    from ir_datasets.formats import BaseDocs, BaseQrels, BaseQueries, GenericDoc, GenericQuery, TrecQrel

    from ringtrue.data.load import load

    def part(kind: type, records: list) -> object:
        """Records as ir_datasets gives them."""
        name = {BaseDocs: "docs_iter", BaseQueries: "queries_iter", BaseQrels: "qrels_iter"}[kind]
        return type("Part", (kind,), {name: lambda self: iter(records)})()

    collection = load("builtin:lighthouse")
    docs = part(BaseDocs, [GenericDoc(one.doc_id, one.body) for one in collection.documents()])
    names = {"tiny-world": (docs,)}
    queries = part(BaseQueries, [GenericQuery(one.query_id, one.title) for one in collection.queries])
    judged = part(BaseQrels, [TrecQrel(one.query_id, one.doc_id, one.relevance, "0") for one in collection.qrels])
    names["tiny-world/test"] = docs, queries, judged
    for source in ("web", "questions"):
        own = [one for one in collection.log() if one.source == source]
        positives = part(BaseQrels, [TrecQrel(one.query_id, doc, 1, "0") for one in own for doc in one.doc_ids])
        asked = part(BaseQueries, [GenericQuery(one.query_id, one.text) for one in own])
        names[f"tiny-world/{source}"] = docs, asked, positives
    for name, parts in names.items():
        ir_datasets.registry.register(name, Dataset(*parts))
    yield
    for name in names:
        del ir_datasets.registry._registered[name]


def test_two_logs_of_ir_datasets_over_the_corpus_of_the_test(registered: None, call: Callable, tmp_path: Path) -> None:
    done = call(
        "leakage", "trainsets", "--collection", "irds:tiny-world/test", "--train", "irds:tiny-world/web", "--train",
        "irds:tiny-world/questions", "--encoder", "hashing", "--size", "100", "--folder", tmp_path / "sets",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    sets = _sets(tmp_path / "sets")
    assert sets["none-100"]["without_leakage_by_source"] == {"tiny-world/questions": 25, "tiny-world/web": 25}
    assert "the training log of tiny-world/web and tiny-world/questions" in sets["none-100"]["rest"]
    assert json.loads((tmp_path / "sets" / "trainsets.json").read_text())["prefix"] == ""  # one corpus, not two


def test_real_models_by_two_processes(call: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    done = call(
        "leakage", "experiment", "--encoder", "hashing", "--kind", "none", "--kind", "test", "--size", "40", "--model",
        "knrm", "--model", "monobert:max_length=32,query_length=12", "--seeds", "1", "--epochs", "1", "--depth", "5",
        "--workers", "2", "--folder", tmp_path / "work", "--json",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "with 2 processes" in done.stderr
    (audit,) = json.loads(done.stdout)["audits"]
    assert {one["name"]: one["verdict"] for one in audit["findings"]}["cells"] == "PASS"
    tables = {part["name"]: part["rows"] for part in audit["sections"] if "rows" in part}
    assert len(tables["effect_ndcg_10"]) == 4 and len(tables["costs"]) == 2
    scores = sorted((tmp_path / "work" / "results").glob("*/scores.npy"))
    assert len({path.read_bytes() for path in scores}) == 4  # every cell learned something of its own
    hosts = {path.name for path in (tmp_path / "work" / "results").iterdir()}
    assert hosts == {f"{model}-{kind}-40-s0" for model in LABELS for kind in ("none", "test")}


LABELS = ("knrm", "monobert_max_length_32_query_length_12")
