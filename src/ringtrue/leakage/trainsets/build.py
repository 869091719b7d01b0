"""Training sets with a known amount of leakage: none, queries that leak, or the test topics themselves.

After Fröbe et al. (SPIRE 2022), whose own code for this is not published. As there, each query has one relevant and one
non-relevant document, negatives are drawn uniformly from BM25's best hundred that are not positives (for test topics
from the judgments, grade 0), and sets are filled with queries without leakage, the same number from each source.
Decided here: larger sets contain the smaller, leaks are spread evenly over the topics, what is near any test topic
counts as leaking whatever its label, a test topic without judged negatives takes them from BM25, and where the smallest
set has no room for all topics twice, as many as it has room for are taken in all sets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ringtrue.data.collection import Collection
from ringtrue.data.notes import Notes
from ringtrue.errors import InputError
from ringtrue.leakage.search import log_key
from ringtrue.leakage.trainsets.corpora import Corpus
from ringtrue.leakage.trainsets.detector import Detector
from ringtrue.leakage.trainsets.dice import shuffled
from ringtrue.leakage.trainsets.documents import Asked, choose_documents
from ringtrue.leakage.trainsets.leaks import (
    KnownLeaks,
    Rewriting,
    choose_leaks,
    find_leaks,
    simulate_leaks,
    words_of_leaks,
)
from ringtrue.leakage.trainsets.records import Kind, Leak, Settings, Trainset, Trainsets, Triple
from ringtrue.leakage.trainsets.rest import Rest

Say = Callable[[str], None]


def build_trainsets(
    test: Collection,
    train: Collection | None = None,
    *,
    known: KnownLeaks | None = None,
    rewritings: Sequence[Rewriting] | None = None,
    settings: Settings | None = None,
    say: Say = lambda message: None,
) -> Trainsets:
    """All sets for the topics of a test collection.

    Queries without leakage come from the training log, or where `train` is None are made of the test collection's
    documents. Leaking queries are those of the log that are `known`, or `rewritings` of the topics.
    """
    return _Builder.of(test, train, settings or Settings(), say).build(known, rewritings)


@dataclass
class _Builder:
    """The material of the sets while they are made."""

    test: Collection
    train: Collection | None
    settings: Settings
    say: Say
    corpus: Corpus
    train_corpus: Corpus
    notes: Notes = field(default_factory=Notes)
    queries: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, test: Collection, train: Collection | None, settings: Settings, say: Say) -> _Builder:
        """Two corpora get keys that cannot meet."""
        if train is None or train is test or _documents_key(train) == _documents_key(test):
            corpus = Corpus(test)
            return cls(test, train, settings, say, corpus, corpus)
        return cls(test, train, settings, say, Corpus(test, "test/"), Corpus(train, "train/"))

    def build(self, known: KnownLeaks | None, rewritings: Sequence[Rewriting] | None) -> Trainsets:
        """Leaks and topics first, then what they are filled up with."""
        settings = self.settings
        if not len(self.test.qrels):
            raise InputError(f"the collection {self.test.name!r} has no judgments; training sets need them (--qrels).")
        leaks, leak_rule, corpus = self._leaks(known, rewritings)
        own: dict[Kind, tuple[Triple, ...]] = {
            "none": (),
            "msm": self._leak_triples(leaks, corpus) if "msm" in settings.kinds else (),
            "test": self._topic_triples() if "test" in settings.kinds else (),
        }
        wanted = {(kind, size): size // 2 - len(own[kind]) for kind in settings.kinds for size in settings.sizes}
        _check_room(wanted, own)
        detector = Detector.of(self.test, settings.encoder, settings.threshold)
        leaking = frozenset(query_id for _, query_id in known.pairs) if known else frozenset()
        words = words_of_leaks(self.train, leaking, leaks) if self.train is not None else frozenset()
        rest = Rest(self.test, self.train, self.train_corpus, detector, settings, leaking, words, self.notes, self.say)
        fillers = rest.make(max(wanted.values()))
        self.queries.update(rest.queries)
        sets = tuple(
            Trainset(kind, size, (*own[kind], *fillers.take(wanted[kind, size])))
            for kind in settings.kinds
            for size in settings.sizes
        )
        self.say("checking once more that no training query is near a topic")
        filled = dict.fromkeys(triple.query_id for one in sets for triple in one.triples if not triple.topic_id)
        nearest = detector.nearest({query_id: self.queries[query_id] for query_id in filled}) if filled else ()
        assert all(one.similarity <= detector.threshold for one in nearest), "a leak is left in the sets"
        return Trainsets(
            sets=sets,
            queries=self._query_texts(sets),
            documents=self._document_texts(sets),
            settings=replace(settings, threshold=detector.threshold),
            rest=rest.words,
            encoder=settings.encoder,
            threshold=detector.threshold,
            checked=rest.checked,
            near=rest.near,
            nearest=nearest,
            leak_rule=leak_rule,
            leaks_known=len(leaks),
            prefix=self.corpus.prefix,
            notes=tuple(self.notes),
            inputs=self._inputs(),
        )

    def _leaks(
        self, known: KnownLeaks | None, rewritings: Sequence[Rewriting] | None
    ) -> tuple[tuple[Leak, ...], str, Corpus]:
        """All leaking queries that could be taken, how they are known, and where their documents are."""
        if "msm" not in self.settings.kinds:
            return (), "", self.corpus
        if rewritings is not None:
            made = simulate_leaks(rewritings, self.test.qrels, self.settings.seed, self.notes)
            return made, "simulated: the topics in other words, each with a relevant document of the topic", self.corpus
        if known is None or self.train is None:
            raise InputError(
                "no leaking queries are known: give labels, candidates of a search, or variations of the topics, or "
                "leave the kind 'msm' out."
            )
        topics = (query.query_id for query in self.test.queries)
        return find_leaks(known, self.train, topics, self.notes), known.rule, self.train_corpus

    def _leak_triples(self, leaks: Sequence[Leak], corpus: Corpus) -> tuple[Triple, ...]:
        """A fixed number of leaks with their documents; one that can have none makes room for the next."""
        asked = self.settings.leaks
        most = min(2 * len(self.test.queries), len(leaks), min(self.settings.sizes) // 2) if asked is None else asked
        self.say(f"choosing {min(most, len(leaks)):,} of {len(leaks):,} leaking queries")
        order = choose_leaks(leaks, len(leaks), self.settings.seed)
        relevant = self._relevant(corpus)
        asking = [
            Asked(
                leak.query_id,
                leak.text,
                tuple(map(corpus.key, leak.doc_ids)),
                frozenset(relevant.get(leak.topic_id, ())),
            )
            for leak in order
        ]
        pairs = choose_documents(asking, corpus, self.settings, self.notes)
        chosen = [leak for leak in order if leak.query_id in pairs][:most]
        if not chosen or (asked is not None and len(chosen) < asked):
            raise InputError(
                f"{asked or 'some'} leaking queries were asked for, but only {len(chosen)} can be trained on; give "
                "more labels or variations, or ask for fewer (--leaks)."
            )
        self.queries.update({leak.query_id: leak.text for leak in chosen})
        return tuple(
            Triple(leak.query_id, *pairs[leak.query_id], "leak", leak.source, leak.topic_id) for leak in chosen
        )

    def _topic_triples(self) -> tuple[Triple, ...]:
        """Each test topic several times, with other documents each time."""
        seed, grades = self.settings.seed, self.test.qrels.by_topic
        asking, topic_of = [], {}
        for query in self.test.queries:
            if not query.title.strip():
                self.notes.add("test topics without text skipped", query.query_id)
                continue
            judged = grades.get(query.query_id, {})
            relevant = shuffled([doc for doc, grade in judged.items() if grade > 0], seed, query.query_id)
            others = shuffled([doc for doc, grade in judged.items() if grade <= 0], seed, query.query_id)
            barred = frozenset(map(self.corpus.key, judged))
            if len(relevant) < self.settings.repeats:
                self.notes.add("test topics with too few relevant documents, taken less often", query.query_id)
            if len(others) < self.settings.repeats:
                self.notes.add("test topics with too few judged negatives, taken from the ranker", query.query_id)
            for turn in range(min(self.settings.repeats, len(relevant))):
                name = f"topic/{query.query_id}#{turn}"
                topic_of[name] = query
                # parts that do not overlap: no document comes twice in a topic
                own = tuple(map(self.corpus.key, relevant[turn :: self.settings.repeats]))
                negatives = tuple(map(self.corpus.key, others[turn :: self.settings.repeats]))
                asking.append(Asked(name, query.title, own, barred, negatives, (turn, self.settings.repeats)))
        pairs = choose_documents(asking, self.corpus, self.settings, self.notes)
        if not pairs:
            raise InputError("no test topic has both a relevant and a non-relevant document to train on.")
        self.queries.update({f"topic/{query.query_id}": query.title for query in topic_of.values()})
        kept = self._fitting({name: topic_of[name].query_id for name in pairs})
        return tuple(Triple(f"topic/{kept[name]}", *pairs[name], "topic", "topics", kept[name]) for name in kept)

    def _fitting(self, topic_of: Mapping[str, str]) -> dict[str, str]:
        """As many as the smallest set has room for: all topics once before one comes again."""
        room = min(self.settings.sizes) // 2
        turns = sorted(shuffled(topic_of, self.settings.seed, "topics"), key=lambda name: int(name.rpartition("#")[2]))
        chosen = set(turns[:room])
        for name in turns[room:]:
            self.notes.add("test topics taken less often, as the smallest set has no room for more", topic_of[name])
        return {name: topic for name, topic in topic_of.items() if name in chosen}

    def _relevant(self, corpus: Corpus) -> Mapping[str, Iterable[str]]:
        """The keys of each topic's relevant documents, where they are of this corpus."""
        if corpus is not self.corpus:
            return {}
        return {
            topic: [corpus.key(doc) for doc, grade in grades.items() if grade > 0]
            for topic, grades in self.test.qrels.by_topic.items()
        }

    def _query_texts(self, sets: Sequence[Trainset]) -> dict[str, str]:
        used = {triple.query_id for one in sets for triple in one.triples}
        return {query_id: self.queries[query_id] for query_id in sorted(used)}

    def _document_texts(self, sets: Sequence[Trainset]) -> dict[str, str]:
        used = sorted({key for one in sets for triple in one.triples for key in (triple.positive, triple.negative)})
        return {**self.train_corpus.texts(used), **self.corpus.texts(used)}

    def _inputs(self) -> dict[str, str]:
        inputs = {"test": self.test.fingerprint}
        if self.train is not None:
            inputs["train"] = log_key(self.train)
        return inputs


def _documents_key(collection: Collection) -> str:
    return collection.fingerprint_of("documents")


def _check_room(wanted: Mapping[tuple[Kind, int], int], own: Mapping[Kind, Sequence[Triple]]) -> None:
    """A set must have room for its leaks."""
    for (kind, size), room in wanted.items():
        if room < 0:
            raise InputError(
                f"a set of {size:,} instances has no room for its {len(own[kind]):,} leaking queries ({kind!r}), two "
                f"instances each; give sizes from {2 * len(own[kind]):,} on, or fewer leaks (--leaks)."
            )
