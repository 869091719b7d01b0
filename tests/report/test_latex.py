from __future__ import annotations

import math
import re
import shutil
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ringtrue.audit import Column, Table
from ringtrue.report.latex import as_latex, escape


def test_worked_example():
    columns = (Column("run", "Run"), Column("ndcg", "nDCG@10", 3), Column("change", "Δ", 2))
    rows = (("bm25_b=0.4", 0.51249, -0.031), ("*best*", math.nan, None))
    table = Table("scores", "Scores of 100 % of runs", columns, rows, "τ is a & b")
    assert as_latex(table) == "\n".join(
        [
            r"% \usepackage{booktabs}",
            r"\begin{table}",
            r"\centering",
            r"\caption{Scores of 100 \% of runs. $\tau$ is a \& b}\label{tab:scores}",
            r"\begin{tabular}{lrr}",
            r"\toprule",
            r"Run & nDCG@10 & $\Delta$ \\",
            r"\midrule",
            r"bm25\_b=0.4 & 0.512 & $-$0.03 \\",
            r"{*}best{*} & -- & -- \\",
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
            "",
        ]
    )


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("a\\b", r"a\textbackslash{}b"),
        ("{x}", r"\{x\}"),
        ("$#_^~", r"\$\#\_\textasciicircum{}\textasciitilde{}"),
        ("a--b", "a-{}-b"),
        ("a---b", "a-{}--b"),
        ("[0.1, 0.2]", "{[}0.1, 0.2{]}"),
        ("two\nlines\tand  gaps", "two lines and gaps"),
        ("nul\x00", "nul"),
        ("β and ω", r"$\beta$ and $\omega$"),
        ("† ⇅", r"$\dagger$ $\uparrow\downarrow$"),
        ("ä 清", "ä 清"),
    ],
)
def test_escape(text, source):
    assert escape(text) == source


@given(st.text())
def test_escaped_text_has_no_command_of_its_own(text):
    known = r"\\[{}$&%#_]|\\[a-zA-Z]+(\{\}|\$)"
    rest = re.sub(known, "", escape(text))
    assert not re.search(r"[\\&%#_~^]", rest)


def test_long_tables_break_over_pages():
    table = Table("t", "T", (Column("a", "A"),), tuple((place,) for place in range(60)))
    source = as_latex(table, label="tab:mine")
    assert r"\begin{longtable}{r}" in source and r"\label{tab:mine} \\" in source
    assert len(re.findall(r"^\d+ \\\\$", source, re.MULTILINE)) == 60


def test_environments_match(audits):
    for audit in audits:
        for part in audit.sections():
            if isinstance(part, Table):
                source = as_latex(part)
                assert re.findall(r"\\begin\{(\w+)\}", source) == re.findall(r"\\end\{(\w+)\}", source)[::-1]
                assert all(row.count(" & ") == len(part.columns) - 1 for row in source.splitlines() if " & " in row)


def test_label_is_safe():
    table = Table("a_b c", "T", (Column("a", "A"),), ())
    assert r"\label{tab:a-b-c}" in as_latex(table)


MARKED = Table("m", "Marks", (Column("a", "System", 3), Column("a_mark", "")), ((0.3, "▼"), (0.5, "▲"), (0.4, "")), "▼")


def test_marks_become_commands_of_a_package_that_is_named():
    source = as_latex(MARKED)
    assert source.startswith("% \\usepackage{amssymb,booktabs}\n")
    assert "0.300 & $\\blacktriangledown$ \\\\" in source and "0.500 & $\\blacktriangle$ \\\\" in source
    assert as_latex(Table("l", "Long", MARKED.columns, MARKED.rows * 20)).startswith(
        "% \\usepackage{amssymb,booktabs,longtable}\n"
    )


def test_it_compiles_with_the_packages_that_it_names(tmp_path):
    program = shutil.which("pdflatex")
    if program is None:
        pytest.skip("pdflatex is not installed")
    for number, table in enumerate((MARKED, Table("l", "Long τ ≤ 1", MARKED.columns, MARKED.rows * 20))):
        packages, _, source = as_latex(table).partition("\n")
        whole = f"\\documentclass{{article}}\n{packages[2:]}\n\\begin{{document}}\n{source}\\end{{document}}\n"
        (tmp_path / f"t{number}.tex").write_text(whole, encoding="utf-8")
        command = [program, "-interaction=nonstopmode", "-halt-on-error", f"t{number}.tex"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout[-2000:]
