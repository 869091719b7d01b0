"""`ringtrue leakage search`: the training queries that are (nearly) the test queries."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ringtrue.cli.options import BUILT_IN, SEED, Positives, Test, Threshold, Variants, refuse
from ringtrue.cli.output import VerdictReport, as_audits

if TYPE_CHECKING:
    from ringtrue.audit import Audit, Section
    from ringtrue.retrieval.cascade import Plan

Train = Annotated[
    str, typer.Option("--train", help="Training queries: a log, a folder, irds:ID or builtin:lighthouse.")
]
EncoderName = Annotated[
    str | None,
    typer.Option(
        "--encoder",
        help="minilm, sbert:NAME, static:minilm or hashing.  [default: minilm where installed, else hashing]",
    ),
]


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
    trained = None if experiment is None else audit_experiment(experiment)
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
    audits: list[Audit] = [audit_leakage(found.result, pairs=pairs, experiment=trained)]
    audits += as_audits("detectors", "What do other detectors find?", tables)

    def also(out: Path) -> None:
        for ending in ("jsonl", "csv", "parquet"):
            write_candidates(out / f"candidates.{ending}", found.result.candidates)
        write_candidates(out / "neighbours.jsonl", found.neighbours)

    report.show(audits, f"Leakage of {test} in {train}", also=also, done=until_written.close)
