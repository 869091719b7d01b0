"""`ringtrue subsample`: samples of a corpus, and how far the ranking of systems can be trusted on them."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ringtrue.cli.extraction import Energy, extract
from ringtrue.cli.listing import Listing
from ringtrue.cli.options import SEED, Given, GivenRuns, Groups, Json, MeasureName, Quiet, Seed, refuse
from ringtrue.cli.output import Report, VerdictReport, check_file, check_target, file_of
from ringtrue.cli.spread import spread

if TYPE_CHECKING:
    from ringtrue.subsampling.audit import SubsamplingAudit

app = typer.Typer(cls=Listing, no_args_is_help=True, help="How small can the corpus be, and still rank systems alike?")

SamplerNames = Annotated[
    list[str] | None,
    typer.Option(
        "--sampler",
        help="pool:100, judged, loft:1000, rerank:run=NAME,depth=1000, "
        "neighbours:k=15,graph=FILE,base=judged, …; may be repeated.",
    ),
]


class Variant(StrEnum):
    """A set of decisions: how judgments are cut, how ties go, over which topics means are taken."""

    TOPIC_AWARE = "topic_aware"
    TOPIC_FREE = "topic_free"
    PAPER_CODE = "paper_code"


VariantName = Annotated[
    Variant, typer.Option("--variant", help="Judgments cut by topic, by document, or all as the study's code does it.")
]
BytesPerDoc = Annotated[
    float | None, typer.Option("--bytes-per-doc", min=1, help="Mean size of a document; else read from the corpus.")
]
Replicates = Annotated[int, typer.Option("--replicates", min=20, help="Bootstrap replicates.")]
Top = Annotated[
    float, typer.Option("--top", min=0.01, max=1.0, help="Share of the best systems for the …_top columns.")
]


@app.command()
@spread
def reliability(
    *,
    given: GivenRuns,
    groups: Groups = None,
    sampler: SamplerNames = None,
    measure: MeasureName = None,
    variant: VariantName = Variant.TOPIC_AWARE,
    top: Top = 0.75,
    replicates: Replicates = 1000,
    bytes_per_doc: BytesPerDoc = None,
    seed: Seed = SEED,
    report: VerdictReport,
) -> None:
    """Leave each group out once, and see whether the sample still ranks its systems as the full corpus does."""
    from ringtrue.subsampling.sections import reliability_json

    study = given.study().given(groups=groups, measure=measure, seed=seed)
    with report.talk() as say:
        audit = study.subsampling(
            sampler,
            variant=variant.value,
            top=top,
            replicates=replicates,
            bytes_per_doc=bytes_per_doc,
            say=say,
        )

    def also(out: Path) -> None:
        (out / "reliability.json").write_text(reliability_json(audit.samplers, top, audit.truth), encoding="utf-8")

    report.show([audit], "Reliability of corpus samples", also=also)


@app.command()
@spread
def plan(
    *,
    given: GivenRuns,
    groups: Groups = None,
    target_tau: Annotated[
        float | None,
        typer.Option(
            min=-1, max=1, help="What the lower bound of tau_AP_b has to reach.  [default: 0.9 without --max-…]"
        ),
    ] = None,
    max_docs: Annotated[int | None, typer.Option(min=1, help="At most so many documents.")] = None,
    max_kwh: Annotated[
        float | None, typer.Option(min=0, help="At most so much energy, by --kwh-per-doc or --ranker.")
    ] = None,
    kwh_per_doc: Annotated[
        float | None, typer.Option(min=0, help="Energy for one document, as `mimic --energy` measures it.")
    ] = None,
    ranker: Annotated[
        str | None, typer.Option("--ranker", help="Measure now what a document takes with this ranker.")
    ] = None,
    sampler: SamplerNames = None,
    measure: MeasureName = None,
    variant: VariantName = Variant.TOPIC_AWARE,
    replicates: Replicates = 1000,
    seed: Seed = SEED,
    report: VerdictReport,
) -> None:
    """Find the cheapest sample that is reliable enough, before anything expensive runs."""
    from ringtrue.errors import InputError
    from ringtrue.subsampling.plan import Limits

    if max_kwh is not None and kwh_per_doc is None and ranker is None:
        raise InputError("--max-kwh needs --kwh-per-doc or --ranker: ringtrue does not guess what your ranker uses.")
    if kwh_per_doc is not None:
        refuse("with --kwh-per-doc", ranker=ranker)
    study = given.study().given(groups=groups, measure=measure, seed=seed)
    with report.talk() as say:
        rate = study.kwh_per_document(ranker, say) if ranker else kwh_per_doc
        limits = Limits(target_tau, max_docs, max_kwh, rate)
        audit = study.subsampling(sampler, variant=variant.value, limits=limits, replicates=replicates, say=say)
    report.show([audit], "Plan for a corpus sample", closing=f"\nplan: {_choice(audit)}")


def _choice(audit: SubsamplingAudit) -> str:
    if audit.plan is None:
        return f"{audit.why_not}; nothing was tried."
    if audit.plan.chosen is None:
        return "no sampler that was tried will do; see the table, try others (--sampler), or ask for less."
    chosen = audit.plan.chosen
    energy = "" if chosen.kwh is None else f", {chosen.kwh:.4g} kWh"
    return (
        f"{chosen.sampler}, {audit.plan.limits}: about {chosen.docs:,.0f} documents{energy}, "
        f"tau_AP_b {chosen.tau:.3f} ({chosen.low:.3f} or more)."
    )


@app.command()
@spread
def build(
    *,
    given: GivenRuns,
    sampler: Annotated[
        str | None, typer.Option("--sampler", help="pool:100, judged, loft:1000, …  [default: pool:100]")
    ] = None,
    docs: Annotated[int | None, typer.Option(min=1, help="The deepest pool of at most so many documents.")] = None,
    size: Annotated[
        int | None, typer.Option("--bytes", min=1, help="The deepest pool of at most so many bytes.")
    ] = None,
    bytes_per_doc: BytesPerDoc = None,
    variant: VariantName = Variant.TOPIC_AWARE,
    out: Annotated[
        Path | None, typer.Option("--out", help="Folder for ids.txt, or a file; else stdout.", callback=check_target)
    ] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """List the document ids of a sample, one a line."""
    from ringtrue.cli.console import Talk

    if docs or size:
        refuse("with --docs or --bytes, which take the deepest pool that fits", sampler=sampler)
    if not size:
        refuse("without --bytes", bytes_per_doc=bytes_per_doc)
    with Talk(quiet) as say:
        sample = given.study().sample(
            sampler or "pool:100",
            variant=variant.value,
            max_docs=docs,
            max_bytes=size,
            bytes_per_doc=bytes_per_doc,
            say=say,
        )
        say.tell(f"{sample.sampler}: {sample.size}")
        for note in sample.notes:
            say.tell(str(note))
    if json:
        import json as encoder

        row = {"sampler": sample.sampler, "bytes": sample.size.bytes, "bytes_are": sample.size.how}
        notes = [note._asdict() for note in sample.notes]
        text = encoder.dumps({**row, "notes": notes, "doc_ids": sample.doc_ids}, indent=2, ensure_ascii=False) + "\n"
    else:
        text = "".join(f"{doc_id}\n" for doc_id in sample.doc_ids)
    if out is None:
        typer.echo(text, nl=False)
    else:
        file_of(out, "ids.txt").write_text(text, encoding="utf-8")


app.command("extract")(spread(extract))


@app.command()
@spread
def graph(
    *,
    out: Annotated[Path, typer.Option("--out", help="File for the graph.", callback=check_file)],
    given: Given,
    k: Annotated[int, typer.Option("--k", min=1, help="Neighbours of each document.")] = 30,
    terms: Annotated[int | None, typer.Option(min=1, help="Search with so many terms of a document, not all.")] = None,
    quiet: Quiet = False,
) -> None:
    """Build the corpus graph of the relevant documents: the nearest of each by BM25, for `neighbours` samplers."""
    from ringtrue.cli.console import Talk
    from ringtrue.subsampling.graph import build_graph, write_graph

    loaded = given.load()
    relevant = sorted({judgment.doc_id for judgment in loaded.qrels if judgment.relevance > 0})
    with Talk(quiet) as say:
        say(f"searching for the neighbours of {len(relevant):,} relevant documents")
        made = build_graph(loaded, relevant, k=k, terms=terms)
        write_graph(out, made)
        without = f"; {len(made.lacking):,} relevant documents are not in the collection" if made.lacking else ""
        say.tell(f"the graph of {len(made.source):,} documents is in {out}{without}")


@app.command()
@spread
def mimic(
    *,
    given: GivenRuns,
    ranker: Annotated[
        list[str] | None,
        typer.Option(
            "--ranker", help="bm25, biencoder:minilm, …; may be repeated.  [default: bm25, dph and 'bm25 >> rm3']"
        ),
    ] = None,
    sampler: SamplerNames = None,
    energy: Energy = False,
    corpus_docs: Annotated[
        int | None, typer.Option(min=1, help="Documents of the full corpus, to say what it would take.")
    ] = None,
    seed: Seed = SEED,
    report: Report,
) -> None:
    """Compare retrieval on samples with retrieval on the full corpus: what is lost, and why."""
    from ringtrue.subsampling.energy import Meter

    if not energy:
        refuse("without --energy", corpus_docs=corpus_docs)
    meter = Meter(report.out / "energy" if report.out else None) if energy else None
    study = given.study().given(seed=seed)
    with report.talk() as say:
        evidence = study.mimicry(
            ranker or ["bm25", "dph", "bm25 >> rm3"], sampler, meter=meter, corpus_documents=corpus_docs, say=say
        )
    report.show([evidence], "Retrieval on samples")


@app.command()
@spread
def published(
    *,
    rows: Annotated[Path, typer.Argument(help="The study's rows of systems on samples (JSON Lines).")],
    sizes: Annotated[Path | None, typer.Option(help="The study's sizes of samples (JSON).")] = None,
    report: Report,
) -> None:
    """Make the study's tables from its published rows: RBO@10 and energy by class of system, and sizes."""
    from ringtrue.subsampling.published_tables import evidence

    report.show([evidence(rows, sizes)], "Published rows of the study on corpus subsampling")
