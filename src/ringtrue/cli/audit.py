"""`ringtrue audit`: all questions that what is given can answer, on one page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ringtrue.cli.options import FailOn, Groups, Json, MeasureName, Out, Page, Quiet, Seed, TieRule

_FAILED = 1


def audit(
    study: Annotated[Path | None, typer.Argument(help="A study file (TOML); options win over it.")] = None,
    collection: Annotated[
        str | None, typer.Option(help="irds:ID, a folder, a file or builtin:lighthouse (the default).")
    ] = None,
    runs: Annotated[Path | None, typer.Option(help="A folder of run files, or one file.")] = None,
    qrels: Annotated[Path | None, typer.Option(help="Judgments.")] = None,
    groups: Groups = None,
    train: Annotated[str | None, typer.Option(help="Training queries, to look for leaks of the test topics.")] = None,
    variants: Annotated[Path | None, typer.Option(help="More texts of the topics: topic-user-n;query a line.")] = None,
    encoder: Annotated[
        str | None, typer.Option(help="What compares queries.  [default: minilm where installed, else hashing]")
    ] = None,
    ranker: Annotated[
        list[str] | None,
        typer.Option("--ranker", help="Try query variations on it: bm25, 'bm25 >> rm3'; may be repeated."),
    ] = None,
    variations: Annotated[
        Path | None, typer.Option(help="Variations of the queries; else a few rules make them.")
    ] = None,
    measure: MeasureName = None,
    ties: TieRule = None,
    replicates: Annotated[
        int | None, typer.Option(min=20, help="Replicates for samples' intervals.  [default: 1000]")
    ] = None,
    seed: Seed = None,
    out: Out = None,
    page: Page = "report.html",
    fail_on: Annotated[FailOn, typer.Option(help="Exit with 1 from this verdict on.")] = FailOn.NEVER,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Audit an evaluation; with no arguments, the built-in collection."""
    from ringtrue.audit import Verdict, gravest
    from ringtrue.cli.console import Talk, show
    from ringtrue.study import Study

    base = Study.from_toml(study) if study else Study()
    asked = base.given(
        collection=collection, runs=runs, qrels=qrels, groups=groups, train=train, variants=variants, encoder=encoder,
        rankers=tuple(ranker) if ranker else None, variations=variations,
        measure=measure, ties=ties, replicates=replicates, seed=seed,
    ).or_builtin()  # fmt: skip
    with Talk(quiet) as say:
        audits = tuple(asked.audits(say))
    title = f"ringtrue audit of {asked.collection or asked.runs}"
    show(audits, title, out=out, page=page, json=json, quiet=quiet)
    verdict = gravest(finding for one in audits for finding in one.findings)
    failing = {FailOn.NEVER: (), FailOn.WARN: (Verdict.WARN, Verdict.FAIL), FailOn.FAIL: (Verdict.FAIL,)}
    if verdict in failing[fail_on]:
        raise typer.Exit(_FAILED)
