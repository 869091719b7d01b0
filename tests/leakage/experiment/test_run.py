from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import textwrap
import warnings
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from ir_measures import P, nDCG

from ringtrue.audit import Figure, Table, Verdict
from ringtrue.data.collection import Collection
from ringtrue.data.runs import Run, RunSet
from ringtrue.errors import FormatError, InputError, UnknownNameError
from ringtrue.evaluation.measures import MFR, evaluate
from ringtrue.jobs import Task, outcome, work_through
from ringtrue.leakage.audit import audit_leakage
from ringtrue.leakage.experiment import cell as cells
from ringtrue.leakage.experiment.audit import audit_experiment
from ringtrue.leakage.experiment.collect import collect
from ringtrue.leakage.experiment.layout import read_texts, read_triples
from ringtrue.leakage.experiment.plan import Cell, Plan, label, read_plan
from ringtrue.leakage.experiment.prepare import extend, prepare
from ringtrue.leakage.experiment.scores import ScoredPairs
from ringtrue.leakage.result import SearchResult
from ringtrue.leakage.trainsets.build import build_trainsets
from ringtrue.leakage.trainsets.records import Settings, Trainsets
from ringtrue.report.files import write_report

MODELS = ("bags", "bags:learning_rate=0.05")


@pytest.fixture
def plan(bags: str) -> Plan:
    return Plan(MODELS, ("none", "msm", "test"), (204, 240), (0, 1), {"epochs": 2}, depth=20)


@pytest.fixture
def folder(plan: Plan, made: Trainsets, lighthouse: Collection, tmp_path: Path) -> Path:
    prepare(tmp_path / "work", plan, made, lighthouse)
    return tmp_path / "work"


def test_end_to_end_with_resume_and_page(folder: Path, tmp_path: Path) -> None:
    from ringtrue.leakage.experiment.run import run_experiment

    told: list[str] = []
    audit = run_experiment(folder, workers=1, tell=told.append)
    assert told[0].startswith("24 cells, 10,656 instances to train on, ")
    assert told[1].startswith("about ")
    assert outcome(folder).failed == ()
    assert {one.name: one.verdict for one in audit.findings}["cells"] is Verdict.PASS
    result = audit.result
    assert result.leaked and set(result.leaked) < set(result.topics)
    assert len(result.effects) == 3 * 2 * 3
    assert all(one.difference == 0 and one.p is None for one in result.effects if one.kind == "none")
    assert len(result.memory) == 2 * 2 * 3
    parts = {part.name: part for part in audit.sections()}
    assert {"effect_ndcg_10", "effect_mfr_100", "effect_p_1"} & parts.keys() == {"effect_ndcg_10", "effect_p_1"}
    assert isinstance(parts["effect_mfr_20"], Table) and isinstance(parts["size_1"], Figure)
    assert "the 4 comparisons of this table" in parts["effect_ndcg_10"].note  # type: ignore[union-attr]
    written = {path.name for path in write_report([audit], tmp_path / "page", title="t", page="report.html")}
    assert {"report.html", "experiment-leaked_ranks.csv", "experiment-rank_offsets.tex"} <= written

    seconds = (folder / "results" / "bags-none-204-s0" / "job.json").read_bytes()
    shutil.rmtree(folder / "results" / "bags-msm-240-s1")
    said: list[str] = []
    again = run_experiment(folder, workers=1, tell=said.append)
    assert said[0].startswith("1 cells")
    assert (folder / "results" / "bags-none-204-s0" / "job.json").read_bytes() == seconds
    assert again.result.effects == result.effects
    search = SearchResult((), result.topics, 0.9)
    both = audit_leakage(search, experiment=again)
    assert [one.name for one in both.findings][-4:] == [one.name for one in again.findings]
    assert parts.keys() <= {part.name for part in both.sections()}


def test_a_trial_that_fails_names_its_model(folder: Path, plan: Plan) -> None:
    from ringtrue.leakage.experiment.run import run_experiment

    extend(folder, replace(read_plan(folder), models=("bags", "bags:dropout=1.5")))
    with pytest.raises(InputError, match=r"trial of 'bags:dropout=1\.5' failed.*dropout is 1\.5"):
        run_experiment(folder, workers=1)


def test_a_first_stage_that_finds_nothing_is_told(
    plan: Plan, made: Trainsets, lighthouse: Collection, tmp_path: Path
) -> None:
    topics = [query._replace(title="zzyzx") for query in lighthouse.queries]
    test = Collection.from_records("mute", lighthouse.documents(), topics, lighthouse.qrels)
    mute = replace(made, inputs={**made.inputs, "test": test.fingerprint})
    with pytest.raises(InputError, match="bm25 finds no document for any topic of 'mute'"):
        prepare(tmp_path / "work", plan, mute, test)


