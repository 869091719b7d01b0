from __future__ import annotations

import json
import math

import numpy as np
import pytest

from ringtrue.audit import Column, Figure, Table, Text
from ringtrue.report.json import SCHEMA, as_json


def strict(text):
    def refuse(name):
        raise AssertionError(f"{name} is not JSON")

    return json.loads(text, parse_constant=refuse)


def test_round_trip(audits):
    content = strict(as_json(audits))
    assert content["schema"] == SCHEMA
    assert content["verdict"] == "FAIL"
    assert [found["verdict"] for found in content["audits"]] == ["FAIL", "PASS", "WARN", "FAIL"]
    for audit, found in zip(audits, content["audits"], strict=True):
        assert (found["name"], found["title"]) == (audit.name, audit.title)
        assert [finding["seen"] for finding in found["findings"]] == [finding.seen for finding in audit.findings]
        for section, told in zip(audit.sections(), found["sections"], strict=True):
            check_section(section, told)


def check_section(section, told):
    assert told["title"] == section.title
    if isinstance(section, Text):
        assert (told["kind"], told["body"]) == ("text", section.body)
    elif isinstance(section, Table):
        names = [column["name"] for column in told["columns"]]
        assert names == [column.name for column in section.columns]
        assert [tuple(row.values()) for row in told["rows"]] == [plain(row) for row in section.rows]
    else:
        assert isinstance(section, Figure) and told["chart"] == section.kind
        points = [plain(point) for series in section.series for point in series.points]
        assert [tuple(point.values()) for series in told["series"] for point in series["points"]] == points


def plain(row):
    return tuple(None if isinstance(cell, float) and not math.isfinite(cell) else cell for cell in row)


def test_finding_and_provenance(audits):
    found = strict(as_json(audits[:1]))["audits"][0]
    assert found["findings"][1] == {
        "name": "order of the systems",
        "verdict": "WARN",
        "rule": "WARN where τ_AP,b between all topics and those without leaks is below 0.95.",
        "seen": "Two pairs of systems change places when leaked topics are left out.",
        "figure": 0.931,
        "interval": {"low": 0.884, "high": 0.972, "level": 0.95, "method": "bootstrap over topics"},
    }
    assert found["findings"][2]["figure"] is None and found["findings"][2]["interval"] is None
    assert list(found["provenance"]) == ["ringtrue", "python", "packages", "components", "inputs", "settings"]
    assert found["provenance"]["settings"] == {
        "seed": 7,
        "threshold": 0.91,
        "ties": "score, then document",
        "top": None,
    }


def test_same_bytes_and_readable(audits):
    assert as_json(audits) == as_json(audits)
    assert as_json(audits).endswith("}\n")
    assert "清華大學" in as_json(audits)
    assert strict(as_json([])) == {"schema": SCHEMA, "verdict": "UNKNOWN", "audits": []}


def test_scalars_of_numpy(audits):
    columns = tuple(Column(name, name) for name in "abc")
    table = Table("t", "T", columns, ((np.int64(3), np.float32(0.5), np.bool_(True)),))
    audit = type(audits[0])("n", "t", (), (table,), audits[0].provenance)
    rows = strict(as_json([audit]))["audits"][0]["sections"][0]["rows"]
    assert rows == [{"a": 3, "b": 0.5, "c": True}]


def test_records_refuse_two_columns_of_one_name(audits):
    table = Table("t", "T", (Column("a", "A"), Column("a", "B")), ((1, 2),))
    audit = type(audits[0])("n", "t", (), (table,), audits[0].provenance)
    with pytest.raises(AssertionError, match="two columns of one name"):
        as_json([audit])
