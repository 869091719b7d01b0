"""Leave-one-group-out written down slowly, with dictionaries, straight from its definitions."""

from __future__ import annotations

import math
import random

Ranking = dict[str, list[tuple[str, float]]]
Judged = dict[str, dict[str, int]]


def ordered(run: Ranking, ties: str) -> dict[str, list[str]]:
    found = {}
    for topic, pairs in run.items():
        pairs = sorted(pairs, key=lambda pair: pair[0], reverse=ties == "desc")
        found[topic] = [doc for doc, _ in sorted(pairs, key=lambda pair: -pair[1])][:1000]
    return found


def ndcg(ranking: list[str], judged: dict[str, int], k: int = 10) -> float:
    def gain(grades: list[int]) -> float:
        return sum(max(grade, 0) / math.log2(rank + 2) for rank, grade in enumerate(grades[:k]))

    ideal = gain(sorted(judged.values(), reverse=True))
    return gain([judged.get(doc, 0) for doc in ranking]) / ideal if ideal > 0 else 0.0


def pool(runs: dict[str, dict[str, list[str]]], depth: int) -> set[tuple[str, str]]:
    return {(topic, doc) for run in runs.values() for topic, docs in run.items() for doc in docs[:depth]}


def cut(qrels: Judged, pairs: set[tuple[str, str]], aware: bool) -> Judged:
    docs = {doc for _, doc in pairs}
    return {
        topic: {doc: grade for doc, grade in judged.items() if ((topic, doc) in pairs if aware else doc in docs)}
        for topic, judged in qrels.items()
    }


def sample(
    name: str,
    everything: dict[str, dict[str, list[str]]],
    others: dict[str, dict[str, list[str]]],
    qrels: Judged,
    aware: bool,
) -> set[str]:
    kind, *options = name.split(":")
    retrieved = pool(others, 1000)
    union = {doc for _, doc in pool(everything, 1000)}
    if kind == "pool":
        return {doc for _, doc in pool(others, int(options[0]))}
    if kind == "complete":
        return union
    if kind == "rerank":
        return {doc for _, doc in pool({options[0]: everything[options[0]]}, int(options[1]))}
    if kind == "judged":
        if aware:
            return {doc for topic, doc in retrieved if doc in qrels.get(topic, {})}
        return {doc for _, doc in retrieved} & {doc for judged in qrels.values() for doc in judged}
    size = int(options[0])
    relevant = {
        topic: sorted(doc for doc, grade in judged.items() if grade > 0)
        for topic, judged in sorted(cut(qrels, pool(others, 10), aware).items())
    }
    chosen: set[str] = set()
    while any(relevant.values()) and len(chosen) < size:
        for docs in relevant.values():
            if docs and len(chosen) < size:
                chosen.add(docs.pop(0))
    rest = sorted(union)
    random.Random(42).shuffle(rest)
    rest = rest[:25_000]
    while rest and len(chosen) < size:
        chosen.add(rest.pop())
    return chosen


def cells(
    runs: dict[str, Ranking],
    groups: dict[str, str],
    qrels: Judged,
    name: str,
    *,
    aware: bool,
    ties: str,
    mean: str,
    judged_only: bool,
) -> dict[tuple[str, str, str], float]:
    """The score of each (left-out group, view, run)."""
    everything = {
        run: {topic: docs for topic, docs in ordered(ranking, ties).items() if topic in qrels or not judged_only}
        for run, ranking in runs.items()
    }
    found = {}
    for group in sorted(set(groups.values())):
        others = {run: ranking for run, ranking in everything.items() if groups[run] != group}
        corpus = sample(name, everything, others, qrels, aware)
        seen = {
            run: {topic: [doc for doc in docs if doc in corpus] for topic, docs in ranking.items()}
            if groups[run] == group
            else ranking
            for run, ranking in everything.items()
        }
        for view, pairs in (("without", pool(others, 10)), ("with", pool(seen, 10))):
            left = cut(qrels, pairs, aware)
            for run, ranking in seen.items():
                topics = [topic for topic in sorted(qrels) if mean == "qrels" or ranking.get(topic)]
                plain = [ndcg(ranking.get(topic, []), left[topic]) for topic in topics]
                dense = [
                    ndcg([doc for doc in ranking.get(topic, []) if doc in left[topic]], left[topic]) for topic in topics
                ]
                found[group, view, run] = sum(plain) / len(topics) if topics else 0.0
                found[group, f"condensed_{view}", run] = sum(dense) / len(topics) if topics else 0.0
    return found


def tau_b(x: list[float], y: list[float]) -> float:
    pairs = [(a, b) for b in range(len(x)) for a in range(b)]
    signs = [((x[a] > x[b]) - (x[a] < x[b]), (y[a] > y[b]) - (y[a] < y[b])) for a, b in pairs]
    both = math.sqrt(sum(one != 0 for one, _ in signs) * sum(other != 0 for _, other in signs))
    return sum(one * other for one, other in signs) / both if both else math.nan


def tau_ap_b(x: list[float], y: list[float]) -> float:
    def directed(x: list[float], y: list[float]) -> float:
        shares = []
        for one in range(len(y)):
            above = [other for other in range(len(y)) if y[other] > y[one]]
            if above:
                shares.append(sum(x[other] > x[one] for other in above) / len(above))
        return 2 * sum(shares) / len(shares) - 1 if shares else math.nan

    return (directed(x, y) + directed(y, x)) / 2
