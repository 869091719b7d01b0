"""`ringtrue leakage`: training queries that are (nearly) the test queries, and what that changes."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ringtrue.cli import leakage_training
from ringtrue.cli.listing import Listing
from ringtrue.cli.options import (
    BUILT_IN,
    SEED,
    GivenRuns,
    Json,
    MeasureName,
    Positives,
    Quiet,
    Seed,
    Threshold,
    Variants,
    refuse,
)
from ringtrue.cli.output import Report, VerdictReport, check_file, check_folder
from ringtrue.cli.spread import spread

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ringtrue.audit import Audit, Evidence, Section
    from ringtrue.data.notes import Note
    from ringtrue.retrieval.cascade import Plan

app = typer.Typer(cls=Listing, no_args_is_help=True, help="Did the model see the test queries during training?")
app.command()(spread(leakage_training.trainsets))
app.command()(spread(leakage_training.experiment))

Train = Annotated[
    str, typer.Option("--train", help="Training queries: a log, a folder, irds:ID or builtin:lighthouse.")
]
Test = Annotated[str, typer.Option("--test", help="Test topics: a file, a folder, irds:ID or builtin:lighthouse.")]
EncoderName = Annotated[
    str | None, typer.Option("--encoder", help="minilm, sbert:NAME, static:minilm or hashing.  [default: minilm]")
]
Labels = Annotated[list[Path], typer.Argument(help="Label files: doccano JSONL, Label Studio JSON or CSV.")]
Candidates = Annotated[Path, typer.Option("--candidates", help="What a search wrote: .jsonl, .csv or .parquet.")]


@dataclass(frozen=True)
class How:
    """How to go through the log; what is not given is as a plan has it."""

    mode: Annotated[
        str, typer.Option("--mode", help="exact, or cascade: a stand-in screens the log, and the recall is estimated.")
    ] = "exact"
    recall: Annotated[
        float | None,
        typer.Option(
            "--recall", min=0, max=1, help="With cascade: what the recall's lower bound should reach.  [default: 0.999]"
        ),
    ] = None
    effort: Annotated[
        float | None,
        typer.Option(
            "--effort", min=0, max=1, help="With cascade: the share of the log that may be encoded.  [default: 0.02]"
        ),
    ] = None
    seed: Annotated[
        int | None,
        typer.Option("--seed", min=0, help="With cascade: seed of the sample of what it leaves out.  [default: 42]"),
    ] = None

    def __post_init__(self) -> None:
        """Refuse what an exact search would ignore."""
        if self.mode == "exact":
            refuse("without --mode cascade", recall=self.recall, effort=self.effort, seed=self.seed)

    def plan(self) -> Plan:
        """For a cascade."""
        from ringtrue.retrieval.cascade import Plan

        given = (("recall", self.recall), ("effort", self.effort))
        return Plan(
            seed=SEED if self.seed is None else self.seed, **{name: one for name, one in given if one is not None}
        )


@app.command()
@spread
def search(
    *,
    train: Train = BUILT_IN,
    test: Test = BUILT_IN,
    variants: Variants = None,
    qrels: Annotated[
        Path | None, typer.Option("--qrels", help="The test's judgments, for leaked documents; else those of --test.")
    ] = None,
    positives: Positives = None,
    encoder: EncoderName = None,
    threshold: Threshold = None,
    k: Annotated[
        int, typer.Option("--k", min=1, help="Nearest queries kept for each text, besides all above the threshold.")
    ] = 100,
    narrative: Annotated[bool, typer.Option(help="Search for narratives too.")] = False,
    keep_embeddings: Annotated[bool, typer.Option(help="Keep the log's vectors for a second search.")] = False,
    how: How,
    detectors: Annotated[bool, typer.Option(help="Compare with lexical detectors.")] = False,
    experiment: Annotated[
        Path | None, typer.Option(help="Show what leaks are worth: the folder of `leakage experiment`.")
    ] = None,
    report: VerdictReport,
) -> None:
    """Find the training queries that are nearest to each topic, by meaning."""
    from ringtrue.data.load import load, load_log
    from ringtrue.errors import UnknownNameError
    from ringtrue.leakage.audit import audit_leakage
    from ringtrue.leakage.candidates import write_candidates
    from ringtrue.leakage.detectors.comparison import detect
    from ringtrue.leakage.experiment.audit import audit_experiment
    from ringtrue.leakage.pairs import check_positives, pairs_between
    from ringtrue.leakage.search import Mode, Settings, searching, usual_encoder

    if how.mode not in list(Mode):
        raise UnknownNameError("mode of searching", how.mode, list(Mode))
    topics, log = load(test, qrels=qrels, variants=variants, of_queries=True), load_log(train)
    check_positives(positives, topics)
    settings = Settings(
        encoder or usual_encoder(),
        threshold,
        k,
        narrative,
        keep_embeddings=keep_embeddings,
        mode=Mode(how.mode),
        plan=how.plan(),
    )
    until_written = ExitStack()
    with report.talk("the search up to the last half minute is kept, and the same command goes on from there") as say:
        found = until_written.enter_context(searching(topics, log, settings, say))
        tables: tuple[Section, ...] = ()
        if detectors:
            say("lexical detectors")
            beside = {settings.encoder: found.result.candidates}
            tables = detect(topics.queries, log.log, beside=beside).tables()
        pairs = pairs_between(topics, log, found.result.candidates, positives)
    trained = None if experiment is None else audit_experiment(experiment)
    audits: list[Audit] = [audit_leakage(found.result, pairs=pairs, experiment=trained)]
    audits += _evidence("detectors", "What do other detectors find?", tables)

    def also(out: Path) -> None:
        for ending in ("jsonl", "csv", "parquet"):
            write_candidates(out / f"candidates.{ending}", found.result.candidates)
        write_candidates(out / "neighbours.jsonl", found.neighbours)

    report.show(audits, f"Leakage of {test} in {train}", also=also, done=until_written.close)


@app.command()
@spread
def labels(
    *,
    files: Labels,
    topics: Annotated[
        list[str] | None, typer.Option("--topics", help="A test collection as NAME=TOPICFILE; may be repeated.")
    ] = None,
    report: Report,
) -> None:
    """Count true and false leaks in human labels, by test collection and by type of reformulation."""
    from ringtrue.data.load import load
    from ringtrue.errors import InputError
    from ringtrue.leakage.exchange import read_label_files
    from ringtrue.leakage.labels import summarise

    collections = {}
    for item in topics or ():
        name, equals, path = item.partition("=")
        if not equals:
            raise InputError(f"--topics {item!r} should be NAME=TOPICFILE.")
        collections[name] = frozenset(query.query_id for query in load(path, of_queries=True).queries)
    summary = summarise(read_label_files(files), collections)
    evidence = _evidence("labels", "What do people say of the candidates?", summary.tables(), summary.notes)
    report.show(evidence, "Labels")


@app.command()
@spread
def agreement(
    *,
    first: Annotated[Path, typer.Argument(help="One person's labels.")],
    second: Annotated[Path, typer.Argument(help="Another person's labels of the same pairs.")],
    seed: Seed = SEED,
    report: Report,
) -> None:
    """Measure how far two people agree: kappa for title, variant, and true or false."""
    from ringtrue.leakage.agreement import compare
    from ringtrue.leakage.exchange import read_labels

    found = compare(read_labels(first), read_labels(second), seed=seed)
    evidence = _evidence("agreement", "Do two people agree?", found.tables(), found.notes)
    report.show(evidence, "Agreement")


@app.command()
@spread
def calibrate(
    *,
    files: Labels,
    precision: Annotated[float, typer.Option(min=0, max=1, help="The precision to keep.")] = 0.9,
    seed: Seed = SEED,
    report: Report,
) -> None:
    """Find the lowest threshold that keeps a precision on human labels."""
    from ringtrue.audit import Text
    from ringtrue.leakage.calibrate import calibrate as measure
    from ringtrue.leakage.exchange import read_label_files

    found = measure(read_label_files(files), seed=seed)
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
    report.show(evidence, "Calibration")


@app.command()
@spread
def sample(
    *,
    candidates: Candidates,
    test: Test = BUILT_IN,
    out: Annotated[
        Path,
        typer.Option(
            "--out", help="File to write: .jsonl (doccano), .json (Label Studio) or .csv.", callback=check_file
        ),
    ] = Path("to-label.jsonl"),
    n: Annotated[
        int | None, typer.Option("--n", min=1, help="A stratified sample of so many, for the threshold.")
    ] = None,
    low: Annotated[
        float | None, typer.Option(help="With --n: the similarity where the sample starts.  [default: 0.8]")
    ] = None,
    per_topic: Annotated[
        int | None, typer.Option(min=1, help="Without --n: so many of each topic, for verification.  [default: 5]")
    ] = None,
    threshold: Threshold = None,
    seed: Seed = SEED,
    quiet: Quiet = False,
) -> None:
    """Draw what people should look at: a stratified sample, or the nearest queries of each topic."""
    from ringtrue.cli.console import Talk
    from ringtrue.data.load import load
    from ringtrue.leakage.candidates import read_candidates
    from ringtrue.leakage.exchange import write_labels
    from ringtrue.leakage.sample import for_threshold, for_verification, not_covered

    if n is None:
        refuse("without --n", low=low)
    else:
        refuse("with --n, which draws from all candidates above --low", per_topic=per_topic, threshold=threshold)
    given, topics = read_candidates(candidates), load(test, of_queries=True).queries
    missing = ""
    if n is not None:
        least = 0.8 if low is None else low
        chosen, missing = for_threshold(given, topics, n=n, low=least, seed=seed), not_covered(given, least)
    else:
        least = -1.0 if threshold is None else threshold
        chosen = for_verification(given, topics, threshold=least, per_topic=per_topic or 5)
    write_labels(out, chosen)
    fewer = f", all that there are where {n:,} were asked for," if n and len(chosen) < n else ""
    if missing:
        Talk(quiet).tell(missing)
    Talk(quiet).tell(f"{len(chosen):,} pairs to label{fewer} are in {out}")


@app.command()
@spread
def clean(
    *,
    train: Annotated[list[str], typer.Option("--train", help="Training data; may be repeated.")],
    candidates: Candidates,
    out: Annotated[
        Path, typer.Option("--out", help="Folder for the cleaned files and the account.", callback=check_folder)
    ],
    threshold: Threshold = None,
    labels: Annotated[list[Path] | None, typer.Option("--labels", help="Human labels of the candidates.")] = None,
    counted: Annotated[str, typer.Option(help="What goes: all, likely or verified.")] = "all",
    likely: Annotated[
        float | None,
        typer.Option(min=0, max=1, help="With --counted likely: above this probability.  [default: 0.5]"),
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Write the training data without the leaks, and an account of what went."""
    from ringtrue.cli.console import Talk, print_result
    from ringtrue.errors import UnknownNameError
    from ringtrue.leakage.account import account_json, account_tables
    from ringtrue.leakage.candidates import read_candidates
    from ringtrue.leakage.choice import Choice, Counted
    from ringtrue.leakage.clean import clean as write_clean
    from ringtrue.leakage.exchange import read_label_files
    from ringtrue.leakage.labels import verified

    if counted not in list(Counted):
        raise UnknownNameError("way to count leaks", counted, list(Counted))
    if counted != Counted.LIKELY:
        refuse("without --counted likely", likely=likely)
    if counted == Counted.VERIFIED:
        refuse("with --counted verified, where labels alone decide", threshold=threshold)
    known = verified(read_label_files(labels)) if labels else {}
    choice = Choice(threshold, Counted(counted), 0.5 if likely is None else likely, known)
    done = write_clean(train, read_candidates(candidates), out, choice)
    (out / "account.json").write_text(account_json(done), encoding="utf-8")
    print_result(_evidence("clean", "Which training queries were dropped?", account_tables(done)[:3]), json=json)
    if done.without_probability:
        Talk(quiet).tell(
            f"{done.without_probability:,} candidates have no probability, which is predicted only near the encoder's "
            "calibrated threshold and above; they count as not likely"
        )
    Talk(quiet).tell(f"cleaned files and account.json are in {out}")


