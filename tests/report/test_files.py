from __future__ import annotations

import csv
import json
import math
from xml.etree import ElementTree

import numpy as np
import pytest

from ringtrue.audit import Column, Table, Verdict
from ringtrue.errors import InputError
from ringtrue.report.files import as_csv, write_report


def test_a_folder_holds_everything(audits, tmp_path):
    out = tmp_path / "deep" / "report"
    written = write_report(audits[:3], out, "A title", page="index.html")
    assert sorted(written) == sorted(out.iterdir())
    assert written[-1] == out / "index.html"
    names = {path.name for path in written}
    assert {"result.json", "leakage-candidates.csv", "leakage-candidates.tex", "subsampling-everyone.svg"} <= names
    assert json.loads((out / "result.json").read_text(encoding="utf-8"))["verdict"] == "FAIL"
    assert "A title" in (out / "index.html").read_text(encoding="utf-8")
    for path in out.glob("*.svg"):
        ElementTree.fromstring(path.read_bytes())


def test_every_link_of_the_page_is_a_file(audits, tmp_path):
    import re

    page = write_report(audits, tmp_path)[-1]
    assert page.name == "report.html"
    links = re.findall(r'href="([^"#:]+)"', page.read_text(encoding="utf-8"))
    assert links and all((tmp_path / link).is_file() for link in links)


def test_csv_holds_raw_values(audits, tmp_path):
    write_report(audits, tmp_path)
    table = next(part for part in audits[0].sections() if part.name == "candidates")
    with open(tmp_path / "leakage-candidates.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == [column.name for column in table.columns]
    assert [float(row["similarity"]) for row in rows] == [row[5] for row in table.rows]
    assert [row["type"] or None for row in rows] == [row[6] for row in table.rows]
    assert [row["judged"] for row in rows] == ["true" if row[7] else "false" for row in table.rows]
    assert rows[0]["query"] == table.rows[0][4]


def test_csv_of_odd_cells():
    columns = tuple(Column(name, name) for name in "abcdef")
    row = ('say "x",\nthen y', math.nan, np.float64(0.1), np.int64(2), Verdict.WARN, None)
    assert as_csv(Table("t", "T", columns, (row,))) == 'a,b,c,d,e,f\n"say ""x"",\nthen y",nan,0.1,2,WARN,\n'


def test_writing_again_gives_the_same_bytes(audits, tmp_path):
    first = {path.name: path.read_bytes() for path in write_report(audits, tmp_path)}
    assert {path.name: path.read_bytes() for path in write_report(audits, tmp_path)} == first
    assert not list(tmp_path.glob(".*"))


def test_a_failed_write_leaves_the_old_file_and_no_draft(audits, tmp_path, monkeypatch):
    write_report(audits[:1], tmp_path)
    before = (tmp_path / "result.json").read_bytes()

    def fail(self, target):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.replace", fail)
    with pytest.raises(InputError, match=r"cannot write the report to .*: No space left on device"):
        write_report(audits[1:2], tmp_path)
    assert (tmp_path / "result.json").read_bytes() == before
    assert not list(tmp_path.glob(".*"))


def test_a_file_in_the_way(audits, tmp_path):
    (tmp_path / "out").write_text("x")
    with pytest.raises(InputError, match="name another folder"):
        write_report(audits, tmp_path / "out")
