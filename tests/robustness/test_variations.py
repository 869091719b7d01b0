"""Files of variations."""

from __future__ import annotations

import io

import pytest

from ringtrue.data.notes import Notes
from ringtrue.errors import FormatError
from ringtrue.robustness.variations import Variation, read_variations, write_variations

ROWS = (
    Variation("1", "misspelling", "DeleteChar", "the sea", "the se", 42),
    Variation("1", "misspelling", "RandomCharSub:upper=True", "the, sea", 'the, "sEa"', -1, "only 1 of 2 found"),
    Variation("2", "ordering", "RandOrderSwap", "sea", None, 42, "no two different words"),
    Variation("3", "recorded", "Recorded", "line", "two\nlines", None),
)


def test_what_is_written_is_read(tmp_path):
    path = tmp_path / "variations.csv"
    with open(path, "w", encoding="utf-8", newline="") as file:
        write_variations(file, ROWS)
    assert tuple(read_variations(path, Notes())) == ROWS
    assert path.read_bytes().count(b"\r") == 0


def test_the_header_is_the_contract():
    file = io.StringIO()
    write_variations(file, ())
    assert file.getvalue() == "query_id,category,method,original,variation,seed,reason\n"


def test_the_studys_columns(shared):
    rows = list(read_variations(shared / "robustness" / "variations_trec2019_labeled.csv", Notes()))
    assert len(rows) == 429
    assert rows[0] == Variation(
        "1037798",
        "mispelling",
        "WordSwapNeighboringCharacterSwap",
        "who is robert gray",
        "who is robret gray",
        None,
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("query_id,method\n1,x\n", "no column variation"),
        ("method,variation\nx,y\n", "no column query_id"),
        ("query_id,method,variation\n,x,y\n", "line 2: a row without a query id"),
        ("query_id,method,variation,seed\n1,x,y,abc\n", "seed should be a whole number, not 'abc'"),
    ],
)
def test_broken_files(tmp_path, text, message):
    path = tmp_path / "variations.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(FormatError, match=message):
        list(read_variations(path, Notes()))
