"""`ringtrue robustness`: does the system survive the ways in which people write the same query."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from ringtrue.cli.options import Collection, Json, Out, Page, Quiet, Seed

app = typer.Typer(no_args_is_help=True, help="Does the system survive the way people write queries?")

BUILT_IN = "builtin:lighthouse"
_FAILED = 1
VariationsFile = Annotated[Path, typer.Option("--variations", help="What `vary` wrote, or the study's labelled CSV.")]
LabelsFile = Annotated[Path | None, typer.Option("--labels", help="Human labels: a CSV with a column valid.")]
Encode = Annotated[
    bool, typer.Option("--encoder/--no-encoder", help="Compare meanings by minilm where it is installed.")
]


@app.command()
def vary(
    queries: Annotated[
        str, typer.Option("--queries", help="Topics: a file, a folder, irds:ID or builtin:lighthouse.")
    ] = BUILT_IN,
    generator: Annotated[
        list[str] | None,
        typer.Option("--generator", help="NeighbCharSwap, WNetSynSwap:choice=random, …, or all; may be repeated."),
    ] = None,
    n: Annotated[int, typer.Option("--n", min=1, help="Variations of each query by each generator.")] = 1,
    seed: Seed = None,
    out: Annotated[Path | None, typer.Option("--out", help="File for variations.csv; else it goes to stdout.")] = None,
    as_topics: Annotated[
        Path | None,
        typer.Option("--as-topics", help="Folder for one topic file a method, to run elsewhere.", file_okay=False),
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Write each query differently; with `all`, every generator that this machine has what it needs for."""
    from ringtrue.data.load import load
    from ringtrue.robustness.ranking import make_task
    from ringtrue.robustness.topics import write_topics
    from ringtrue.robustness.validity import check
    from ringtrue.robustness.variations import write_variations
    from ringtrue.robustness.vary import parse_generators, runnable
    from ringtrue.robustness.vary import vary as write_differently

    asked = generator or ["all"]
    generators = parse_generators(asked)
    if "all" in asked:
        generators, missing = runnable(generators)
        for one in missing if not quiet else ():
            typer.echo(f"ringtrue: without {one.generator}: {one.reason}", err=True)
    topics = load(queries).queries
    made = list(write_differently(topics, generators, n, 42 if seed is None else seed))
    if out is None and as_topics is None:
        write_variations(sys.stdout, made)
    if out is not None:
        out.parent.mkdir(parents=True, exist_ok=True)
        with open(out, "w", encoding="utf-8", newline="") as file:
            write_variations(file, made)
    if as_topics is not None:
        task = make_task(topics, [query.query_id for query in topics], check(made))
        write_topics(task, as_topics)


