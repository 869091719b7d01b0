"""`ringtrue leakage labels`, `agreement`, `calibrate` and `sample`: what people are asked, and what they say."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ringtrue.cli.options import BUILT_IN, SEED, Candidates, Quiet, Seed, Test, Threshold, refuse
from ringtrue.cli.output import Report, as_audits, check_file

if TYPE_CHECKING:
    from ringtrue.audit import Section

Labels = Annotated[list[Path], typer.Argument(help="Label files: doccano JSONL, Label Studio JSON or CSV.")]


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
    evidence = as_audits("labels", "What do people say of the candidates?", summary.tables(), summary.notes)
    report.show(evidence, "Labels")


def agreement(
    *,
    first: Annotated[Path, typer.Argument(help="One person's labels.")],
    second: Annotated[Path, typer.Argument(help="Another person's labels of the same pairs.")],
    seed: Seed = SEED,
    report: Report,
) -> None:
    """Measure how far two people agree: kappa for title, variant, and true or false."""
    from ringtrue.errors import InputError
    from ringtrue.leakage.agreement import compare
    from ringtrue.leakage.exchange import read_labels

    if first.resolve() == second.resolve():
        raise InputError(f"{first} is given twice; give two people's labels of the same topics and queries.")
    found = compare(read_labels(first), read_labels(second), seed=seed)
    evidence = as_audits("agreement", "Do two people agree?", found.tables(), found.notes)
    report.show(evidence, "Agreement")


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
    evidence = as_audits("calibration", f"Which threshold keeps a precision of {precision:g}?", parts, found.notes)
    report.show(evidence, "Calibration")


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
