"""The name of an encoder: what stands in its table and the options that are not at their default."""

from __future__ import annotations

import dataclasses

from ringtrue.retrieval.encoders import ENCODERS


class Named:
    """Gives a frozen dataclass a `repr` that `ENCODERS.parse` reads back: `minilm:precision=bf16`.

    Fields with `repr=False` are left out: they say where and how the work is done and do not change the vectors.
    """

    def __repr__(self) -> str:
        """As it is written on the command line."""
        fields = dataclasses.fields(self)  # type: ignore[arg-type]
        options = [
            f"{field.name}={value}"
            for field in fields
            if field.repr and (value := getattr(self, field.name)) != field.default
        ]
        target = f"{type(self).__module__}:{type(self).__name__}"
        name = next((name for name, home in ENCODERS.table.items() if home == target), type(self).__name__)
        return f"{name}:{','.join(options)}" if options else name
