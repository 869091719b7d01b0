"""`ringtrue leakage clean` and `impact`: the training data without the leaks, the systems without the leaked topics."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ringtrue.cli.options import SEED, Candidates, GivenRuns, Json, MeasureName, Quiet, Seed, Threshold, refuse
from ringtrue.cli.output import VerdictReport, as_audits, check_folder


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
    from ringtrue.errors import InputError, UnknownNameError
    from ringtrue.leakage.account import account_json, account_tables
    from ringtrue.leakage.candidates import read_candidates
    from ringtrue.leakage.choice import Choice, Counted, not_reached
    from ringtrue.leakage.clean import clean as write_clean
    from ringtrue.leakage.exchange import read_label_files
    from ringtrue.leakage.labels import verified_texts

    if counted not in list(Counted):
        raise UnknownNameError("way to count leaks", counted, list(Counted))
    if counted != Counted.LIKELY:
        refuse("without --counted likely", likely=likely)
    if counted == Counted.VERIFIED:
        refuse("with --counted verified, where labels alone decide", threshold=threshold)
    if counted == Counted.VERIFIED and not labels:
        raise InputError("only verified leaks were asked for, but there are no labels; give them (--labels FILE).")
    known = verified_texts(read_label_files(labels or ()))
    choice = Choice(threshold, Counted(counted), 0.5 if likely is None else likely, known)
    given = read_candidates(candidates)
    done = write_clean(train, given, out, choice)
    (out / "account.json").write_text(account_json(done), encoding="utf-8")
    print_result(as_audits("clean", "Which training queries were dropped?", account_tables(done)[:3]), json=json)
    say = Talk(quiet)
    if short := not_reached(given, threshold):
        say.tell(short)
    for file in done.files:
        if done.dropped and not file.dropped:
            say.tell(
                f"{file.given} lost nothing: none of its ids is a leak's; are they ids of the log that was searched?"
            )
    if done.without_probability:
        say.tell(
            f"{done.without_probability:,} candidates have no probability, which is predicted only near the encoder's "
            "calibrated threshold and above; they count as not likely"
        )
    say.tell(f"cleaned files and account.json are in {out}")


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
    from ringtrue.leakage.choice import not_reached

    study = given.study().given(measure=measure, seed=seed)
    found = read_candidates(candidates)
    with report.talk() as say:
        if short := not_reached(found, threshold):
            say.tell(short)
        audit = study.impact(found, threshold=threshold, reference=reference, say=say)
    report.show([audit], "Impact of leaked topics")
