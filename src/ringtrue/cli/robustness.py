"""`ringtrue robustness`: does the system survive the ways in which people write the same query."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from ringtrue.cli.listing import Listing
from ringtrue.cli.options import BUILT_IN, SEED, Given, Quiet, Seed, refuse
from ringtrue.cli.output import FAILED, Report, VerdictReport, check_folder, check_target, file_of
from ringtrue.cli.spread import spread
from ringtrue.errors import InputError

app = typer.Typer(cls=Listing, no_args_is_help=True, help="Does the system survive the way people write queries?")

VariationsFile = Annotated[Path, typer.Option("--variations", help="What `vary` wrote, or the study's labelled CSV.")]
LabelsFile = Annotated[Path | None, typer.Option("--labels", help="Human labels: a CSV with a column valid.")]
Encode = Annotated[
    bool, typer.Option("--encoder/--no-encoder", help="Compare meanings by minilm where it is installed.")
]


@app.command()
@spread
def vary(
    *,
    queries: Annotated[
        str, typer.Option("--queries", help="Topics: a file, a folder, irds:ID or builtin:lighthouse.")
    ] = BUILT_IN,
    generator: Annotated[
        list[str] | None,
        typer.Option(
            "--generator",
            help="NeighbCharSwap, WNetSynSwap:choice=random, …, a category or all; repeatable.  [default: all]",
        ),
    ] = None,
    n: Annotated[int, typer.Option("--n", min=1, help="Variations of each query by each generator.")] = 1,
    seed: Seed = SEED,
    out: Annotated[
        Path | None,
        typer.Option("--out", help="Folder for variations.csv, or a file; else stdout.", callback=check_target),
    ] = None,
    as_topics: Annotated[
        Path | None,
        typer.Option(
            "--as-topics", help="Folder for one topic file a method, to run elsewhere.", callback=check_folder
        ),
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Write each query differently; of a category or `all`, with every generator that has what it needs here."""
    from ringtrue.cli.console import Talk
    from ringtrue.data.load import load
    from ringtrue.robustness.topics import everything, write_topics
    from ringtrue.robustness.variations import write_variations
    from ringtrue.robustness.vary import choose
    from ringtrue.robustness.vary import vary as write_differently

    generators, missing = choose(generator or ["all"])
    for one in missing if not quiet else ():
        typer.echo(f"ringtrue: without {one.generator}: {one.reason}", err=True)
    topics = load(queries).queries
    made = list(write_differently(topics, generators, n, seed))
    if out is None and as_topics is None:
        write_variations(sys.stdout, made)
        return
    places: list[Path] = []
    if out is not None:
        places.append(file_of(out, "variations.csv"))
        with open(places[0], "w", encoding="utf-8", newline="") as file:
            write_variations(file, made)
    if as_topics is not None:
        places.append(as_topics)
        write_topics(everything(topics, made), as_topics)
    written = sum(one.variation is not None for one in made)
    Talk(quiet).tell(f"{written:,} variations of {len(topics):,} queries are in {' and '.join(map(str, places))}")


@app.command()
@spread
def validity(
    *,
    variations: VariationsFile,
    labels: LabelsFile = None,
    encoder: Encode = True,
    report: VerdictReport,
) -> None:
    """Say which variations still mean the same, by labels where there are any, else by a calibrated model."""
    from ringtrue.data.notes import Notes
    from ringtrue.robustness.labels import read_labelled
    from ringtrue.robustness.similarity import default_encoder
    from ringtrue.robustness.validity_audit import audit_validity

    notes = Notes()
    given, known = read_labelled(variations, labels, notes)
    audit = audit_validity(given, labels=known, encoder=default_encoder() if encoder else None, notes=notes)
    report.show([audit], "Validity of variations")


