import gzip
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ringtrue.data.formats.columns import tab_separated
from ringtrue.data.formats.detect import read_log, read_log_blocks
from ringtrue.data.notes import Notes
from ringtrue.errors import FormatError

CELLS = st.sampled_from(
    ["1", "q2", "red wine", "größe", " ", "", "\u3000", "\u3000x", "\x1f", "x ", "日本", "\x7f", "a\rb"]
)
LINES = st.lists(st.lists(CELLS, min_size=1, max_size=4).map("\t".join), min_size=1, max_size=8)


def told(path: Path, *, blocks: bool) -> tuple[list[tuple[str, str, str]], object, object]:
    notes, rows = Notes(), []
    try:
        if blocks:
            for block in read_log_blocks(path, 3, notes):
                rows += zip(block.ids, block.texts, block.sources, strict=True)
        else:
            rows = [(entry.query_id, entry.text, entry.source) for entry in read_log(path, notes)]
    except FormatError as error:
        return [], str(error), None
    return rows, None, tuple(notes)


@settings(max_examples=400, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(LINES, st.sampled_from(["\n", "\r\n"]), st.booleans(), st.sampled_from(["log.tsv", "log.txt"]))
def test_the_same_as_line_by_line(tmp_path: Path, lines, line_end, ended, name):
    path = tmp_path / name
    path.write_bytes(
        (line_end.join(["q0\tfirst\tweb" if name == "log.tsv" else "first", *lines]) + line_end * ended).encode()
    )
    assert told(path, blocks=True) == told(path, blocks=False)


@pytest.mark.parametrize(
    "lines",
    [
        b"1\tred wine\tweb\n2\tblue sky\tweb\n",
        b"1\tred wine\n2\tblue sky",
        b"1\t" + b"x" * 100_001 + b"\n2\tblue sky\n",
        b"1\tna\xefve\n2\tblue sky\n",
        b"\xef\xbb\xbf1\tred wine\n\n2\t\n3\tblue sky\n",
        b"1\tred\t\n2\tblue\tx\ty\n",
        b"1\ttwo\ttabs\n2 none here\n3\ta\tb\tc\n",
        b"\tno id\n2\tblue sky\n",
        b"\n\n",
    ],
)
def test_odd_logs_by_line_and_by_block(tmp_path: Path, lines):
    path = tmp_path / "log.tsv"
    path.write_bytes(lines)
    assert told(path, blocks=True) == told(path, blocks=False)


@pytest.mark.parametrize("padded", [" 1", "1 ", "\u30001", "1\xa0"])
@pytest.mark.parametrize("source", ["", "\tweb"])
def test_blanks_around_a_cell_are_no_part_of_it(tmp_path: Path, padded, source):
    path = tmp_path / "log.tsv"
    around = padded.replace("1", "{}")
    line = f"{padded}\t{around.format('red wine')}" + (f"\t{around.format('web')}" if source else "")
    path.write_text(f"{line}\n2\tblue sky{source}\n", encoding="utf-8")
    for blocks in (True, False):
        rows, error, _ = told(path, blocks=blocks)
        assert error is None and rows == [("1", "red wine", source[1:]), ("2", "blue sky", source[1:])]


def test_long_logs_in_several_pieces(tmp_path: Path):
    rows = [(f"q{number}", f"query {number * number}", "web") for number in range(40_000)]
    rows[30_000] = ("odd", "日本 \x85語", "")
    path = tmp_path / "log.tsv.gz"
    path.write_bytes(gzip.compress("".join("\t".join(row) + "\n" for row in rows).encode()))
    blocks = list(read_log_blocks(path, 16_000, Notes()))
    assert [len(block) for block in blocks] == [16_000, 16_000, 8_000]
    assert [row for b in blocks for row in zip(b.ids, b.texts, b.sources, strict=True)] == rows


def test_tabs_that_only_add_up_are_seen():
    assert tab_separated(b"1\ta\tb\tc\n2\td\n") is None
    assert tab_separated(b"1\ta\tb\n2\td\te\n") is not None
