from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ringtrue.retrieval.encoders.minilm import MiniLM
from ringtrue.retrieval.encoders.tokens import tokenise
from ringtrue.retrieval.neural.network import Prepared
from ringtrue.retrieval.neural.passages import into_passages, split
from ringtrue.retrieval.neural.ragged import Ragged
from ringtrue.retrieval.neural.template import PairTemplate, spread_out
from ringtrue.retrieval.neural.tokenising import tokenise_beginnings

# isort: split
from tokenizers import Tokenizer, processors


@pytest.fixture(scope="module")
def tokenizer():
    found = Tokenizer.from_file(str(MiniLM().folder() / "tokenizer.json"))
    found.no_padding()
    found.no_truncation()
    return found


def test_the_template_of_bert(tokenizer):
    found = PairTemplate.of(tokenizer)
    assert found == PairTemplate((101,), (102,), (102,), (0, 0, 0, 1, 1))
    assert found.special == 3


def test_the_template_of_others(tokenizer):
    copy = Tokenizer.from_str(tokenizer.to_str())
    copy.post_processor = processors.TemplateProcessing(
        single="$A [SEP]", pair="$A [SEP] [SEP] $B:1 [CLS]:1", special_tokens=[("[CLS]", 101), ("[SEP]", 102)]
    )
    assert PairTemplate.of(copy) == PairTemplate((), (102, 102), (101,), (0, 0, 0, 1, 1))
    copy.post_processor = processors.TemplateProcessing(single="$A", pair="$A $B", special_tokens=[])
    assert PairTemplate.of(copy) == PairTemplate((), (), (), (0, 0, 0, 0, 0))


texts = st.lists(st.lists(st.integers(1, 50), max_size=12), min_size=1, max_size=5)


@given(texts, texts, st.integers(4, 20), st.data())
def test_rows_are_what_joining_lists_gives(queries, documents, room, data):
    template = PairTemplate((90, 91), (92,), (93,), (0, 0, 1, 1, 2))
    limit = room + template.special
    prepared = Prepared(Ragged.from_lists(queries), Ragged.from_lists(documents))
    number = st.tuples(st.integers(0, len(queries) - 1), st.integers(0, len(documents) - 1))
    pairs = np.array(data.draw(st.lists(number, min_size=1, max_size=6)))
    rows = template.rows(prepared, pairs, limit, 7)
    for row, (query, document) in enumerate(pairs.tolist()):
        q = queries[query][:room]
        d = documents[document][: room - len(q)]
        ids = [90, 91, *q, 92, *d, 93]
        types = [0, 0, *[0] * len(q), 1, *[1] * len(d), 2]
        padding = rows.ids.shape[1] - len(ids)
        assert rows.ids[row].tolist() == ids + [7] * padding
        assert rows.types[row].tolist() == types + [0] * padding
        assert rows.inside[row].tolist() == [True] * len(ids) + [False] * padding
        assert template.lengths(prepared, pairs, limit)[row] == len(ids)


def test_spreading_out():
    assert spread_out(np.array([5, 0, 9]), np.array([2, 0, 3])).tolist() == [5, 6, 9, 10, 11]
    assert spread_out(np.array([], np.int64), np.array([], np.int64)).tolist() == []


def test_beginnings_are_those_of_the_whole_text(tokenizer):
    texts = [
        "fog",
        "ships and fog " * 500,
        "word" * 3000,
        ("x" * 99 + " ") * 400,
        "fog" + " " * 5000 + "lamp lamp lamp " * 9,
        "灯台" * 900,
        "",
    ]
    found = tokenise_beginnings(tokenizer, texts, 20)
    whole = Ragged.from_tokens(tokenise(tokenizer, texts, special=False))
    for number in range(len(texts)):
        assert found.of(number)[:20].tolist() == whole.of(number)[:20].tolist()
    assert len(found.ids) < len(whole.ids)


def test_splitting_into_passages():
    text = " ".join(map(str, range(10)))
    assert split(text, 4, 3) == ["0 1 2 3", "3 4 5 6", "6 7 8 9"]
    assert split(text, 4, 4) == ["0 1 2 3", "4 5 6 7", "8 9"]
    assert split(text, 10, 1) == [text]
    assert split("", 3, 2) == [""]


def test_the_best_passage_counts():
    documents = ["a b c d e f", "g", "h i j k"]
    pairs = np.array([(1, 2), (0, 0), (2, 1)])
    parts = into_passages(documents, pairs, 2, 2)
    assert parts.texts == ["a b", "c d", "e f", "g", "h i", "j k"]
    assert parts.pairs.tolist() == [[1, 4], [1, 5], [0, 0], [0, 1], [0, 2], [2, 3]]
    scores = np.array([1, 2, 9, 3, 4, 5], np.float32)
    assert parts.best(scores).tolist() == [2, 9, 5]
    assert into_passages(documents, pairs[:0], 2, 2).best(scores[:0]).tolist() == []
