"""Options that several commands have, and sets of them; nothing here imports the library before it is needed."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ringtrue.errors import InputError

if TYPE_CHECKING:
    from ringtrue.data.collection import Collection
    from ringtrue.study import Study

BUILT_IN = "builtin:lighthouse"
SEED = 42

Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing on stderr but errors.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON instead of tables.")]
Groups = Annotated[
    str | None,
    typer.Option(
        "--groups",
        help="CSV or TSV with a run and a group or team column, JSON with prefixes (FILE.json#CAMPAIGN where it has "
        "several campaigns), or the word tags.",
    ),
]
MeasureName = Annotated[str | None, typer.Option("--measure", help="An ir_measures name.  [default: nDCG@10]")]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Seed of everything random.")]
Test = Annotated[str, typer.Option("--test", help="Test topics: a file, a folder, irds:ID or builtin:lighthouse.")]
Candidates = Annotated[Path, typer.Option("--candidates", help="What a search wrote: .jsonl, .csv or .parquet.")]
Threshold = Annotated[float | None, typer.Option("--threshold", help="Similarity above which a query is a candidate.")]
Positives = Annotated[
    Path | None,
    typer.Option(
        "--positives",
        help="What the training queries were trained on: judgments, pairs or triples of ids; else what the log names.",
    ),
]
Variants = Annotated[
    Path | None, typer.Option("--variants", help="More texts of the topics: topic-user-n;query a line.")
]


def refuse(why: str, **given: object) -> None:
    """Stop at an option that was given and would have no effect; None is one that was not given."""
    for name, value in given.items():
        if value is not None:
            raise InputError(f"--{name.replace('_', '-')} has no effect {why}.")


@dataclass(frozen=True)
class Given:
    """A collection; files that are given come before what it has, and may do without it."""

    collection: Annotated[
        str | None, typer.Option("--collection", help="irds:ID, a folder, a file or builtin:lighthouse (the default).")
    ] = None
    documents: Annotated[
        Path | None, typer.Option("--documents", help="File of documents, instead of the collection's.")
    ] = None
    queries: Annotated[Path | None, typer.Option("--queries", help="File of topics, instead of the collection's.")] = (
        None
    )
    qrels: Annotated[Path | None, typer.Option("--qrels", help="File of judgments, instead of the collection's.")] = (
        None
    )

    def over(self, study: Study) -> Study:
        """The study with what is given here; the built-in collection where nothing is given at all."""
        return study.given(**asdict(self)).or_builtin()

    def study(self) -> Study:
        """What is given as a study."""
        from ringtrue.study import Study

        return self.over(Study())

    def load(self) -> Collection:
        """What is given as a collection."""
        from ringtrue.data.load import load

        named = self.collection or (None if self.documents or self.queries else BUILT_IN)
        return load(named, documents=self.documents, queries=self.queries, qrels=self.qrels)


@dataclass(frozen=True)
class GivenRuns(Given):
    """A collection and runs on it."""

    runs: Annotated[
        Path | None, typer.Option("--runs", help="A folder of run files, or one file; else the collection's.")
    ] = None
    ties: Annotated[
        str | None, typer.Option("--ties", help="Order of equal scores: asc, desc or trec.  [default: asc]")
    ] = None
