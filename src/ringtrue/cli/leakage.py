"""`ringtrue leakage`: training queries that are (nearly) the test queries, and what that changes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ringtrue.cli.options import Json, MeasureName, Out, Page, QrelsFile, Quiet, Runs, Seed, TieRule

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ringtrue.audit import Audit, Evidence, Section
    from ringtrue.data.notes import Note

app = typer.Typer(no_args_is_help=True, help="Did the model see the test queries during training?")

Train = Annotated[
    str, typer.Option("--train", help="Training queries: a log, a folder, irds:ID or builtin:lighthouse.")
]
Test = Annotated[str, typer.Option("--test", help="Test topics: a file, a folder, irds:ID or builtin:lighthouse.")]
Variants = Annotated[
    Path | None, typer.Option("--variants", help="More texts of the topics: topic-user-n;query a line.")
]
EncoderName = Annotated[
    str | None, typer.Option("--encoder", help="minilm, sbert:NAME, static:minilm or hashing.  [default: minilm]")
]
Threshold = Annotated[float | None, typer.Option("--threshold", help="Similarity above which a query is a candidate.")]
Labels = Annotated[list[Path], typer.Argument(help="Label files: doccano JSONL, Label Studio JSON or CSV.")]
Candidates = Annotated[Path, typer.Option("--candidates", help="What a search wrote: .jsonl, .csv or .parquet.")]
BUILT_IN = "builtin:lighthouse"


@app.command()
def search(
    train: Train = BUILT_IN,
    test: Test = BUILT_IN,
    variants: Variants = None,
    encoder: EncoderName = None,
    threshold: Threshold = None,
    k: Annotated[
        int, typer.Option("--k", min=1, help="Nearest queries kept for each text, besides all above the threshold.")
    ] = 100,
    narrative: Annotated[bool, typer.Option(help="Search for narratives too.")] = False,
    keep_embeddings: Annotated[bool, typer.Option(help="Keep the log's vectors for a second search.")] = False,
    detectors: Annotated[bool, typer.Option(help="Compare with lexical detectors.")] = False,
    out: Out = None,
    page: Page = "report.html",
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Find the training queries that are nearest to each topic, by meaning."""
    from ringtrue.cli.console import Talk, show
    from ringtrue.data.load import load
    from ringtrue.leakage.audit import audit_leakage
    from ringtrue.leakage.candidates import write_candidates
    from ringtrue.leakage.detectors.comparison import detect
    from ringtrue.leakage.search import Settings, search_log, usual_encoder

    topics, log = load(test, variants=variants), load(train)
    settings = Settings(encoder or usual_encoder(), threshold, k, narrative, keep_embeddings=keep_embeddings)
    with Talk(quiet) as say:
        found = search_log(topics, log, settings, say)
        tables: tuple[Section, ...] = ()
        if detectors:
            say("lexical detectors")
            beside = {settings.encoder: found.result.candidates}
            tables = detect(topics.queries, log.log, beside=beside).tables()
    audits: list[Audit] = [audit_leakage(found.result)]
    audits += _evidence("detectors", "What do other detectors find?", tables)
    show(audits, f"Leakage of {test} in {train}", out=out, page=page, json=json, quiet=quiet)
    if out is not None:
        for ending in ("jsonl", "csv", "parquet"):
            write_candidates(out / f"candidates.{ending}", found.result.candidates)
        write_candidates(out / "neighbours.jsonl", found.neighbours)