def test_the_folds_of_the_tables_are_those_of_the_folder(folder: Path, plan: Plan) -> None:
    work_through(folder, workers=1)
    five = audit_experiment(folder)
    assert five.provenance.settings["folds"] == 5
    extend(folder, replace(read_plan(folder), folds=10))
    ten = audit_experiment(folder)
    table = next(part for part in ten.sections() if part.name == "effect_p_1")
    assert isinstance(table, Table)
    for row in table.rows:
        assert sum(int(times) for times in re.findall(r"2[04][04] \(([0-9]+)\)", str(row[-1]))) == 10
    assert "in 10 folds" in table.note
    assert len(ten.result.effects[0].sizes) == ten.provenance.settings["folds"] == 10
    with pytest.raises(InputError, match=r"cannot be cut into 99 folds.*--folds"):
        extend(folder, replace(read_plan(folder), folds=99))
    assert read_plan(folder).folds == 10


def test_more_folds_than_topics_are_refused_before_anything_is_written(
    plan: Plan, made: Trainsets, lighthouse: Collection, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match="cannot be cut into 51 folds"):
        prepare(tmp_path / "new", replace(plan, folds=51), made, lighthouse)
    assert not (tmp_path / "new").exists()


def test_what_training_tolerated_is_shown(folder: Path) -> None:
    work_through(folder, workers=1)
    assert "tolerated" not in {part.name for part in audit_experiment(folder).sections()}
    path = folder / "results" / "bags-msm-240-s1" / "history.json"
    history = json.loads(path.read_text())
    path.write_text(json.dumps({**history, "notes": ["out of memory with 16 triples in a batch"]}))
    audit = audit_experiment(folder)
    (table,) = [part for part in audit.sections() if part.name == "tolerated"]
    assert isinstance(table, Table)
    assert table.rows == (("bags", "MSM leakage", 240, 1, "out of memory with 16 triples in a batch"),)
    for path in (folder / "results").glob("bags-*/history.json"):
        history = json.loads(path.read_text())
        path.write_text(json.dumps({**history, "notes": ["weights start from the seed", *history["notes"]]}))
    (table,) = [part for part in audit_experiment(folder).sections() if part.name == "tolerated"]
    assert isinstance(table, Table)
    assert table.rows == (
        ("bags", "all", None, None, "weights start from the seed"),
        ("bags", "MSM leakage", 240, 1, "out of memory with 16 triples in a batch"),
    )


