"""TextAttack as a peer, run by a Python that has it: it wants other versions of transformers than we do.

Reads queries as one line of JSON, then names of transformations, one a line; answers each with the variations as JSON.
Errors of a transformation are counted as the query coming back, as the study's code does.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import random
import sys
from typing import Any


def augmenter(name: str) -> Any:  # noqa: ANN401
    """One change in ten words, at least one, none to stop words: the study's setting."""
    transformations = importlib.import_module("textattack.transformations")
    constraints = importlib.import_module("textattack.constraints.pre_transformation")
    return importlib.import_module("textattack.augmentation").Augmenter(
        transformation=getattr(transformations, name)(),
        constraints=[constraints.RepeatModification(), constraints.StopwordModification()],
        pct_words_to_swap=0.1,
        transformations_per_example=1,
    )


def vary(made: Any, query: str) -> str:  # noqa: ANN401
    """The variation, or the query where there is none."""
    try:
        return str(made.augment(query)[0])
    except (IndexError, KeyError, ValueError):
        return query


def main() -> None:
    """Answer until there are no more names."""
    known: dict[str, Any] = {}
    queries = json.loads(sys.stdin.readline())
    random.seed(1)
    importlib.import_module("numpy").random.seed(1)
    for line in sys.stdin:
        name = line.strip()
        with contextlib.redirect_stdout(sys.stderr):  # it talks on stdout
            if name not in known:
                known[name] = augmenter(name)
            made = [vary(known[name], query) for query in queries]
        print(json.dumps(made), flush=True)


if __name__ == "__main__":
    main()
