"""The table of valid variations."""

from __future__ import annotations

from pathlib import Path

import pytest

from ringtrue.audit import Table, Verdict
from ringtrue.data.notes import Notes
from ringtrue.errors import InputError
from ringtrue.report.json import as_json
from ringtrue.robustness.labels import Label, read_labels
from ringtrue.robustness.validity_audit import audit_validity
from ringtrue.robustness.variations import Variation

TABLE_3 = {
    "NeighbCharSwap": (43, 43, 0, 100.00),
    "RandomCharSub": (42, 42, 1, 97.67),
    "QWERTYCharSub": (42, 42, 1, 97.67),
    "RmvStopWords": (37, 37, 6, 86.05),
    "T5DescToTitle": (35, 35, 2, 81.40),
    "RandOrderSwap": (43, 43, 0, 100.00),
    "BackTransl": (23, 22, 10, 53.49),
    "T5QQP": (26, 20, 14, 60.47),
    "WEmbedSynSwap": (27, 26, 0, 62.79),
    "WNetSynSwap": (16, 16, 1, 37.21),
    "total": (334, 326, 35, 77.67),
}


def test_table_3_of_the_study(shared: Path):
    labels = read_labels(shared / "robustness" / "variations_trec2019_labeled.csv", Notes())
    audit = audit_validity([label.variation for label in labels], labels=labels)
    found = {one.method: (one.valid, one.follows, one.identical, round(100 * one.share, 2)) for one in audit.methods}
    assert found == TABLE_3
    assert list(found) == list(TABLE_3)
    assert audit.total.variations == 429 and audit.total.missing == 0
    assert [finding.name for finding in audit.findings] == ["valid variations", "model of validity"]
    assert audit.findings[0].verdict is Verdict.WARN and "WNetSynSwap has fewest" in audit.findings[0].seen
    assert "fitted to them" in as_json([audit])


def test_without_labels_rules_and_model_decide():
    rows = [
        Variation("1", "misspelling", "DeleteChar", "red fox", "re fox", 1),
        Variation("2", "misspelling", "DeleteChar", "a", None, 1, "too short"),
        Variation("1", "paraphrasing", "T5QQP", "red fox", "the red foxes", 1),
    ]
    audit = audit_validity(rows)
    assert [(one.method, one.variations, one.valid, one.missing) for one in audit.methods] == [
        ("DeleteChar", 1, 1, 1),
        ("T5QQP", 1, 1, 0),
        ("total", 2, 2, 1),
    ]
    assert "2 of 2 variations are valid" in audit.findings[0].seen
    assert "In 1 case a method could make none" in audit.findings[0].seen
    assert len(audit.findings) == 1
    tables = {section.name for section in audit.sections() if isinstance(section, Table)}
    assert tables == {"methods", "decisions", "models"}


def test_a_query_with_several_valid_variations_counts_once_in_the_share():
    rows = [Variation("1", "misspelling", "DeleteChar", "red fox", text, 1) for text in ("re fox", "red fx", "rd fox")]
    audit = audit_validity([*rows, Variation("2", "misspelling", "DeleteChar", "a", None, 1, "too short")])
    assert (audit.total.valid, audit.total.share) == (3, 0.5)


def test_labels_of_too_few_queries_to_leave_some_out_are_counted_all_the_same():
    rows = [Variation("1", "paraphrasing", "T5QQP", "red fox", f"red fox {number}", 1) for number in range(40)]
    labels = [Label(row, number % 2 == 0, True) for number, row in enumerate(rows)]
    audit = audit_validity(rows, labels=labels)
    assert (audit.total.valid, audit.total.variations) == (20, 40)
    assert [finding.name for finding in audit.findings] == ["valid variations"]


def test_no_variations_at_all_are_an_error():
    with pytest.raises(InputError, match="no variations"):
        audit_validity([])


def test_nothing_valid_fails():
    audit = audit_validity([Variation("1", "misspelling", "DeleteChar", "a", None, 1, "too short")])
    assert audit.findings[0].verdict is Verdict.FAIL
    assert audit.total.share == pytest.approx(0.0)
