"""Write an experiment's folder: sets, texts, and the pairs that each cell scores."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ringtrue.data.collection import Collection
from ringtrue.data.records import Query
from ringtrue.errors import InputError
from ringtrue.jobs import write_jobs
from ringtrue.leakage.experiment.folds import make_folds
from ringtrue.leakage.experiment.layout import write_data
from ringtrue.leakage.experiment.plan import Plan, check_kinds, read_plan, write_plan
from ringtrue.leakage.experiment.scores import read_judgments
from ringtrue.leakage.trainsets.corpora import Corpus
from ringtrue.leakage.trainsets.files import fingerprint, read_trainsets, write_trainsets
from ringtrue.leakage.trainsets.records import Trainsets
from ringtrue.retrieval.neural.models import MODELS
from ringtrue.retrieval.training.settings import Settings


class Scored(NamedTuple):
    """A document that is scored for a topic; a candidate is one that is ranked again."""

    topic_id: str
    document: str
    is_candidate: bool


def prepare(folder: Path, plan: Plan, made: Trainsets, test: Collection) -> Plan:
    """Write all that cells need into a new folder."""
    _check_plan(plan, made)
    check_test(test, plan.models, plan.folds, plan.seed)
    if made.inputs.get("test") != test.fingerprint:
        raise InputError(f"the training sets were made for another collection than {test.name!r}; make them again.")
    plan = replace(plan, collection=test.name, fingerprint=fingerprint(made))
    folder.mkdir(parents=True, exist_ok=True)
    write_trainsets(folder / "trainsets", made)
    _write_pairs(folder, plan, made, test)
    write_jobs(folder, plan.jobs(), only=True)
    write_plan(folder, plan)  # last: a folder that has it is whole
    return plan


def extend(folder: Path, plan: Plan) -> Plan:
    """Let a folder's cells be those of another plan over the same sets; what is done of it stays done."""
    before = read_plan(folder)
    for name in ("fingerprint", "depth", "first_stage", "training"):
        old, new = getattr(before, name), getattr(plan, name)
        if old != new:
            raise InputError(
                f"{folder} holds an experiment with another {name} ({old}, not {new}); name another folder."
            )
    _check_plan(plan, read_trainsets(folder / "trainsets"))
    make_folds(len(read_judgments(folder).topics), plan.folds, plan.seed)
    write_jobs(folder, plan.jobs(), only=True)
    write_plan(folder, plan)
    return plan


def check_test(test: Collection, models: Sequence[str], folds: int, seed: int) -> None:
    """Refuse what would fail later: a model that nobody knows, or more folds than there are topics."""
    for model in models:
        MODELS.parse(model)
    make_folds(len(scored_topics(test)), folds, seed)


def check_asked(kinds: Sequence[str] | None, models: Sequence[str], seed: int) -> None:
    """Refuse, before sets are made, what would fail after them; options of models show their faults in a network."""
    if kinds:
        check_kinds(kinds)
    for model in models:
        MODELS.parse(model).fresh(["a text"], seed)


def scored_topics(test: Collection) -> list[Query]:
    """The topics that can be evaluated."""
    if not len(test.qrels):
        raise InputError(f"the collection {test.name!r} has no judgments, which an experiment needs (--qrels).")
    judged = {topic for topic, grades in test.qrels.by_topic.items() if any(grade > 0 for grade in grades.values())}
    topics = [query for query in test.queries if query.query_id in judged and query.title.strip()]
    if not topics:
        raise InputError(f"no topic of {test.name!r} has both a text and a relevant document.")
    return topics


def _check_plan(plan: Plan, made: Trainsets) -> None:
    """Its sets must be there, its models known, its options of training right."""
    for kind in plan.kinds:
        for size in plan.sizes:
            made.find(kind, size)
    for model in plan.models:
        MODELS.parse(model)
    Settings(**plan.training).check()


def _write_pairs(folder: Path, plan: Plan, made: Trainsets, test: Collection) -> None:
    """Topics, documents, judgments, and who is scored for whom."""
    topics = scored_topics(test)
    corpus = Corpus(test, made.prefix)
    scored = list(_scored(plan, made, topics, corpus))
    if not any(one.is_candidate for one in scored):
        raise InputError(
            f"{plan.first_stage} finds no document for any topic of {test.name!r}, so that there is nothing to rank "
            "again; look whether topics and documents are of one language."
        )
    wanted = [one.document for one in scored]
    documents = {**corpus.texts(key for key in wanted if key not in made.documents)}
    known = {**made.documents, **documents}
    queries = {**made.queries, **{_key(query.query_id): query.title for query in topics}}
    query_of = {key: number for number, key in enumerate(queries)}
    document_of = {key: number for number, key in enumerate(known)}
    pairs = np.array([(query_of[_key(one.topic_id)], document_of[one.document]) for one in scored], np.int32)
    candidates = np.array([one.is_candidate for one in scored], np.bool_)
    new = {_key(query.query_id): query.title for query in topics if _key(query.query_id) not in made.queries}
    write_data(folder, new, documents, pairs, candidates)
    asked = {query.query_id for query in topics}
    rows = [qrel._replace(doc_id=corpus.key(qrel.doc_id)) for qrel in test.qrels if qrel.query_id in asked]
    lines = [json.dumps(qrel._asdict(), ensure_ascii=False) + "\n" for qrel in rows]
    (folder / "data" / "qrels.jsonl").write_text("".join(lines), encoding="utf-8", newline="\n")


def _scored(plan: Plan, made: Trainsets, topics: Sequence[Query], corpus: Corpus) -> Iterable[Scored]:
    """For each topic the first stage's best, then what any set has of it, since other kinds may be asked for later."""
    asked = [(query.query_id, query.title) for query in topics]
    best = corpus.best(asked, plan.first_stage, plan.depth)
    leaked: dict[str, dict[str, None]] = {}
    for one in made.sets:
        for triple in one.triples:
            if triple.topic_id:
                leaked.setdefault(triple.topic_id, {}).update(dict.fromkeys((triple.positive, triple.negative)))
    for query in topics:
        found = best[query.query_id]
        yield from (Scored(query.query_id, key, True) for key in found)
        more = sorted(leaked.get(query.query_id, {}).keys() - set(found))
        yield from (Scored(query.query_id, key, False) for key in more)


def _key(topic_id: str) -> str:
    return f"topic/{topic_id}"
