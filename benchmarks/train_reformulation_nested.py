"""What the probability of a true leak is worth where the choice of features is cross-validated too.

    python -m benchmarks.train_reformulation_nested [FOLDER] [--repeats 5]

The shipped model's features were chosen with a look at the labels that it is tested on. Here families of features are
chosen inside each fold, by cross-validation over the topics of its training part: forward from the similarity alone,
as long as the AUC grows. Folds never share a topic. What this cannot undo: the pool holds the shipped features' ideas
beside others, and was written knowing which of these had done well. So the pool without them is tried too.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.machine import RESULTS, SHARED
from benchmarks.train_reformulation import LEAK_PENALTY, Data, final_labels, fit_signed, folds, study_data, study_topics
from ringtrue.data.records import Query
from ringtrue.leakage.curves import roc_auc
from ringtrue.leakage.labels import LabelledPair
from ringtrue.leakage.wording import LEAK_FEATURES, TopicWording, content_words
from ringtrue.retrieval.encoders.hashing import Hashing

RESULT = RESULTS / "reformulation_nested.json"
_FIRST = "distance"
_SEEN = ("asks_meaning", "agreement", "missing", "new", "letters", "known_extra")  # the shipped features' ideas
_LEAST_GAIN = 0.001
_NEGATION = re.compile(r"\b(?:not?|without|never|against|ban|anti)\b")
_NAME = re.compile(r"(?<=[a-z,;] )[A-Z][\w-]+")
_NUMBER = re.compile(r"\d+")

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Pool = Mapping[str, Mapping[str, Floats]]  # by encoder and family; more of a feature makes a true leak likelier


def main() -> None:
    """Cross-validate each pool with each encoder's similarities, and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", default=SHARED / "leakage")
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    data = study_data(options.folder)
    pairs = final_labels(options.folder)
    whole = pool(data, pairs, study_topics(options.folder, pairs))
    unseen = {name: {key: value for key, value in some.items() if key not in _SEEN} for name, some in whole.items()}
    alone = {name: roc_auc(some[_FIRST][:, 0], data.true) for name, some in whole.items()}
    found = {
        "repeats": options.repeats,
        "auc_of_similarity_alone": {name: round(value, 4) for name, value in alone.items()},
        "families_chosen_in_each_fold": nested(data, whole, options.repeats),
        "the_same_without_the_shipped_features_ideas": nested(data, unseen, options.repeats),
    }
    RESULT.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(found, indent=1))


def pool(data: Data, pairs: Sequence[LabelledPair], topics: Sequence[Query]) -> Pool:
    """All families, for the similarities of each encoder."""
    known = {topic.query_id: topic for topic in topics}
    rows = [_families(known[pair.topic_id], pair.query) for pair in pairs]
    common = {name: np.array([row[name] for row in rows], dtype=np.float64) for name in rows[0]}
    common["hashing"] = np.array([_hashed(known[pair.topic_id], pair.query) for pair in pairs])
    return {encoder: {**_shipped(table), **common} for encoder, table in data.leak.items()}


def _shipped(table: Floats) -> dict[str, Floats]:
    """The shipped features as families of one, but for those that a family here holds."""
    column = dict(zip(LEAK_FEATURES, table.T, strict=True))
    return {
        _FIRST: -column["distance"][:, None],
        "asks_meaning": -column["asks_meaning"][:, None],
        "missing": -column["missing_weight"][:, None],
        "new": -column["new_share"][:, None],
        "letters": column["letters"][:, None],
        "known_extra": column["known_extra"][:, None],
    }