def test_what_scoring_says_is_kept_with_the_cell(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def short_of_memory(network: object, texts: object, pairs: np.ndarray) -> np.ndarray:
        warnings.warn("memory ran out with 8 tokens a batch; trying 4.", RuntimeWarning, stacklevel=2)
        return np.zeros(len(pairs), np.float32)

    monkeypatch.setattr(cells, "score_pairs", short_of_memory)
    task = Task(folder / "out", folder, next(iter(read_plan(folder).jobs())).arguments)
    task.out.mkdir()
    cells.run(task)
    assert json.loads((task.out / "history.json").read_text())["notes"] == [
        "memory ran out with 8 tokens a batch; trying 4."
    ]


def test_how_far_trainings_by_other_seeds_differ(folder: Path) -> None:
    work_through(folder, workers=1)
    plan, pairs = read_plan(folder), ScoredPairs.read(folder)
    variances = []
    for model, kind, size in product(plan.models, plan.kinds, plan.sizes):
        alike = [Cell(model, kind, size, seed) for seed in plan.seeds]
        means = pairs.measure(pairs.scores(alike), [nDCG @ 10])[0].mean(axis=1)
        variances.append(means.var(ddof=1))
    assert collect(folder).between_seeds == pytest.approx(np.sqrt(np.mean(variances)))
    assert max(variances) > 0


def test_the_precision_of_training_is_said(folder: Path) -> None:
    work_through(folder, workers=1)
    for path in (folder / "results").glob("bags-*/history.json"):  # as on a GPU
        history = json.loads(path.read_text())
        history["settings"]["precision"] = "bf16"
        path.write_text(json.dumps(history))
    audit = audit_experiment(folder)
    parts = {part.name: part for part in audit.sections()}
    assert "bags in bf16 on cpu; bags:learning_rate=0.05 in fp32 on cpu" in parts["experiment"].body  # type: ignore[union-attr]
    assert audit.provenance.settings["precision_bags"] == "bf16"
    assert [row[-1] for row in parts["costs"].rows] == ["bf16", "fp32"]  # type: ignore[union-attr]


def test_leaked_topics_that_are_not_judged_leave_memorization_unknown(
    plan: Plan, made: Trainsets, lighthouse: Collection, tmp_path: Path
) -> None:
    leaked = set(made.find("msm", 204).leaked_topics)
    others = [qrel for qrel in lighthouse.qrels if qrel.query_id not in leaked]
    test = Collection.from_records("part", lighthouse.documents(), lighthouse.queries, others, lighthouse.log())
    some = replace(made, inputs={**made.inputs, "test": test.fingerprint})
    few = replace(plan, models=("bags",), kinds=("none", "msm"), sizes=(204,))
    prepare(tmp_path / "work", few, some, test)
    work_through(tmp_path / "work", workers=1)
    audit = audit_experiment(tmp_path / "work")
    assert audit.result.memory == ()
    assert {one.name: one.verdict for one in audit.findings}["memorization"] is Verdict.UNKNOWN
    assert {one.name for one in audit.sections()}.isdisjoint({"leaked_ranks", "rank_offsets"})


def test_ids_may_have_blanks(plan: Plan, lighthouse: Collection, tmp_path: Path) -> None:
    test = Collection.from_records(
        "spaced",
        [one._replace(doc_id=f"doc {one.doc_id}") for one in lighthouse.documents()],
        [one._replace(query_id=f"topic {one.query_id}") for one in lighthouse.queries],
        [one._replace(query_id=f"topic {one.query_id}", doc_id=f"doc {one.doc_id}") for one in lighthouse.qrels],
    )
    made = build_trainsets(test, None, settings=Settings(kinds=("none", "test"), sizes=(204,), encoder="hashing"))
    prepare(tmp_path / "work", replace(plan, models=("bags",), kinds=("none", "test"), sizes=(204,)), made, test)
    pairs = ScoredPairs.read(tmp_path / "work")
    assert sorted(pairs.qrels) == sorted(test.qrels)
    work_through(tmp_path / "work", workers=1)
    assert audit_experiment(tmp_path / "work").result.topics == tuple(sorted({one.query_id for one in test.qrels}))


def test_models_whose_names_meet_in_files_do_not_take_each_others_scores(folder: Path) -> None:
    work_through(folder, workers=1)
    known = read_plan(folder)
    with pytest.raises(InputError, match="was finished with other arguments"):
        extend(folder, replace(known, models=("bags:learning_rate=0_05",)))
    assert read_plan(folder) == known and outcome(folder).total == 24
    fewer = extend(folder, replace(known, models=("bags",)))
    assert outcome(folder).total == sum(1 for _ in fewer.cells()) == 12
    extend(folder, known)
    assert len(outcome(folder).done) == 24


def test_what_is_missing_is_said(folder: Path) -> None:
    with pytest.raises(InputError, match="work through it first"):
        audit_experiment(folder)
    for path in sorted((folder / "jobs").glob("*-s1.json")):
        path.unlink()
    work_through(folder, workers=1)
    result = audit_experiment(folder).result
    assert len(result.missing) == 12
    assert result.left_out == ()
    shutil.rmtree(folder / "results" / "bags-msm-204-s0")
    audit = audit_experiment(folder)
    assert audit.result.left_out == ("bags",)
    finding = {one.name: one for one in audit.findings}["cells"]
    assert finding.verdict is Verdict.UNKNOWN
    assert "13 of 24 cells" in finding.seen
    assert "missing" in {part.name for part in audit.sections()}


def test_measures_and_ranks_equal_a_plain_computation(folder: Path, lighthouse: Collection) -> None:
    pairs = ScoredPairs.read(folder)
    rng = np.random.default_rng(0)
    scores = np.round(rng.normal(size=(3, len(pairs.topic))), 1)  # many ties
    measures = [nDCG @ 10, P @ 1, MFR @ 20]
    found = pairs.measure(scores, measures)
    for cell, row in enumerate(scores):
        results: dict[str, list[tuple[str, float]]] = {}
        for place in np.flatnonzero(pairs.is_candidate):
            results.setdefault(pairs.topics[pairs.topic[place]], []).append((pairs.docs[pairs.doc[place]], row[place]))
        runs = RunSet.from_runs([Run.from_results("r", results)])
        assert np.allclose(found[:, cell], evaluate(runs, lighthouse.qrels, measures).values[:, 0])
        topic = pairs.topics[7]
        for place in np.flatnonzero(pairs.topic == 7):
            document = pairs.docs[pairs.doc[place]]
            others = [(-score, doc) for doc, score in results[topic] if doc != document]
            plain = 1 + sum(other < (-row[place], document) for other in others)
            assert pairs.ranks(scores, topic, [document])[cell, 0] == plain


def test_cells_need_little(folder: Path) -> None:
    code = textwrap.dedent("""
        import sys
        class No:
            def find_spec(self, name, path=None, target=None):
                if name.partition(".")[0] in ("pyarrow", "ir_datasets", "ir_measures", "typer", "scipy", "bm25s"):
                    raise ImportError(name + " is not there")
        sys.meta_path.insert(0, No())
        import ringtrue.leakage.experiment.cell
        import ringtrue.jobs
    """)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_texts_and_triples_meet(folder: Path, made: Trainsets) -> None:
    texts = read_texts(folder)
    rows = read_triples(folder, "test", 204)
    triples = made.find("test", 204).triples
    assert [texts.query_ids[number] for number in rows[:, 0]] == [triple.query_id for triple in triples]
    assert [texts.doc_ids[number] for number in rows[:, 2]] == [triple.negative for triple in triples]
    assert texts.documents[rows[0, 1]] == made.documents[triples[0].positive]
    with pytest.raises(InputError, match="no training set"):
        read_triples(folder, "test", 999)


def test_a_folder_takes_more_cells_over_the_same_sets(folder: Path, plan: Plan) -> None:
    known = read_plan(folder)
    assert known.collection == "lighthouse"
    more = extend(folder, Plan(**{**known.__dict__, "seeds": (0, 1, 2)}))
    assert outcome(folder).total == 36
    assert read_plan(folder) == more
    with pytest.raises(InputError, match="another training"):
        extend(folder, Plan(**{**known.__dict__, "training": {"epochs": 3}}))
    with pytest.raises(UnknownNameError, match="training set"):
        extend(folder, Plan(**{**known.__dict__, "sizes": (300,)}))


def test_a_folder_takes_another_kind_of_its_sets_and_its_memorization(
    plan: Plan, made: Trainsets, lighthouse: Collection, tmp_path: Path
) -> None:
    few = replace(plan, models=("bags",), kinds=("none", "msm"), sizes=(204,))
    before = prepare(tmp_path / "work", few, made, lighthouse)
    work_through(tmp_path / "work", workers=1)
    assert {one.kind for one in collect(tmp_path / "work").memory} == {"msm"}
    extend(tmp_path / "work", replace(before, kinds=("none", "msm", "test")))
    work_through(tmp_path / "work", workers=1)
    memory = {one.kind: one for one in collect(tmp_path / "work").memory}
    leaked = {(one.topic_id, one.positive) for one in made.find("test", 204).triples if one.topic_id}
    assert memory["test"].documents == len(leaked)


def test_bad_plans(plan: Plan, made: Trainsets, lighthouse: Collection, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="'none' is needed"):
        Plan(MODELS, ("test",), (200,), (0,))
    with pytest.raises(InputError, match="each once"):
        Plan(("bags", "bags"), ("none",), (200,), (0,))
    with pytest.raises(InputError, match="same name in files"):
        Plan(("bags:x", "bags:x="), ("none",), (200,), (0,))
    with pytest.raises(UnknownNameError, match="model"):
        prepare(tmp_path, Plan(("bagz",), ("none",), (204,), (0,)), made, lighthouse)
    with pytest.raises(InputError, match="learning_rate"):
        prepare(tmp_path, Plan(("bags",), ("none",), (204,), (0,), {"learning_rate": -1}), made, lighthouse)
    other = Collection.from_records("other", lighthouse.documents(), lighthouse.queries[:5], lighthouse.qrels)
    with pytest.raises(InputError, match="another collection"):
        prepare(tmp_path, plan, made, other)
    with pytest.raises(InputError, match="no experiment"):
        read_plan(tmp_path)
    (tmp_path / "experiment.json").write_text(json.dumps({"format": 1, "models": 3}))
    with pytest.raises(FormatError, match="not the plan"):
        read_plan(tmp_path)


def test_names_of_cells() -> None:
    assert Cell("knrm", "msm", 1000, 3).name == "knrm-msm-1000-s3"
    assert label("monobert:max_length=64") == "monobert_max_length_64"
    long = "monobert:backbone=/some/very/long/path/to/a/model/folder"
    assert len(label(long)) <= 40 and label(long) != label(long + "2")
