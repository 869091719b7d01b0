"""What a search says of how far it is."""

from __future__ import annotations

import gzip
import random
import re

import pytest

from ringtrue.data.collection import Collection
from ringtrue.data.load import load
from ringtrue.data.records import LogQuery, Query
from ringtrue.leakage.search import Settings, search_log

TEST = Collection.from_records("test", queries=[Query("t1", "lamp oil price")])
GENERATOR = random.Random(1)
LINES = [f"q{number}\tlamps {GENERATOR.getrandbits(200):x}\tweb\n" for number in range(60_000)]


def said(train: Collection, block: int = 4096) -> list[str]:
    messages: list[str] = []
    search_log(TEST, train, Settings("hashing:dimensions=16", 0.99, 5, block=block), messages.append)
    return [message for message in messages if message.startswith("searched")]


@pytest.mark.parametrize("pack", [lambda data: data, gzip.compress])
def test_a_file_tells_how_much_is_left(tmp_path, pack):
    path = tmp_path / "log.tsv"
    path.write_bytes(pack("".join(LINES).encode()))
    messages = said(load(str(path)))
    shares = [int(found[1]) for one in messages if (found := re.search(r" (\d+)% of the log, .* left$", one))]
    assert len(shares) > 8 and len(messages) == 15 and shares == sorted(shares)
    assert all(abs(share - 100 * 4096 * (place + 1) / len(LINES)) < 30 for place, share in enumerate(shares))
    assert messages[-1] == "searched 60,000 training queries"


def test_what_is_no_file_tells_what_was_searched():
    train = Collection.from_records("train", log=[LogQuery("1", "lamps"), LogQuery("2", "ships")])
    assert said(train, 1) == ["searched 1 training queries", "searched 2 training queries"]