@app.command()
@spread
def evaluate(
    *,
    variations: VariationsFile,
    given: Given,
    ranker: Annotated[
        list[str] | None,
        typer.Option("--ranker", help="bm25, 'bm25 >> rm3', …; may be repeated.  [default: these two]"),
    ] = None,
    runs: Annotated[
        list[Path] | None, typer.Option("--runs", help="A folder of runs named after the topic files; may be repeated.")
    ] = None,
    labels: LabelsFile = None,
    encoder: Encode = True,
    measure: Annotated[
        list[str] | None, typer.Option("--measure", help="ir_measures names; may be repeated.  [default: nDCG@10]")
    ] = None,
    valid_only: Annotated[bool, typer.Option(help="Leave queries out that have no valid variation.")] = False,
    rerank_only: Annotated[bool, typer.Option(help="Show variations to the later stages alone.")] = False,
    depth: Annotated[
        list[int] | None, typer.Option("--depth", min=1, help="Look at pipelines at this depth too.")
    ] = None,
    seed: Seed = SEED,
    report: VerdictReport,
) -> None:
    """Rank with the queries and with their variations, and see what these cost each ranker."""
    from ringtrue.evaluation.measures import parse_measures
    from ringtrue.retrieval.pipeline import parse_ranker
    from ringtrue.robustness.audit import audit_robustness
    from ringtrue.robustness.labels import known_queries, read_labelled
    from ringtrue.robustness.settings import Settings
    from ringtrue.robustness.similarity import default_encoder
    from ringtrue.robustness.validity import check

    loaded = given.load()
    read, known = read_labelled(variations, labels, loaded.notes)
    varied = known_queries(read, loaded.queries, loaded.notes)
    by = default_encoder() if encoder else None
    asked = ranker or ([] if runs else ["bm25", "bm25 >> rm3"])
    settings = Settings(valid_only, rerank_only, tuple(depth or ()), seed=seed)
    with report.talk() as say:
        audit = audit_robustness(
            loaded,
            [parse_ranker(one) for one in asked],
            check(varied, labels=known, encoder=by),
            runs=runs or (),
            measures=parse_measures(measure or ["nDCG@10"]),
            settings=settings,
            encoder=by,
            say=say,
        )
    if audit.failures:
        typer.echo(f"ringtrue: {len(audit.failures)} queries failed; see the table of failures.", err=True)
    report.show([audit], "Robustness to query variations")
    if audit.failures:
        raise typer.Exit(FAILED)


@app.command()
@spread
def classify(
    *,
    first: Annotated[str, typer.Argument(help="A query, or with --annotations a file of labels.")],
    second: Annotated[str, typer.Argument(help="The other query, or another annotator's file.")],
    more: Annotated[list[str] | None, typer.Argument(help="Further annotators' files.")] = None,
    annotations: Annotated[bool, typer.Option("--annotations", help="The arguments are annotators' files.")] = False,
    encoder: Encode = True,
    report: Report,
) -> None:
    """Name the change between two queries, or compare people's names for such changes with ours."""
    from ringtrue.data.notes import Notes
    from ringtrue.robustness.annotations import read_annotations
    from ringtrue.robustness.similarity import default_encoder
    from ringtrue.robustness.taxonomy import classify as name_change
    from ringtrue.robustness.taxonomy_audit import audit_taxonomy

    if not annotations and not (first.strip() and second.strip()):
        raise InputError("classify compares two queries, and one of these is empty; put each in quotes.")
    if more and not annotations:
        raise InputError(f"classify compares two queries, and {more[0]!r} is a third; put each in quotes.")
    by = default_encoder() if encoder else None
    if annotations:
        files = [read_annotations(Path(path), Notes()) for path in (first, second, *(more or ()))]
        report.show([audit_taxonomy(files, by)], "Kinds of change")
        return
    refuse("without --annotations: the kinds of one change are printed", out=report.out)
    kinds = [kind.value for kind in name_change(first, second, by)]
    if report.json:
        import json as encode

        typer.echo(encode.dumps({"first": first, "second": second, "kinds": kinds}, ensure_ascii=False))
    else:
        typer.echo(", ".join(kinds) or "no change")


@app.command()
@spread
def finetune(
    *,
    collections: Annotated[list[str], typer.Argument(help="Collections whose topics have a title and a description.")],
    out: Annotated[Path, typer.Option("--out", help="Folder for the model.", callback=check_folder)],
    model: Annotated[
        str, typer.Option(help="A T5 to start from: a folder or a name on the hub.")
    ] = "google-t5/t5-base",
    epochs: Annotated[int, typer.Option(min=1, help="Passes over the pairs.")] = 10,
    seed: Seed = SEED,
    quiet: Quiet = False,
) -> None:
    """Train the model of T5DescToTitle on the descriptions and titles of topics."""
    from ringtrue.cli.console import Talk
    from ringtrue.data.load import load
    from ringtrue.robustness.finetune import Training, title_pairs
    from ringtrue.robustness.finetune import finetune as train

    pairs = [pair for spec in collections for pair in title_pairs(load(spec).queries)]
    settings = Training(epochs=epochs, seed=seed)
    with Talk(quiet) as say:
        train(pairs, model, out, settings, lambda step, loss: say(f"step {step}: loss {loss:.4f}"))
    typer.echo(f"{len(pairs)} pairs, model in {out}; use it as T5DescToTitle:model={out}")
