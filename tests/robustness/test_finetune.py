"""Teaching a small T5 to write titles."""

from __future__ import annotations

import pytest

from ringtrue.data.records import Query
from ringtrue.errors import InputError, MissingModelError
from ringtrue.robustness.finetune import Pair, Training, finetune, title_pairs
from ringtrue.robustness.generators.t5_desc_to_title import T5DescToTitle

TOPICS = (
    Query("1", "goldfish growth", "do goldfish grow in small tanks"),
    Query("2", "thai life", "what is the daily life of thai people"),
    Query("3", "concrete cost", "cost of interior concrete flooring"),
    Query("4", "flea life cycle", "how long is the life cycle of a flea"),
)


def test_pairs_are_topics_with_both_texts_each_once():
    topics = [
        *TOPICS[:1],
        Query("9", "no description"),
        Query("8", "the same", "The same?"),
        TOPICS[0]._replace(query_id="7", title="goldfish \n growth"),
        Query("6", "", "no title"),
    ]
    assert title_pairs(topics) == (Pair("do goldfish grow in small tanks", "goldfish growth"),)


def test_pairs_of_a_real_track(shared):
    from ringtrue.data.load import load

    pairs = title_pairs(load(queries=shared / "leakage" / "topics.robust04.txt").queries)
    assert len(pairs) == 250
    assert pairs[0].title == "International Organized Crime"


def test_a_small_model_learns_its_topics_by_heart(t5, tmp_path):
    seen = []
    pairs = title_pairs(TOPICS)
    training = Training(epochs=120, learning_rate=5e-3, batch=2, weight_decay=0.0)
    done = finetune(pairs, str(t5), tmp_path / "first", training, lambda epoch, loss: seen.append((epoch, loss)))
    assert done.pairs == 4
    assert seen == list(enumerate(done.losses, 1))
    assert done.losses[-1] < 0.05 < done.losses[0]
    queries = [Query(topic.query_id, topic.description) for topic in TOPICS]
    outcomes = list(T5DescToTitle(model=str(done.folder)).vary_all(queries, 1, 1))
    assert [outcome.texts[0] for outcome in outcomes] == [topic.title for topic in TOPICS]


def test_the_same_seed_the_same_model(t5, tmp_path):
    def weights(folder: str, seed: int) -> bytes:
        training = Training(epochs=2, batch=2, seed=seed, learning_rate=1e-3)
        return (
            finetune(title_pairs(TOPICS), str(t5), tmp_path / folder, training).folder / "model.safetensors"
        ).read_bytes()

    first = weights("a", 1)
    assert weights("b", 1) == first
    assert weights("c", 2) != first


def test_nothing_to_learn_from_and_no_model(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(InputError, match="no topic has a title and a description"):
        finetune((), "any", tmp_path)
    pytest.importorskip("transformers")
    with pytest.raises(MissingModelError):
        finetune(title_pairs(TOPICS), str(tmp_path / "nowhere"), tmp_path)
