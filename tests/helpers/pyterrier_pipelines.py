"""A PyTerrier pipeline that is easy to follow, made of the collection that it ranks."""

from __future__ import annotations

import pandas as pd
import pyterrier as pt

from ringtrue.data.collection import Collection


class Overlap(pt.Transformer):
    """Counts the letters of the query's words that a text has; ranks what it is given, else every text."""

    def __init__(self, texts: dict[str, str]) -> None:
        self.texts = texts

    def transform(self, inp: pd.DataFrame) -> pd.DataFrame:
        if "docno" not in inp.columns:
            texts = pd.DataFrame(list(self.texts.items()), columns=["docno", "text"])
            inp = inp.merge(texts, how="cross")
        scores = [
            float(sum(len(word) for word in set(query.split()) if word in text))
            for query, text in zip(inp["query"], inp["text"], strict=True)
        ]
        return pt.model.add_ranks(inp.assign(score=scores).query("score > 0").reset_index(drop=True))


def overlap(collection: Collection) -> pt.Transformer:
    return Overlap({document.doc_id: document.body for document in collection.documents()}) % 1000