@app.command()
def labels(
    files: Labels,
    topics: Annotated[
        list[str] | None, typer.Option("--topics", help="A test collection as NAME=TOPICFILE; may be repeated.")
    ] = None,
    out: Out = None,
    page: Page = "report.html",
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Count true and false leaks in human labels, by test collection and by type of reformulation."""
    from ringtrue.cli.console import show
    from ringtrue.data.load import load
    from ringtrue.errors import InputError
    from ringtrue.leakage.exchange import read_label_files
    from ringtrue.leakage.labels import summarise

    collections = {}
    for item in topics or ():
        name, equals, path = item.partition("=")
        if not equals:
            raise InputError(f"--topics {item!r} should be NAME=TOPICFILE.")
        collections[name] = frozenset(query.query_id for query in load(path).queries)
    summary = summarise(read_label_files(files), collections)
    evidence = _evidence("labels", "What do people say of the candidates?", summary.tables(), summary.notes)
    show(evidence, "Labels", out=out, page=page, json=json, quiet=quiet)


@app.command()
def agreement(
    first: Annotated[Path, typer.Argument(help="One person's labels.")],
    second: Annotated[Path, typer.Argument(help="Another person's labels of the same pairs.")],
    seed: Seed = None,
    out: Out = None,
    page: Page = "report.html",
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Measure how far two people agree: kappa for title, variant, and true or false."""
    from ringtrue.cli.console import show
    from ringtrue.leakage.agreement import compare
    from ringtrue.leakage.exchange import read_labels

    found = compare(read_labels(first), read_labels(second), seed=42 if seed is None else seed)
    evidence = _evidence("agreement", "Do two people agree?", found.tables(), found.notes)
    show(evidence, "Agreement", out=out, page=page, json=json, quiet=quiet)


@app.command()
def calibrate(
    files: Labels,
    precision: Annotated[float, typer.Option(min=0, max=1, help="The precision to keep.")] = 0.9,
    seed: Seed = None,
    out: Out = None,
    page: Page = "report.html",
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Find the lowest threshold that keeps a precision on human labels."""
    from ringtrue.audit import Text
    from ringtrue.cli.console import show
    from ringtrue.leakage.calibrate import calibrate as measure
    from ringtrue.leakage.exchange import read_label_files

    found = measure(read_label_files(files), seed=42 if seed is None else seed)
    point, sure = found.lowest(precision), found.lowest(precision, sure=True)
    words = (
        f"No threshold keeps a precision of {precision:g}."
        if point is None
        else f"Above {point.threshold:.3f} the precision is {point.precision:.4f} "
        f"({point.precision_interval.low:.4f} to {point.precision_interval.high:.4f}, {point.pairs} pairs)."
    )
    words += f" The lower bound reaches it above {sure.threshold:.3f}." if sure else " No lower bound reaches it."
    parts: list[Section] = [Text("threshold", "The threshold", words), *found.tables(), found.figure()]
    evidence = _evidence("calibration", f"Which threshold keeps a precision of {precision:g}?", parts, found.notes)
    show(evidence, "Calibration", out=out, page=page, json=json, quiet=quiet)


@app.command()
def sample(
    candidates: Candidates,
    test: Test = BUILT_IN,
    out: Annotated[
        Path, typer.Option("--out", help="File to write: .jsonl (doccano), .json (Label Studio) or .csv.")
    ] = Path("to-label.jsonl"),
    n: Annotated[
        int | None, typer.Option("--n", min=1, help="A stratified sample of so many, for the threshold.")
    ] = None,
    low: Annotated[float, typer.Option(help="Where the stratified sample starts.")] = 0.8,
    per_topic: Annotated[int, typer.Option(min=1, help="Without --n: so many of each topic, for verification.")] = 5,
    threshold: Threshold = None,
    seed: Seed = None,
    quiet: Quiet = False,
) -> None:
    """Draw what people should look at: a stratified sample, or the nearest queries of each topic."""
    from ringtrue.data.load import load
    from ringtrue.leakage.candidates import read_candidates
    from ringtrue.leakage.exchange import write_labels
    from ringtrue.leakage.sample import for_threshold, for_verification

    given, topics = read_candidates(candidates), load(test).queries
    if n is not None:
        chosen = for_threshold(given, topics, n=n, low=low, seed=42 if seed is None else seed)
    else:
        chosen = for_verification(
            given, topics, threshold=-1.0 if threshold is None else threshold, per_topic=per_topic
        )
    write_labels(out, chosen)
    if not quiet:
        typer.echo(f"ringtrue: {len(chosen)} pairs to label in {out}", err=True)


@app.command()
def clean(
    train: Annotated[list[str], typer.Option("--train", help="Training data; may be repeated.")],
    candidates: Candidates,
    out: Annotated[Path, typer.Option("--out", help="Folder for the cleaned files and the account.", file_okay=False)],
    threshold: Threshold = None,
    labels: Annotated[list[Path] | None, typer.Option("--labels", help="Human labels of the candidates.")] = None,
    counted: Annotated[str, typer.Option(help="What goes: all, likely or verified.")] = "all",
    likely: Annotated[float, typer.Option(min=0, max=1, help="With likely: above this probability.")] = 0.5,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Write the training data without the leaks, and an account of what went."""
    from ringtrue.cli.console import show
    from ringtrue.errors import UnknownNameError
    from ringtrue.leakage.account import account_json, account_tables
    from ringtrue.leakage.candidates import read_candidates
    from ringtrue.leakage.choice import Choice, Counted
    from ringtrue.leakage.clean import clean as write_clean
    from ringtrue.leakage.exchange import read_label_files
    from ringtrue.leakage.labels import verified

    if counted not in list(Counted):
        raise UnknownNameError("way to count leaks", counted, list(Counted))
    known = verified(read_label_files(labels)) if labels else {}
    done = write_clean(train, read_candidates(candidates), out, Choice(threshold, Counted(counted), likely, known))
    (out / "account.json").write_text(account_json(done), encoding="utf-8")
    tables = account_tables(done)
    shown = tables[:3]
    show(_evidence("clean", "What went?", shown), "Cleaning", out=None, page="", json=json, quiet=quiet)
    if not quiet:
        typer.echo(f"ringtrue: cleaned files and account.json in {out}", err=True)


@app.command()
def impact(
    candidates: Candidates,
    runs: Runs = None,
    qrels: QrelsFile = None,
    threshold: Threshold = None,
    reference: Annotated[str | None, typer.Option(help="A run to hold others against; else the mean of all.")] = None,
    measure: MeasureName = None,
    ties: TieRule = None,
    seed: Seed = None,
    out: Out = None,
    page: Page = "report.html",
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Compare the systems with and without the leaked topics; needs only runs, judgments and candidates."""
    from ringtrue.cli.console import Talk, show
    from ringtrue.errors import InputError
    from ringtrue.evaluation.measures import parse_measure
    from ringtrue.leakage.audit import audit_leakage
    from ringtrue.leakage.candidates import read_candidates
    from ringtrue.leakage.choice import Choice, leaked_topics
    from ringtrue.leakage.impact import measure_impact
    from ringtrue.leakage.result import SearchResult
    from ringtrue.study import Material, Study

    study = Study().given(runs=runs, qrels=qrels, measure=measure, ties=ties, seed=seed).or_builtin()
    given = read_candidates(candidates)
    with Talk(quiet) as say:
        material = Material(study, say)
        leaked = leaked_topics(Choice(threshold).leaks(given))
        if given and not {one.topic_id for one in given}.intersection(material.qrels.topics):
            raise InputError(
                f"{candidates}: none of its topics ({given[0].topic_id}, …) is judged; "
                "are these the candidates of another collection?"
            )
        found = measure_impact(
            material.runs,
            material.qrels,
            leaked,
            measure=parse_measure(study.measure),
            reference=reference,
            seed=study.seed,
        )
    audit = audit_leakage(SearchResult(given, material.qrels.topics, threshold), impact=found)
    show([audit], "Impact of leaked topics", out=out, page=page, json=json, quiet=quiet)


def _evidence(name: str, title: str, parts: Sequence[Section], notes: Sequence[Note] = ()) -> list[Evidence]:
    """Tables as something that reports can show; nothing where there are none."""
    from ringtrue.audit import Column, Evidence, Table
    from ringtrue.provenance import stamp

    columns = (Column("what", "What"), Column("times", "Times"), Column("first", "First seen in"))
    tolerated = (Table("tolerated", "Tolerated in the input", columns, tuple(notes)),) if notes else ()
    return [Evidence(name, title, (*parts, *tolerated), stamp())] if parts else []
