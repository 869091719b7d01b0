"""Sets of options: a parameter whose type is a dataclass stands for one option a field.

Typer knows one option a parameter; this lets commands that share options name them once.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from typing import Any, get_type_hints


def spread(command: Callable[..., None]) -> Callable[..., None]:
    """The command as Typer should see it, with the fields of its sets in the sets' places."""
    sets: dict[str, type] = {}
    parameters: list[inspect.Parameter] = []
    for parameter in inspect.signature(command, eval_str=True).parameters.values():
        if is_dataclass(parameter.annotation):
            assert isinstance(parameter.annotation, type)
            sets[parameter.name] = parameter.annotation
            parameters += _options(parameter.annotation)
        else:
            parameters.append(parameter)

    @functools.wraps(command)
    def call(**given: Any) -> None:  # noqa: ANN401
        built = {name: kind(**{one.name: given.pop(one.name) for one in fields(kind)}) for name, kind in sets.items()}
        command(**given, **built)

    call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    call.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return call


def _options(kind: type) -> Iterator[inspect.Parameter]:
    """A parameter for each field."""
    hints = get_type_hints(kind, include_extras=True)
    for one in fields(kind):
        yield inspect.Parameter(
            one.name, inspect.Parameter.KEYWORD_ONLY, default=one.default, annotation=hints[one.name]
        )
