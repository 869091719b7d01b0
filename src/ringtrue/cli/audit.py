"""`ringtrue audit`: all questions that what is given can answer, on one page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ringtrue.cli.options import GivenRuns, Groups, MeasureName, Positives, Threshold, Variants
from ringtrue.cli.output import VerdictReport


def audit(
    *,
    study: Annotated[Path | None, typer.Argument(help="A study file (TOML); options win over it.")] = None,
    given: GivenRuns,
    groups: Groups = None,
    train: Annotated[str | None, typer.Option(help="Training queries, to look for leaks of the test topics.")] = None,
    variants: Variants = None,
    encoder: Annotated[
        str | None, typer.Option(help="What compares queries.  [default: minilm where installed, else hashing]")
    ] = None,
    threshold: Threshold = None,
    positives: Positives = None,
    ranker: Annotated[
        list[str] | None,
        typer.Option("--ranker", help="Try query variations on it: bm25, 'bm25 >> rm3'; may be repeated."),
    ] = None,
    sampler: Annotated[
        list[str] | None,
        typer.Option(
            "--sampler", help="Samples to try: pool:100, rerank:run=bm25, …; may be repeated.  [default: nine]"
        ),
    ] = None,
    variations: Annotated[
        Path | None, typer.Option(help="Variations of the queries; else a few rules make them.")
    ] = None,
    experiment: Annotated[
        Path | None, typer.Option(help="Show a leakage experiment: the folder of `leakage experiment`.")
    ] = None,
    measure: MeasureName = None,
    replicates: Annotated[
        int | None, typer.Option(min=20, help="Replicates for samples' intervals.  [default: 1000]")
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Seed of everything random.  [default: 42]")] = None,
    tables: Annotated[bool, typer.Option("--tables", help="Print the tables too, not the findings alone.")] = False,
    report: VerdictReport,
) -> None:
    """Audit an evaluation; with no arguments, the built-in collection."""
    from ringtrue.study import Study

    base = Study.from_toml(study) if study else Study()
    asked = given.over(
        base.given(
            groups=groups,
            train=train,
            variants=variants,
            encoder=encoder,
            threshold=threshold,
            positives=positives,
            rankers=tuple(ranker) if ranker else None,
            samplers=tuple(sampler) if sampler else None,
            variations=variations,
            experiment=experiment,
            measure=measure,
            replicates=replicates,
            seed=seed,
        )
    )
    with report.talk() as say:
        audits = tuple(asked.audits(say))
    what = asked.collection or asked.runs or asked.queries or asked.documents
    report.show(audits, f"ringtrue audit of {what}", evidence=tables)
