from __future__ import annotations

from dataclasses import replace

from ringtrue.audit import Figure, Table, Text, Verdict
from ringtrue.report.chapters import chapters, overall


def test_stems_are_safe_and_unique(audits):
    one = replace(
        audits[0],
        name="a b/../c",
        parts=(
            Table("t", "", (), ()),
            Table("T", "", (), ()),
            Table("t-2", "", (), ()),
            Figure("t", "", "bars", ()),
            Text("…", "", ""),
        ),
    )
    first, second = chapters([one, one])
    assert first.stem == "a-b-c"
    assert second.stem == "a-b-c-2"
    assert [part.stem for part in first.parts] == ["a-b-c-t", "a-b-c-T-2", "a-b-c-t-2-2", "a-b-c-t", "a-b-c-unnamed"]
    assert [part.kind for part in first.parts] == ["table", "table", "table", "figure", "text"]


def test_verdicts(audits):
    leakage, subsampling, robustness, _ = chapters(audits)
    assert leakage.verdict is Verdict.FAIL
    assert subsampling.verdict is Verdict.PASS
    assert robustness.verdict is Verdict.WARN
    assert overall([subsampling, robustness]) is Verdict.WARN
    assert overall([]) is Verdict.UNKNOWN
