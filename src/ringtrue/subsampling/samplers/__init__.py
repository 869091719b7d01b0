"""Ways to choose the documents of a smaller corpus, by name.

A sampler is a frozen dataclass with `sample(view) -> mask over the campaign's documents`; the view is a campaign
without the runs of one group. To add one: a file here, a line in the table.
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from ringtrue.data.notes import Notes
from ringtrue.registry import Registry
from ringtrue.subsampling.campaign import Documents, View


class Sampler(Protocol):
    """Chooses documents from what the visible runs retrieve."""

    def sample(self, view: View) -> Documents:
        """Mark the documents of the sample."""


@runtime_checkable
class ReachesOut(Protocol):
    """A sampler that also knows documents which no run retrieves."""

    def outside(self, view: View) -> tuple[str, ...]:
        """Their ids, ascending."""


@runtime_checkable
class Sized(Protocol):
    """A sampler that is asked for so many documents."""

    @property
    def size(self) -> int:
        """How many."""


SAMPLERS: Registry[Sampler] = Registry(
    "sampler",
    {
        "complete": "ringtrue.subsampling.samplers.complete:Complete",
        "judged": "ringtrue.subsampling.samplers.judged:Judged",
        "judged_random": "ringtrue.subsampling.samplers.judged_random:JudgedRandom",
        "loft": "ringtrue.subsampling.samplers.loft:Loft",
        "neighbours": "ringtrue.subsampling.samplers.neighbours:Neighbours",
        "pool": "ringtrue.subsampling.samplers.pool:Pool",
        "rerank": "ringtrue.subsampling.samplers.rerank:Rerank",
    },
)


def outside(sampler: Sampler, view: View) -> tuple[str, ...]:
    """The documents of a sample that no run retrieves, ascending."""
    return sampler.outside(view) if isinstance(sampler, ReachesOut) else ()


def note_shortfall(sampler: Sampler, spec: str, found: int, notes: Notes) -> None:
    """Note a sample that is smaller than was asked for."""
    if isinstance(sampler, Sized) and found < sampler.size:
        notes.add("samples smaller than asked, for random documents ran out (see most)", f"{spec}: {found:,} documents")