@app.command()
@spread
def impact(
    *,
    candidates: Candidates,
    given: GivenRuns,
    threshold: Threshold = None,
    reference: Annotated[str | None, typer.Option(help="A run to hold others against; else the mean of all.")] = None,
    measure: MeasureName = None,
    seed: Seed = SEED,
    report: VerdictReport,
) -> None:
    """Compare the systems with and without the leaked topics; needs only runs, judgments and candidates."""
    from ringtrue.leakage.candidates import read_candidates

    study = given.study().given(measure=measure, seed=seed)
    with report.talk() as say:
        audit = study.impact(read_candidates(candidates), threshold=threshold, reference=reference, say=say)
    report.show([audit], "Impact of leaked topics")


def _evidence(name: str, title: str, parts: Sequence[Section], notes: Sequence[Note] = ()) -> list[Evidence]:
    """Tables as something that reports can show; nothing where there are none."""
    from ringtrue.audit import Column, Evidence, Table
    from ringtrue.provenance import stamp

    columns = (Column("what", "What"), Column("times", "Times"), Column("first", "First seen in"))
    tolerated = (Table("tolerated", "Tolerated in the input", columns, tuple(notes)),) if notes else ()
    return [Evidence(name, title, (*parts, *tolerated), stamp())] if parts else []
