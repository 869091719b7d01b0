from __future__ import annotations

import io
import math
import re
from dataclasses import replace
from pathlib import Path

import pytest
from rich.cells import cell_len
from rich.console import Console

from ringtrue.audit import Column, Figure, Point, Series, Table
from ringtrue.report.text import as_text, print_audit, print_audits


@pytest.mark.parametrize("width", [60, 80, 120])
def test_lines_fit_and_carry_no_colour(audits, width):
    text = as_text(audits, width)
    assert "\x1b" not in text
    assert max(map(cell_len, text.splitlines())) <= width


def test_findings_are_told_whole(audits):
    text = " ".join(as_text(audits[:1], 80).split())
    assert "[FAIL] Did the model see the test queries during training?" in text
    assert "leaked topics: 0.277 (95 % interval 0.222 to 0.337, Wilson)" in text
    assert "Rule: FAIL where more than 5 % of the topics have a training query above the threshold 0.91." in text
    assert "[UNKNOWN] precision of the candidates No labels were given" in text


def test_tables_are_cut_only_if_told(audits):
    assert as_text(audits[:1], 200).count("organised crime groups") == 150
    cut = as_text(audits[:1], 200, rows=3, out=Path("report"))
    assert cut.count("organised crime groups") == 3
    assert f"… and 147 more rows in {Path('report') / 'leakage-candidates.csv'}" in cut
    assert "… and 147 more rows (--out DIR writes them all)" in as_text(audits[:1], 200, rows=3)
    assert "more row" not in as_text(audits[:1], 200)


def test_wide_tables_come_in_blocks_that_repeat_the_first_column(audits):
    columns = (Column("run", "Run"), *(Column(f"m{place}", f"Measure {place}", 4) for place in range(12)))
    rows = tuple((f"run{row}", *(row + place / 100 for place in range(12))) for row in range(3))
    text = as_text([replace(audits[0], findings=(), parts=(Table("t", "T", columns, rows),))], 60)
    blocks = text.count("run0 ")
    assert blocks > 1
    assert all(f"{row + place / 100:.4f}" in text for row in range(3) for place in range(12))


def test_without_evidence_it_is_counted(audits):
    file = io.StringIO()
    print_audits(audits[:2], Console(file=file, width=80), evidence=False)
    text = file.getvalue()
    assert "leaked topics: 0.277" in text and "organised crime groups" not in text
    assert "Evidence: " in text and "(--tables prints them, --out DIR writes them)" in text
    assert text.rstrip().count("\n") < as_text(audits[:2], 80).count("\n") / 3
    file = io.StringIO()
    print_audits([replace(audits[0], parts=())], Console(file=file, width=80), evidence=False)
    assert "Evidence" not in file.getvalue()


def test_columns_are_explained(audits):
    columns = (Column("run", "Run"), Column("low", "Low", 3, "lower end"), Column("n", "N", None, "topics"))
    table = Table("t", "T", columns, (("a", 0.5, 3),), "A note.")
    text = as_text([replace(audits[0], findings=(), parts=(table,))], 80)
    assert "A note.\nLow: lower end; N: topics.\n" in text


def test_markup_in_cells_is_text(audits):
    text = as_text(audits[3:], 400)
    assert text.count("[red]_%$#{}~^\\") > 10


def test_several_audits_end_with_their_verdicts(audits):
    last = as_text(audits[:3], 100).rstrip().splitlines()[-4:]
    assert [line[:8].strip() for line in last] == ["[FAIL]", "[FAIL]", "[PASS]", "[WARN]"]
    assert "all questions" in last[0]
    assert "all questions" not in as_text(audits[:1])


def test_colour_on_a_terminal_and_none_in_a_pipe(audits):
    terminal, pipe = io.StringIO(), io.StringIO()
    print_audit(audits[0], Console(file=terminal, force_terminal=True, color_system="truecolor", width=100))
    print_audit(audits[0], Console(file=pipe, width=100))
    assert "\x1b[" in terminal.getvalue() and " FAIL " in terminal.getvalue()
    assert "\x1b" not in pipe.getvalue() and "[FAIL]" in pipe.getvalue()


def test_dots_and_bars_are_drawn(audits):
    dots = Figure("d", "D", "dots", (Series("", (Point("a", 0.0), Point("b", 0.5, 0.4, 0.6), Point("c", 1.0))),))
    bars = Figure("b", "B", "bars", (Series("", (Point("a", 4.0), Point("b", 2.0), Point("c", math.nan, label="?"))),))
    lines = text_of(audits, dots, bars)
    drawn = {line[0]: line.find("●") for line in lines if "●" in line}
    assert drawn["b"] == pytest.approx((drawn["a"] + drawn["c"]) / 2, abs=0.5)
    assert any(line.startswith("b") and "─●─" in line for line in lines)
    lengths = [line.count("█") for line in lines if "█" in line]
    assert lengths[0] == pytest.approx(2 * lengths[1], abs=1)


def test_curves_are_drawn(audits):
    points = tuple(Point(place, math.nan if place == 2 else float(place)) for place in range(8))
    gone = Series("gone", (Point(1, math.nan),))
    lines = text_of(audits, Figure("l", "L", "lines", (Series("up", points), gone)))
    assert any(re.match(r"up +0 to 7 +0 +7 +▁▂ ▄▅▆▇█", line) for line in lines)
    assert any(line.startswith("gone") for line in lines)


def test_figures_without_unicode(audits):
    file = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    plain = replace(
        audits[0], findings=(), parts=(Figure("d", "D", "dots", (Series("", (Point("a", 0.5, 0.1, 1.0),)),)),)
    )
    print_audits([plain], Console(file=file, width=80))
    file.seek(0)
    assert re.search(r"-+o-+", file.read())


def test_nothing_to_show(audits):
    text = "\n".join(text_of(audits, Figure("l", "L", "lines", ()), Figure("d", "D", "dots", (Series("s", ()),)),
                             Table("t", "T", (Column("a", "A"),), ())))  # fmt: skip
    assert text.count("There is nothing to draw.") == 2
    assert "There are no rows." in text
    assert "UNKNOWN" not in text  # without findings there is no verdict


def text_of(audits, *parts):
    return as_text([replace(audits[0], findings=(), parts=parts)], 80).splitlines()


def test_same_text(audits):
    assert as_text(audits, 100) == as_text(audits, 100)


@pytest.mark.parametrize("width", range(24, 60))
def test_a_mark_stays_beside_its_number(audits, width):
    systems = ("alpha", "beta", "gamma", "delta")
    pairs = [(Column(name, name, 3), Column(f"{name}_mark", "")) for name in systems]
    columns = (Column("method", "Method"), *(column for pair in pairs for column in pair))
    rows = (("swap", *(cell for _ in systems for cell in (0.5, "▼"))),)
    text = as_text([replace(audits[0], parts=(Table("t", "T", columns, rows),))], width)
    lines = [line for line in text.splitlines() if "0.500" in line]
    assert all(line.count("▼") == line.count("0.500") for line in lines)
    assert sum(line.count("▼") for line in lines) == 4
