"""How far a search is, and how long the rest will take, where the log's file tells how long it is."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from ringtrue.data.formats.streams import Followed
from ringtrue.jobs import span


@dataclass
class Progress:
    """Told from the lines that were read of a file, and the share of its bytes that they are."""

    followed: Followed
    before: int
    _start: float = field(default_factory=time.monotonic)

    def words(self, searched: int, read: int) -> str:
        """What to say when so many lines were searched and so many read, which may be more."""
        words = f"searched {searched:,} training queries"
        share = self.followed.share * searched / read if read else 0.0
        if not 0 < share < 1 or searched <= self.before:
            return words
        seconds = (time.monotonic() - self._start) / (searched - self.before) * (searched / share - searched)
        return f"{words}, {share:.0%} of the log, {span(seconds)} left"
