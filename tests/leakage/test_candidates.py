from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ringtrue.data.notes import Notes
from ringtrue.errors import FormatError, InputError
from ringtrue.leakage.candidates import TYPES, Candidate, read_candidates, write_candidates

ENDINGS = (".jsonl", ".csv", ".parquet")
ROWS = (
    Candidate("301", "title", "organized crime", "q1", 'crime, "organized"', 0.91, "identical", 0.99, "orcas"),
    Candidate("301", "variant", "mafia", "q2", "la cosa nostra 🕴 שלום", 1.0000002, None, None, ""),
    Candidate("x y", "description", "two\nlines", "7", "a, b", -0.25, "different-topic", 0.0, "log"),
    Candidate("2", "title", "a\rb", "8", "\r", 0.5),
)
plain = st.text(st.characters(codec="utf-8", include_characters="\r", exclude_categories=("Cc", "Cs")))
ids = plain.filter(lambda text: text.strip() == text and text != "")
candidates = st.builds(
    Candidate, ids, st.sampled_from(("title", "variant")), plain, ids, plain, st.floats(-1, 1),
    st.none() | st.sampled_from(TYPES), st.none() | st.floats(0, 1), plain,
)  # fmt: skip


@pytest.mark.parametrize("ending", ENDINGS)
def test_round_trip(tmp_path: Path, ending: str):
    write_candidates(tmp_path / f"candidates{ending}", ROWS)
    assert read_candidates(tmp_path / f"candidates{ending}") == ROWS


@pytest.mark.parametrize("ending", ENDINGS)
@given(rows=st.lists(candidates, max_size=5, unique_by=lambda one: (one.topic_id, one.query_id, one.field, one.query)))
def test_any_text_and_number_comes_back(tmp_path_factory: pytest.TempPathFactory, ending: str, rows: list[Candidate]):
    path = tmp_path_factory.mktemp("any") / f"candidates{ending}"
    write_candidates(path, rows)
    assert list(read_candidates(path)) == rows


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_search_that_found_nothing_is_written_and_read(tmp_path: Path, ending: str):
    write_candidates(tmp_path / f"none{ending}", ())
    assert read_candidates(tmp_path / f"none{ending}") == ()


def test_json_has_the_names_of_the_design(tmp_path: Path):
    write_candidates(tmp_path / "one.jsonl", [ROWS[0]._replace(similarity=np.float32(0.5))])
    assert json.loads((tmp_path / "one.jsonl").read_text()) == {
        "topic_id": "301", "field": "title", "text": "organized crime", "query_id": "q1", "query": 'crime, "organized"',
        "similarity": 0.5, "type": "identical", "probability": 0.99, "source": "orcas",
    }  # fmt: skip


def test_columns_of_predictions_may_be_missing(tmp_path: Path):
    (tmp_path / "old.csv").write_text("topic_id,field,text,query_id,query,similarity\n1,title,a,2,b,0.5\n")
    assert read_candidates(tmp_path / "old.csv") == (Candidate("1", "title", "a", "2", "b", 0.5),)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"similarity": "near"}, "the similarity should be a number, not 'near'"),
        ({"similarity": True}, "the similarity should be a number"),
        ({"similarity": 12.0}, "should be a cosine, from -1 to 1, not 12"),
        ({"similarity": None}, "no 'similarity'"),
        ({"probability": 1.5}, "should lie between 0 and 1, not 1.5"),
        ({"type": "paraphrase"}, "should be one of identical"),
        ({"topic_id": ""}, "an empty id"),
    ],
)
def test_bad_values_name_file_and_line(tmp_path: Path, change: dict[str, object], message: str):
    path = tmp_path / "bad.jsonl"
    good = json.dumps(ROWS[1]._asdict())
    path.write_text(good + "\n" + json.dumps({**ROWS[0]._asdict(), **change}) + "\n")
    with pytest.raises(FormatError, match=message) as caught:
        read_candidates(path)
    assert caught.value.line == 2


def test_the_same_row_again_is_counted_and_a_contradiction_is_an_error(tmp_path: Path):
    path, notes = tmp_path / "twice.jsonl", Notes()
    write_candidates(path, [*ROWS, ROWS[0]])
    assert read_candidates(path, notes) == ROWS
    assert [(note.what, note.times) for note in notes] == [("repeated candidates counted once", 1)]
    write_candidates(path, [*ROWS, ROWS[0]._replace(similarity=0.5)])
    with pytest.raises(FormatError, match="with other values; keep one row"):
        read_candidates(path)


def test_other_endings_and_other_files_are_refused(tmp_path: Path):
    with pytest.raises(InputError, match=r"written as \.jsonl, \.csv, \.parquet"):
        write_candidates(tmp_path / "candidates.xlsx", ROWS)
    (tmp_path / "plain.txt").write_text("just a line\n")
    with pytest.raises(FormatError, match="plain lines where candidates are expected"):
        read_candidates(tmp_path / "plain.txt")
