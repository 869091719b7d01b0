"""What can be chosen about an evaluation of variations."""

from __future__ import annotations

from dataclasses import dataclass, field

from ringtrue.robustness.marking import Marking


@dataclass(frozen=True)
class Settings:
    """The study's choices unless others are made.

    `valid_only` leaves queries out that have no valid variation, instead of counting the original's value;
    `rerank_only` shows variations to the later stages of pipelines alone; `depths` are those of the first stage at
    which pipelines are looked at once more; `worst` is how many cases of each system are shown, and `mapped` how many
    queries are drawn with their variations where there is an encoder.
    """

    valid_only: bool = False
    rerank_only: bool = False
    depths: tuple[int, ...] = ()
    marking: Marking = field(default_factory=Marking)
    worst: int = 10
    mapped: int = 50
    fusion_depth: int = 100
    aversion: float = 1.0
    replicates: int = 10_000
    seed: int = 42
