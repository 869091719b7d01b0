"""Makes `ir_datasets.load("ringtrue/NAME")` work once ringtrue is imported, without importing ir_datasets for it.

Where ir_datasets is there already, the names are added to it at once; else at the end of its import. A sample itself
is looked for when it is loaded.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec

_PATTERN = r"^ringtrue/(.+)$"


def install() -> None:
    """Add the names of samples to ir_datasets now, or as soon as it is imported."""
    there = sys.modules.get("ir_datasets")
    if there is not None:
        _attach(there)
    else:
        sys.meta_path.insert(0, _Finder())


class _Finder:
    """Finds ir_datasets as the other finders do, and has the names added when it is loaded."""

    def __init__(self) -> None:
        self._asking_others = False

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The specification of ir_datasets with a loader that does one thing more; nothing for all else."""
        if name != "ir_datasets" or self._asking_others:
            return None
        self._asking_others = True
        try:
            spec = importlib.util.find_spec(name)
        finally:
            self._asking_others = False
        if spec is not None and spec.loader is not None:
            load = spec.loader.exec_module

            def load_and_attach(module: ModuleType) -> None:
                load(module)
                _attach(module)

            spec.loader.exec_module = load_and_attach  # type: ignore[method-assign]
        return spec


def _attach(module: ModuleType) -> None:
    module.registry.register_pattern(_PATTERN, _load)


def _load(key: str, groups: tuple[str, ...]) -> Any:  # noqa: ANN401
    from ringtrue.subsampling.registered import dataset

    return dataset(groups[0])
