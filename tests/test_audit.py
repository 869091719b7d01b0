from __future__ import annotations

import pytest

from ringtrue.audit import Column, Finding, Interval, Table, Verdict, gravest
from ringtrue.provenance import stamp


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        ((), Verdict.UNKNOWN),
        (("PASS", "PASS"), Verdict.PASS),
        (("PASS", "UNKNOWN"), Verdict.UNKNOWN),
        (("UNKNOWN", "WARN"), Verdict.WARN),
        (("WARN", "FAIL", "PASS"), Verdict.FAIL),
    ],
)
def test_the_gravest_finding_gives_the_verdict(verdicts, expected):
    assert gravest(Finding("n", Verdict(verdict), "rule", "seen") for verdict in verdicts) is expected


def test_a_table_has_a_row_a_record_and_the_columns_that_it_is_asked_for():
    columns = (Column("high", "High", 1), Column("method", "Method"))
    table = Table.of("ends", "Ends", columns, [Interval(0.0, 1.0), Interval(2.0, 3.0, method="t")], "A note.")
    assert table == Table("ends", "Ends", columns, ((1.0, ""), (3.0, "t")), "A note.")


def test_a_stamp_says_what_a_result_was_made_from():
    made = stamp([1.5, "x"], {"runs": "abc"}, {"seed": 1})
    assert made.components == ("1.5", "'x'")
    assert made.inputs == {"runs": "abc"} and made.settings == {"seed": 1}
    assert made.packages["numpy"] and made.ringtrue != "unknown"
    assert made == stamp([1.5, "x"], {"runs": "abc"}, {"seed": 1})
