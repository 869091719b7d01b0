"""Names to components: `"pool:depth=100"` becomes `Pool(depth=100)`.

A component is a frozen dataclass. A registry is a table from its name to `"module:Class"`, so that listing
names imports nothing and a heavy module is loaded only when its component is asked for.
"""

from __future__ import annotations

import dataclasses
import importlib
import types
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from ringtrue.errors import InputError, MissingExtraError, UnknownNameError

T = TypeVar("T")

_TRUE_FALSE = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


@dataclasses.dataclass(frozen=True)
class Registry(Generic[T]):
    """One table of components of one kind."""

    kind: str
    table: Mapping[str, str]
    extras: Mapping[str, str] = dataclasses.field(default_factory=dict)

    def names(self) -> tuple[str, ...]:
        """All names, sorted."""
        return tuple(sorted(self.table))

    def find(self, name: str) -> type[T]:
        """The class behind a name; imports its module."""
        target = self.table.get(name)
        if target is None:
            raise UnknownNameError(self.kind, name, self.table)
        module, _, attribute = target.partition(":")
        try:
            found: type[T] = getattr(importlib.import_module(module), attribute)
        except ModuleNotFoundError as error:
            if name in self.extras and not (error.name or "").startswith("ringtrue"):
                raise MissingExtraError(f"{self.kind} {name!r}", self.extras[name]) from error
            raise
        return found

    def parse(self, spec: str) -> T:
        """Build the component of `name[:value][,key=value…]`; a bare first value goes to the first field."""
        name, _, arguments = spec.strip().partition(":")
        found = self.find(name.strip())
        hints = get_type_hints(found)
        fields = [field.name for field in dataclasses.fields(found) if field.init]  # type: ignore[arg-type]
        values: dict[str, Any] = {}
        for position, item in enumerate(filter(None, (part.strip() for part in arguments.split(",")))):
            key, equals, text = item.partition("=")
            if not equals or (position == 0 and not key.strip().isidentifier()):
                if position > 0 or not fields:
                    raise InputError(f"{self.kind} {spec!r}: {item!r} should be key=value.")
                key, text = fields[0], item
            if key not in fields:
                raise UnknownNameError(f"option of {self.kind} {name!r}:", key, fields)
            values[key] = _convert(text, hints[key], f"{self.kind} {spec!r}: {key}")
        try:
            return found(**values)
        except TypeError as error:
            raise InputError(f"{self.kind} {spec!r} is incomplete: {error}.") from error


def _convert(text: str, hint: Any, where: str) -> Any:  # noqa: ANN401
    """Read one option's text as its annotated type."""
    origin = get_origin(hint)
    if origin in (Union, types.UnionType):
        if text.lower() == "none" and type(None) in get_args(hint):
            return None
        hint = next(option for option in get_args(hint) if option is not type(None))
        return _convert(text, hint, where)
    if origin is Literal:
        if text not in get_args(hint):
            raise UnknownNameError(f"value for {where}", text, get_args(hint))
        return text
    if hint is bool:
        if text.lower() not in _TRUE_FALSE:
            raise InputError(f"{where} should be true or false, not {text!r}.")
        return _TRUE_FALSE[text.lower()]
    if hint in (int, float):
        try:
            return hint(text)
        except ValueError as error:
            word = "a whole number" if hint is int else "a number"
            raise InputError(f"{where} should be {word}, not {text!r}.") from error
    return Path(text) if hint is Path else text
