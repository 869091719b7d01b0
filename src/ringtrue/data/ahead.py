"""Work ahead: a thread makes what another will take."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterator
from types import TracebackType
from typing import Generic, Self, TypeVar

T = TypeVar("T")

_PATIENCE = 0.1  # seconds between looks at whether anyone still wants the items
_DONE = object()


class Ahead(Generic[T]):
    """The same items, made by a thread that may be some ahead; it ends with the block, whatever happens in it."""

    def __init__(self, items: Iterator[T], number: int) -> None:
        """Nothing starts before the block does."""
        self._items = items
        self._waiting: queue.Queue[object] = queue.Queue(number)
        self._leaving = threading.Event()
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._make, name="ahead", daemon=True)

    def __enter__(self) -> Self:
        """Start."""
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Let the thread end."""
        self._leaving.set()
        self._thread.join()

    def __iter__(self) -> Iterator[T]:
        """The items in their order; an error in making them is raised here, after those that came before it."""
        while (item := self._waiting.get()) is not _DONE:
            yield item  # type: ignore[misc]
        if self._error is not None:
            raise self._error

    def _make(self) -> None:
        try:
            for item in self._items:
                if not self._put(item):
                    return
        except BaseException as error:
            self._error = error
        self._put(_DONE)

    def _put(self, item: object) -> bool:
        """Wait for room; False where nobody wants any more."""
        while not self._leaving.is_set():
            try:
                self._waiting.put(item, timeout=_PATIENCE)
                return True
            except queue.Full:
                continue
        return False
