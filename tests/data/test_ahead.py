"""Working ahead in a thread."""

from __future__ import annotations

import threading
import time

import pytest

from ringtrue.data.ahead import Ahead


def test_working_ahead_stops_when_nobody_wants_more():
    made = []

    def items():
        for number in range(1000):
            made.append(number)
            yield number

    with Ahead(items(), 3) as waiting:
        assert next(iter(waiting)) == 0
    assert len(made) < 20
    assert all(thread.name != "ahead" for thread in threading.enumerate())


def test_working_ahead_hands_on_errors_after_what_was_made():
    def items():
        yield 1
        raise ValueError("broken")

    seen = []
    with pytest.raises(ValueError, match="broken"), Ahead(items(), 3) as waiting:
        for item in waiting:
            seen.append(item)
            time.sleep(0.01)
    assert seen == [1]
