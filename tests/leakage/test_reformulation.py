from __future__ import annotations

import json
import sys
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from ringtrue.data.load import load
from ringtrue.data.records import Query
from ringtrue.errors import InputError
from ringtrue.leakage.candidates import TYPES, Candidate
from ringtrue.leakage.reformulation import predict, shipped_model

ROOT = Path(__file__).resolve().parents[2]
BEARS = Query("1", "black bear attacks", "how often do black bears attack people")
ANNOTATORS = 0.4394  # kappa of the two annotators of the study on the title's type, under the reading that favours them


@pytest.fixture
def training(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(str(ROOT))
    module = __import__("benchmarks.train_reformulation", fromlist=["main"])
    yield module
    for name in [name for name in sys.modules if name.split(".")[0] == "benchmarks"]:
        monkeypatch.delitem(sys.modules, name)


def candidate(query: str, similarity: float, topic: str = "1") -> Candidate:
    return Candidate(topic, "title", BEARS.title, query, query, similarity)


@pytest.mark.parametrize(
    ("query", "similarity", "kind"),
    [
        ("black bear attacks", 1.0, "identical"),
        ("attacks by black bears", 0.97, "identical"),
        ("black bear", 0.93, "generalization"),
        ("black bear attacks in alaska", 0.92, "specialization"),
        ("grizzly bears in yellowstone", 0.6, "different-topic"),
    ],
)
def test_plain_cases(query: str, similarity: float, kind: str):
    (found,) = predict([candidate(query, similarity)], [BEARS], 0.88)
    assert found.type == kind
    assert (found.probability > 0.5) == (kind != "different-topic")
    assert found._replace(type=None, probability=None) == candidate(query, similarity)


def test_accents_that_someone_left_out_change_nothing():
    topic = Query("1", "naïve café résumé")
    (found,) = predict([Candidate("1", "title", topic.title, "q", "naive cafe resume", 1.0)], [topic], 0.88)
    assert found.type == "identical"


def test_more_similar_is_more_likely_and_only_the_place_beside_the_threshold_counts():
    near, far = predict([candidate("bear attack", 0.95), candidate("bear attack", 0.85)], [BEARS], 0.88)
    assert near.probability > far.probability
    # as far below another encoder's threshold, relative to what is left to 1
    (other,) = predict([candidate("bear attack", 1 - 0.15 / 0.12 * 0.2)], [BEARS], 0.8)
    assert other.probability == pytest.approx(far.probability)


def test_chances_of_types_add_up():
    model = shipped_model()
    rows = np.random.default_rng(0).normal(size=(20, len(model.leak_weights)))
    for one in model.predict(rows, np.random.default_rng(1).normal(size=(20, len(model.type_weights)))):
        assert sum(one.chances) == pytest.approx(1)
        assert one.chances[-1] == pytest.approx(1 - one.probability)
        assert one.type == TYPES[int(np.argmax(one.chances))]


def test_nothing_to_predict_and_bad_input():
    assert predict([], [BEARS], 0.88) == ()
    with pytest.raises(InputError, match="is of topic '2', which is not among the topics"):
        predict([candidate("x", 0.9, topic="2")], [BEARS], 0.88)
    with pytest.raises(InputError, match="threshold is 1; a cosine below 1"):
        predict([candidate("x", 0.9)], [BEARS], 1.0)


def test_what_is_shipped_states_how_good_it_is():
    content = json.loads(files("ringtrue.leakage").joinpath("reformulation.json").read_text(encoding="utf-8"))
    for figures in content["cross_validation"].values():
        assert figures["kappa"]["mean"] > ANNOTATORS
        assert figures["auc"]["mean"] - 2 * figures["auc"]["sd"] > 0.80
    assert content["lighthouse"]["auc"] > content["lighthouse"]["auc_of_similarity_alone"]


def test_cross_validated_by_topic_it_agrees_better_than_people_did(training, shared: Path):
    data = training.study_data(shared / "leakage")
    for train, test in training.folds(data.topics, 3):
        assert not set(data.topics[train]) & set(data.topics[test])
    for encoder in data.leak:
        found = training.score(data, training.predict_unseen(data, encoder, seed=3))
        assert found.kappa > ANNOTATORS
        assert found.auc > 0.80


def test_training_again_gives_the_shipped_model(training, shared: Path):
    data = training.study_data(shared / "leakage")
    again, shipped = training.fit(data, np.arange(len(data.kinds))), shipped_model()
    assert again.leak_weights == pytest.approx(shipped.leak_weights, abs=1e-2)
    assert again.type_weights == pytest.approx(shipped.type_weights, abs=1e-2)


def test_planted_leaks_are_told_from_their_look_alikes(training):
    data = training.planted_data()
    found = training.score(data, shipped_model().predict(data.leak["minilm"], data.kind))
    assert found.auc > 0.80
    assert found.accuracy > 0.6
    assert len(data.kinds) == sum(1 for _ in (Path(load_folder()) / "leaks.jsonl").open())


def test_families_are_chosen_without_the_rows_that_they_are_tested_on(training):
    nested = __import__("benchmarks.train_reformulation_nested", fromlist=["main"])
    rng = np.random.default_rng(0)
    true = rng.random(300) < 0.8
    topics = np.repeat(np.arange(60), 5).astype(str)
    data = training.Data({"minilm": np.zeros((300, 1))}, np.zeros((300, 1)), np.where(true, 0, 4), topics)
    good, noise = true[:, None] + rng.normal(size=(300, 1)), rng.normal(size=(300, 4))
    seen, told = np.arange(200), good.copy()
    told[200:] = rng.normal(size=(100, 1))  # tells nothing of the rows that are left
    families = {"minilm": {"distance": noise[:, :1], "noise": noise[:, 1:], "good": told}}
    assert nested.choose(data, families, seen, 1)[:2] == ["distance", "good"]
    families["minilm"]["good"] = np.where(np.arange(300)[:, None] < 200, noise[:, :1], 9 * good)
    assert "good" not in nested.choose(data, families, seen, 1)


def load_folder() -> str:
    return str(load("builtin:lighthouse").runs_folder.parent)
