"""The documents that sets are made of: texts by key, and the best of a ranker for a query."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ringtrue.data.collection import Collection
from ringtrue.data.records import Query
from ringtrue.retrieval.pipeline import parse_ranker


@dataclass(frozen=True)
class Corpus:
    """The documents of a collection; a key is the id, after `prefix` where two collections could have the same ids."""

    collection: Collection
    prefix: str = ""
    _texts: dict[str, str] = field(default_factory=dict, repr=False)
    _missing: set[str] = field(default_factory=set, repr=False)

    def key(self, doc_id: str) -> str:
        """The key of a document."""
        return self.prefix + doc_id

    def texts(self, keys: Iterable[str]) -> dict[str, str]:
        """The texts of those documents that exist, read in one pass where they are not known yet."""
        wanted = dict.fromkeys(keys)
        unknown = {key for key in wanted if key not in self._texts and key not in self._missing}
        if unknown:
            for document in self.collection.documents():
                if (key := self.key(document.doc_id)) in unknown:
                    self._texts[key] = document.body
            self._missing.update(unknown.difference(self._texts))
        return {key: self._texts[key] for key in wanted if key in self._texts}

    def add(self, texts: Mapping[str, str]) -> None:
        """Make texts known that the collection does not have."""
        self._texts.update(texts)

    def best(self, queries: Sequence[tuple[str, str]], ranker: str, depth: int) -> dict[str, list[str]]:
        """For each (id, text) the keys of a ranker's best documents."""
        asked = [Query(query_id, text) for query_id, text in queries]
        run = parse_ranker(f"{ranker} % {depth}").rank(self.collection, asked)
        return {query.query_id: [self.key(line.doc_id) for line in run.ranking(query.query_id)] for query in asked}


def has_text(text: str, least: int) -> bool:
    """Whether a text has so many letters and digits."""
    return sum(map(str.isalnum, text)) >= least


def plain(text: str) -> str:
    """A text by which duplicates are told: letters and digits alone."""
    return "".join(letter for letter in text.casefold() if letter.isalnum())
