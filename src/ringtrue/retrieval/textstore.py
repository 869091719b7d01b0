"""The texts and ids of the items that a search may report, by their number in the stream."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

_CODEC = ("utf-8", "surrogatepass")


class TextStore:
    """A few of very many texts."""

    def __init__(self) -> None:
        """Start with none."""
        self.texts: dict[int, str] = {}
        self.ids: dict[int, str] = {}

    def add(self, offset: int, texts: Sequence[str], ids: Sequence[str], chosen: NDArray[np.int64]) -> None:
        """Remember some of a block that begins at `offset`."""
        numbers = (chosen + offset).tolist()
        self.texts.update(zip(numbers, _taken(texts, chosen), strict=True))
        if ids:
            self.ids.update(zip(numbers, _taken(ids, chosen), strict=True))

    def keep(self, items: NDArray[np.int64]) -> None:
        """Forget all but these."""
        if len(self.texts) > len(items):
            numbers = items.tolist()
            self.texts = {number: self.texts[number] for number in numbers}
            self.ids = {number: self.ids[number] for number in numbers if number in self.ids}

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """All of it as arrays."""
        return {**_packed("text", self.texts), **_packed("id", self.ids)}

    def load(self, arrays: Mapping[str, NDArray[np.generic]]) -> None:
        """What `arrays` gave."""
        self.texts, self.ids = _unpacked("text", arrays), _unpacked("id", arrays)


@runtime_checkable
class _Takes(Protocol):
    def take(self, places: NDArray[np.int64]) -> Iterable[str]:
        """The strings at some places, sooner than one by one."""


def _taken(strings: Sequence[str], chosen: NDArray[np.int64]) -> Iterable[str]:
    if isinstance(strings, _Takes):
        return strings.take(chosen)
    return map(strings.__getitem__, chosen.tolist())


def _packed(name: str, strings: Mapping[int, str]) -> dict[str, NDArray[np.generic]]:
    numbers = sorted(strings)
    coded = [strings[number].encode(*_CODEC) for number in numbers]
    return {
        f"{name}_items": np.array(numbers, np.int64),
        f"{name}_ends": np.cumsum([len(data) for data in coded], dtype=np.int64),
        f"{name}_bytes": np.frombuffer(b"".join(coded), np.uint8),
    }


def _unpacked(name: str, arrays: Mapping[str, NDArray[np.generic]]) -> dict[int, str]:
    data, ends = arrays[f"{name}_bytes"].tobytes(), arrays[f"{name}_ends"].tolist()
    pieces = zip([0, *ends], ends, strict=False)
    return {
        number: str(data[start:end], *_CODEC)
        for number, (start, end) in zip(arrays[f"{name}_items"].tolist(), pieces, strict=True)
    }
