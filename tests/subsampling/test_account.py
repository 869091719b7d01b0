from __future__ import annotations

import pytest

from ringtrue.data.qrels import Qrels
from ringtrue.data.records import Qrel
from ringtrue.data.runs import Run, RunSet
from ringtrue.errors import InputError
from ringtrue.subsampling.account import account, check
from ringtrue.subsampling.campaign import Campaign


def campaign(judged: list[tuple[str, str]]) -> Campaign:
    deep = {"1": [("a", 3.0), ("b", 2.0), ("c", 1.0)], "2": [("a", 1.0)]}
    runs = RunSet.from_runs([Run.from_results("x", deep), Run.from_results("y", {"1": [("a", 1.0)]})])
    return Campaign.from_runs(runs, Qrels.from_records(Qrel(*pair, 1) for pair in judged), ["g", "h"])


def test_what_runs_and_judgments_lack_is_counted():
    rows = {row[0]: row[1:] for row in account(campaign([("1", "a"), ("2", "z"), ("3", "a"), ("1", "q")])).rows}
    assert rows["systems"] == (2, "")
    assert rows["documents that a system retrieves"] == (3, "1 to 3 a topic")
    assert rows["judged topics"] == (3, "")
    assert rows["systems that lack judged topics (how many)"] == (2, "x (1), y (2)")
    assert rows["judged topics that no system has"] == (1, "3")
    assert rows["judgments of documents that no system retrieves"] == (3, "1 q, 2 z, 3 a")


def test_judgments_of_another_collection():
    check(campaign([("1", "a"), ("1", "z")]))
    with pytest.raises(InputError, match=r"no run retrieves any of the 2 judged documents \(y, …\)"):
        check(campaign([("1", "z"), ("1", "y")]))
