"""What a result was made from: versions, seed, components and the content of its inputs.

No time stamp: the same input gives the same bytes.
"""

from __future__ import annotations

import platform
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib import metadata

_STATED = ("ir_measures", "ir_datasets", "numpy", "scipy", "pyarrow", "bm25s", "torch", "transformers")


@dataclass(frozen=True)
class Provenance:
    """Stamped on every result."""

    ringtrue: str
    python: str
    packages: Mapping[str, str]
    components: tuple[str, ...] = ()
    inputs: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, str | int | float | bool | None] = field(default_factory=dict)


def stamp(
    components: Iterable[object] = (),
    inputs: Mapping[str, str] | None = None,
    settings: Mapping[str, str | int | float | bool | None] | None = None,
) -> Provenance:
    """Describe this process and the given parts; `inputs` maps a name to a content key."""
    return Provenance(
        ringtrue=version("ringtrue") or "unknown",
        python=platform.python_version(),
        packages={name: found for name in _STATED if (found := version(name))},
        components=tuple(repr(component) for component in components),
        inputs=dict(inputs or {}),
        settings=dict(settings or {}),
    )


def version(package: str) -> str | None:
    """The installed version, or None; imports nothing."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