@app.command()
def validity(
    variations: VariationsFile,
    labels: LabelsFile = None,
    encoder: Encode = True,
    out: Out = None,
    page: Page = "report.html",
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Say which variations still mean the same, by labels where there are any, else by a calibrated model."""
    from ringtrue.cli.console import show
    from ringtrue.data.notes import Notes
    from ringtrue.robustness.labels import by_paper_names, read_labels
    from ringtrue.robustness.similarity import default_encoder
    from ringtrue.robustness.validity_audit import audit_validity
    from ringtrue.robustness.variations import read_variations

    notes = Notes()
    source = labels or (variations if _is_labelled(variations) else None)
    known = read_labels(source, notes) if source else ()
    given = [by_paper_names(one) for one in read_variations(variations, notes)]
    audit = audit_validity(given, labels=known, encoder=default_encoder() if encoder else None)
    show([audit], "Validity of variations", out=out, page=page, json=json, quiet=quiet)


@app.command()
def evaluate(
    variations: VariationsFile,
    collection: Collection = None,
    ranker: Annotated[
        list[str] | None, typer.Option("--ranker", help="bm25, 'bm25 >> rm3', …; may be repeated.")
    ] = None,
    runs: Annotated[
        list[Path] | None, typer.Option("--runs", help="A folder of runs named after the topic files; may be repeated.")
    ] = None,
    labels: LabelsFile = None,
    encoder: Encode = True,
    measure: Annotated[list[str] | None, typer.Option("--measure", help="ir_measures names; may be repeated.")] = None,
    valid_only: Annotated[bool, typer.Option(help="Leave queries out that have no valid variation.")] = False,
    rerank_only: Annotated[bool, typer.Option(help="Show variations to the later stages alone.")] = False,
    depth: Annotated[
        list[int] | None, typer.Option("--depth", min=1, help="Look at pipelines at this depth too.")
    ] = None,
    documents: Annotated[
        Path | None, typer.Option(help="Documents, where the collection's folder leaves them open.")
    ] = None,
    queries: Annotated[
        Path | None, typer.Option(help="Topics, where the collection's folder leaves them open.")
    ] = None,
    qrels: Annotated[
        Path | None, typer.Option(help="Judgments, where the collection's folder leaves them open.")
    ] = None,
    seed: Seed = None,
    out: Out = None,
    page: Page = "report.html",
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Rank with the queries and with their variations, and see what these cost each ranker."""
    from ringtrue.cli.console import Talk, show
    from ringtrue.data.load import load
    from ringtrue.data.notes import Notes
    from ringtrue.evaluation.measures import parse_measures
    from ringtrue.retrieval.pipeline import parse_ranker
    from ringtrue.robustness.audit import audit_robustness
    from ringtrue.robustness.labels import by_paper_names, known_queries, read_labels
    from ringtrue.robustness.settings import Settings
    from ringtrue.robustness.similarity import default_encoder
    from ringtrue.robustness.validity import check
    from ringtrue.robustness.variations import read_variations

    loaded = load(collection or BUILT_IN, documents=documents, queries=queries, qrels=qrels)
    notes = Notes()
    source = labels or (variations if _is_labelled(variations) else None)
    known = read_labels(source, notes) if source else ()
    given = known_queries(map(by_paper_names, read_variations(variations, notes)), loaded.queries, loaded.notes)
    asked = ranker or ([] if runs else ["bm25", "bm25 >> rm3"])
    settings = Settings(valid_only, rerank_only, tuple(depth or ()), seed=42 if seed is None else seed)
    with Talk(quiet) as say:
        audit = audit_robustness(
            loaded,
            [parse_ranker(one) for one in asked],
            check(given, labels=known, encoder=default_encoder() if encoder else None),
            runs=runs or (),
            measures=parse_measures(measure or ["nDCG@10"]),
            settings=settings,
            say=say,
        )
    show([audit], "Robustness to query variations", out=out, page=page, json=json, quiet=quiet)
    if audit.failures:
        typer.echo(f"ringtrue: {len(audit.failures)} queries failed; see the table of failures.", err=True)
        raise typer.Exit(_FAILED)


@app.command()
def classify(
    first: Annotated[str, typer.Argument(help="A query, or with --annotations a file of labels.")],
    second: Annotated[str, typer.Argument(help="The other query, or another annotator's file.")],
    more: Annotated[list[str] | None, typer.Argument(help="Further annotators' files.")] = None,
    annotations: Annotated[bool, typer.Option("--annotations", help="The arguments are annotators' files.")] = False,
    encoder: Encode = True,
    out: Out = None,
    page: Page = "report.html",
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Name the change between two queries, or compare people's names for such changes with ours."""
    from ringtrue.cli.console import show
    from ringtrue.data.notes import Notes
    from ringtrue.robustness.annotations import read_annotations
    from ringtrue.robustness.similarity import default_encoder
    from ringtrue.robustness.taxonomy import classify as name_change
    from ringtrue.robustness.taxonomy_audit import audit_taxonomy

    by = default_encoder() if encoder else None
    if annotations:
        files = [read_annotations(Path(path), Notes()) for path in (first, second, *(more or ()))]
        show([audit_taxonomy(files, by)], "Kinds of change", out=out, page=page, json=json, quiet=quiet)
        return
    kinds = [kind.value for kind in name_change(first, second, by)]
    if json:
        import json as encode

        typer.echo(encode.dumps({"first": first, "second": second, "kinds": kinds}, ensure_ascii=False))
    else:
        typer.echo(", ".join(kinds) or "no change")


@app.command()
def finetune(
    collections: Annotated[list[str], typer.Argument(help="Collections whose topics have a title and a description.")],
    out: Annotated[Path, typer.Option("--out", help="Folder for the model.", file_okay=False)],
    model: Annotated[
        str, typer.Option(help="A T5 to start from: a folder or a name on the hub.")
    ] = "google-t5/t5-base",
    epochs: Annotated[int, typer.Option(min=1, help="Passes over the pairs.")] = 10,
    seed: Seed = None,
    quiet: Quiet = False,
) -> None:
    """Train the model of T5DescToTitle on the descriptions and titles of topics."""
    from ringtrue.cli.console import Talk
    from ringtrue.data.load import load
    from ringtrue.robustness.finetune import Training, title_pairs
    from ringtrue.robustness.finetune import finetune as train

    pairs = [pair for spec in collections for pair in title_pairs(load(spec).queries)]
    settings = Training(epochs=epochs, seed=42 if seed is None else seed)
    with Talk(quiet) as say:
        train(pairs, model, out, settings, lambda step, loss: say(f"step {step}: loss {loss:.4f}"))
    typer.echo(f"{len(pairs)} pairs, model in {out}; use it as T5DescToTitle:model={out}")


def _is_labelled(path: Path) -> bool:
    """Whether a file of variations is the study's, with labels in it."""
    from ringtrue.data.formats.streams import read_head

    return "valid" in read_head(path).partition("\n")[0].replace('"', "").split(",")