def _families(topic: Query, query: str) -> dict[str, list[float]]:
    """Families that need words alone, each with one or more features."""
    wording, asked = TopicWording.of(topic), frozenset(content_words(query))
    title, described = frozenset(wording.title), frozenset(content_words(topic.description))
    overlaps = [len(asked & text) / len(asked | text) for text in wording.texts]
    weights = [wording.weights.get(word, 0.0) for word in asked]
    names = {word for name in _NAME.findall(topic.description) for word in content_words(name)} & title
    texts = " ".join((topic.title, topic.description, *topic.variants)).lower()
    numbers = set(_NUMBER.findall(query)).difference(_NUMBER.findall(texts))
    negated = bool(_NEGATION.search(query.lower())) != bool(_NEGATION.search(texts))
    return {
        "title": [len(asked & title) / len(title), len(asked & title) / len(asked)],
        "consensus": [sum(weights) / sum(wording.weights.values()), sum(weights) / len(asked), max(weights)],
        "overlap": [max(overlaps), float(np.mean(overlaps))],
        "description": [len(asked & described) / len(asked)],
        "names": [-float(len(names - asked))],
        "numbers": [-float(bool(numbers))],
        "negation": [-float(negated)],
        "length": [min(len(asked), 6.0), -float(len(asked) == 1)],
        "agreement": [
            float(np.mean([text <= asked for text in wording.texts])),
            float(np.mean([text == asked for text in wording.texts])),
            float(np.mean([text >= asked for text in wording.texts])),
        ],
        "texts": [min(len(wording.texts), 10.0)],
    }


def _hashed(topic: Query, query: str) -> list[float]:
    """Similarities by letters: to the title, to the description, to the third nearest text and on average."""
    texts = [text for _, text in topic.texts()]
    near = Hashing().encode(texts) @ Hashing().encode([query])[0]
    ordered = np.sort(near)[::-1]
    return [float(near[0]), float(near[1]), float(ordered[min(2, len(ordered) - 1)]), float(near.mean())]


def nested(data: Data, families: Pool, repeats: int) -> dict[str, object]:
    """The AUC on pairs whose topics neither model nor choice has seen, and how often each family was chosen."""
    chosen: Counter[str] = Counter()
    areas: dict[str, list[float]] = {encoder: [] for encoder in families}
    for seed in range(repeats):
        unseen = {encoder: np.zeros(len(data.kinds)) for encoder in families}
        for train, test in folds(data.topics, seed):
            names = choose(data, families, train, seed)
            chosen.update(names)
            for encoder, values in predict(data, families, names, train, test).items():
                unseen[encoder][test] = values
        for encoder, values in unseen.items():
            areas[encoder].append(roc_auc(values, data.true))
    means = {
        name: {"mean": round(float(np.mean(some)), 4), "least": round(min(some), 4)} for name, some in areas.items()
    }
    return {"auc": means, "chosen": dict(chosen.most_common())}


def choose(data: Data, families: Pool, rows: Ints, seed: int) -> list[str]:
    """Families for these rows, each the one that adds most to those before it."""
    names, best = [_FIRST], _area(data, families, [_FIRST], rows, seed)
    while left := [name for name in next(iter(families.values())) if name not in names]:
        area, name = max((_area(data, families, [*names, name], rows, seed), name) for name in left)
        if area < best + _LEAST_GAIN:
            break
        names, best = [*names, name], area
    return names


def _area(data: Data, families: Pool, names: Sequence[str], rows: Ints, seed: int) -> float:
    """The AUC of some families by cross-validation within some rows, the mean over encoders."""
    found = {encoder: np.zeros(len(rows)) for encoder in families}
    for train, test in folds(data.topics[rows], 1000 + seed):
        for encoder, values in predict(data, families, names, rows[train], rows[test]).items():
            found[encoder][test] = values
    return float(np.mean([roc_auc(values, data.true[rows]) for values in found.values()]))


def predict(data: Data, families: Pool, names: Sequence[str], train: Ints, test: Ints) -> dict[str, Floats]:
    """Chances for some rows by a model of others, with the similarities of each encoder."""
    tables = {encoder: np.column_stack([some[name] for name in names]) for encoder, some in families.items()}
    rows = np.concatenate([table[train] for table in tables.values()])
    penalty = np.full(rows.shape[1], LEAK_PENALTY)
    penalty[0] = 0.0  # the similarity is not pulled to zero
    true = np.tile(data.true[train], len(tables))
    weights, intercept = fit_signed(rows, true, penalty, [1] * rows.shape[1])
    return {encoder: 1 / (1 + np.exp(-(table[test] @ weights + intercept))) for encoder, table in tables.items()}


if __name__ == "__main__":
    main()
