"""Labels, names, and variations that do not belong."""

from __future__ import annotations

from pathlib import Path

import pytest

from ringtrue.data.notes import Notes
from ringtrue.data.records import Query
from ringtrue.errors import FormatError, InputError
from ringtrue.robustness.labels import by_paper_names, in_paper_order, known_queries, read_labels
from ringtrue.robustness.variations import Variation

HEADER = "q_id,method,transformation_type,original_query,variation,valid,follow_category\n"


def write(folder: Path, rows: str, header: str = HEADER) -> Path:
    path = folder / "labels.csv"
    path.write_text(header + rows, encoding="utf-8")
    return path


def test_the_studys_names_become_the_papers(tmp_path):
    path = write(tmp_path, "7,WordSwapQWERTY,mispelling,red fox,rec fox,True,True\n")
    (label,) = read_labels(path, Notes())
    assert label.variation == Variation("7", "misspelling", "QWERTYCharSub", "red fox", "rec fox", None)
    assert label.valid and label.follows_category


def test_our_own_columns_with_labels_are_read(tmp_path):
    header = "query_id,category,method,original,variation,seed,reason,valid\n"
    path = write(tmp_path, "7,paraphrasing,T5QQP,red fox,the fox,42,,no\n", header)
    (label,) = read_labels(path, Notes())
    assert label.variation.seed == 42
    assert not label.valid and not label.follows_category


def test_rows_without_a_label_are_counted(tmp_path):
    path = write(tmp_path, "7,T5QQP,paraphrase,a b,b a,,\n8,T5QQP,paraphrase,a b,b c,False,True\n")
    notes = Notes()
    assert [label.variation.query_id for label in read_labels(path, notes)] == ["8"]
    assert [(note.what, note.times) for note in notes] == [("rows without a label left out", 1)]


@pytest.mark.parametrize(
    ("rows", "header", "message"),
    [
        ("7,T5QQP,paraphrase,a,b,maybe,True\n", HEADER, "line 2: valid should be true or false, not 'maybe'"),
        ("7,T5QQP,b\n", "q_id,method,variation\n", "line 2: no column valid"),
        (",T5QQP,paraphrase,a,b,True,True\n", HEADER, "line 2: a row without a query id"),
        ("", HEADER, "no labelled variations"),
    ],
)
def test_what_is_broken_is_said_with_its_line(tmp_path, rows, header, message):
    with pytest.raises(FormatError, match=message):
        read_labels(write(tmp_path, rows, header), Notes())


def test_unknown_names_stay():
    variation = Variation("1", "spelling", "Own:x=1", "a", "b", 1)
    assert by_paper_names(variation) == variation


def test_variations_of_unknown_queries_and_repeated_ones_are_counted():
    own = Variation("1", "misspelling", "DeleteChar", "red fox", "re fox", 1)
    rows = [own, own, own._replace(query_id="2"), own._replace(query_id="3"), own._replace(original="blue fox", seed=2)]
    notes = Notes()
    kept = known_queries([*rows, own._replace(original="red-fox")], [Query("1", "Red  fox")], notes)
    assert [one.query_id for one in kept] == ["1", "1", "1"]
    assert {note.what: note.times for note in notes} == {
        "repeated variations counted once": 1,
        "variations of unknown queries left out": 2,
        "variations of another text than the query's": 1,
        "variations of the query in other punctuation": 1,
    }


def test_no_known_query_at_all_is_an_error():
    own = Variation("9", "misspelling", "DeleteChar", "red fox", "re fox", 1)
    with pytest.raises(InputError, match=r"the first is of '9', known are 1 …; are these variations of another"):
        known_queries([own], [Query("1", "red fox")], Notes())


def test_variations_of_other_texts_alone_are_an_error():
    own = Variation("1", "misspelling", "DeleteChar", "blue fox", "blu fox", 1)
    with pytest.raises(InputError, match=r"that of '1' is of 'blue fox', the query is 'red fox'"):
        known_queries([own], [Query("1", "red fox")], Notes())
    assert known_queries([own._replace(original="")], [Query("1", "red fox")], Notes())


def test_two_queries_of_one_id_are_an_error():
    with pytest.raises(InputError, match="two queries have the id '1'"):
        known_queries([], [Query("1", "a"), Query("1", "b")], Notes())


def test_methods_come_in_the_papers_order_and_others_after_them():
    pairs = [("spelling", "BritishAmerican"), ("misspelling", "DeleteChar"), ("paraphrasing", "T5QQP")]
    pairs += [("misspelling", "QWERTYCharSub"), ("misspelling", "NeighbCharSwap"), ("misspelling", "DeleteChar")]
    assert in_paper_order(pairs) == (
        ("misspelling", "NeighbCharSwap"),
        ("misspelling", "QWERTYCharSub"),
        ("misspelling", "DeleteChar"),
        ("paraphrasing", "T5QQP"),
        ("spelling", "BritishAmerican"),
    )
