"""`ringtrue subsample`: samples of a corpus, and how far the ranking of systems can be trusted on them."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ringtrue.cli.options import Collection, Groups, Json, MeasureName, Out, Page, QrelsFile, Quiet, Runs, Seed, TieRule

if TYPE_CHECKING:
    from ringtrue.subsampling.audit import SubsamplingAudit

app = typer.Typer(no_args_is_help=True, help="How small can the corpus be? Samplers and leave-one-group-out.")

SamplerNames = Annotated[
    list[str] | None,
    typer.Option("--sampler", help="pool:100, judged, loft:1000, rerank:run=NAME,depth=1000, …; may be repeated."),
]


class Variant(StrEnum):
    """A set of decisions: how judgments are cut, how ties go, over which topics means are taken."""

    TOPIC_AWARE = "topic_aware"
    TOPIC_FREE = "topic_free"
    PAPER_CODE = "paper_code"


VariantName = Annotated[
    Variant, typer.Option("--variant", help="Judgments cut by topic, by document, or all as the study's code does it.")
]
Replicates = Annotated[int, typer.Option("--replicates", min=20, help="Bootstrap replicates.")]
Top = Annotated[
    float, typer.Option("--top", min=0.01, max=1.0, help="Share of the best systems for the …_top columns.")
]


@app.command()
def reliability(
    collection: Collection = None,
    runs: Runs = None,
    qrels: QrelsFile = None,
    groups: Groups = None,
    sampler: SamplerNames = None,
    measure: MeasureName = None,
    ties: TieRule = None,
    variant: VariantName = Variant.TOPIC_AWARE,
    top: Top = 0.75,
    replicates: Replicates = 1000,
    seed: Seed = None,
    out: Out = None,
    page: Page = "report.html",
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Leave each group out once, and see whether the sample still ranks its systems as the full corpus does."""
    from ringtrue.cli.console import Talk, show
    from ringtrue.study import Study
    from ringtrue.subsampling.sections import reliability_json

    study = Study().given(
        collection=collection, runs=runs, qrels=qrels, groups=groups, measure=measure, seed=seed,
        ties=ties or ("desc" if variant is Variant.PAPER_CODE else None),
    ).or_builtin()  # fmt: skip
    with Talk(quiet) as say:
        audit = study.subsampling(sampler, variant=variant.value, top=top, replicates=replicates, say=say)
    show([audit], "Reliability of corpus samples", out=out, page=page, json=json, quiet=quiet)
    if out is not None:
        (out / "reliability.json").write_text(reliability_json(audit.samplers, top), encoding="utf-8")


@app.command()
def plan(
    collection: Collection = None,
    runs: Runs = None,
    qrels: QrelsFile = None,
    groups: Groups = None,
    target_tau: Annotated[
        float, typer.Option(min=-1, max=1, help="What the lower bound of tau_AP_b has to reach.")
    ] = 0.9,
    max_docs: Annotated[int | None, typer.Option(min=1, help="At most so many documents.")] = None,
    max_kwh: Annotated[float | None, typer.Option(min=0, help="At most so much energy; needs --kwh-per-doc.")] = None,
    kwh_per_doc: Annotated[
        float | None, typer.Option(min=0, help="Energy for one document, as measured before.")
    ] = None,
    sampler: SamplerNames = None,
    measure: MeasureName = None,
    ties: TieRule = None,
    replicates: Replicates = 1000,
    seed: Seed = None,
    out: Out = None,
    page: Page = "report.html",
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Find the cheapest sample that is reliable enough, before anything expensive runs."""
    from ringtrue.cli.console import Talk, show
    from ringtrue.errors import InputError
    from ringtrue.study import Study
    from ringtrue.subsampling.plan import Limits

    if max_kwh is not None and kwh_per_doc is None:
        raise InputError("--max-kwh needs --kwh-per-doc: ringtrue does not guess what your ranker uses.")
    study = Study().given(
        collection=collection, runs=runs, qrels=qrels, groups=groups, measure=measure, ties=ties, seed=seed
    ).or_builtin()  # fmt: skip
    limits = Limits(target_tau, max_docs, max_kwh, kwh_per_doc)
    with Talk(quiet) as say:
        audit = study.subsampling(sampler, limits=limits, replicates=replicates, say=say)
    show([audit], "Plan for a corpus sample", out=out, page=page, json=json, quiet=quiet)
    if not json:
        typer.echo(f"\nplan: {_choice(audit)}")


def _choice(audit: SubsamplingAudit) -> str:
    if audit.plan is None or audit.plan.chosen is None:
        return "no sampler meets the limits; see the table, or ask for less."
    chosen = audit.plan.chosen
    return (
        f"{chosen.sampler}, about {chosen.docs:,.0f} documents, tau_AP_b {chosen.tau:.3f} ({chosen.low:.3f} or more)."
    )


@app.command()
def build(
    collection: Collection = None,
    runs: Runs = None,
    qrels: QrelsFile = None,
    sampler: Annotated[str, typer.Option("--sampler", help="pool:100, judged, loft:1000, …")] = "pool:100",
    docs: Annotated[int | None, typer.Option(min=1, help="The deepest pool of at most so many documents.")] = None,
    size: Annotated[
        int | None, typer.Option("--bytes", min=1, help="The deepest pool of at most so many bytes.")
    ] = None,
    bytes_per_doc: Annotated[
        float | None, typer.Option(min=1, help="Size of a document; else read from the corpus.")
    ] = None,
    variant: VariantName = Variant.TOPIC_AWARE,
    ties: TieRule = None,
    out: Annotated[Path | None, typer.Option("--out", help="File for the ids; else they go to stdout.")] = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """List the document ids of a sample, one a line."""
    from ringtrue.cli.console import Talk
    from ringtrue.study import Study

    study = Study().given(collection=collection, runs=runs, qrels=qrels, ties=ties).or_builtin()
    with Talk(quiet) as say:
        sample = study.sample(
            sampler, variant=variant.value, max_docs=docs, max_bytes=size, bytes_per_doc=bytes_per_doc, say=say
        )
        say(f"{sample.sampler}: {len(sample.doc_ids):,} documents")
    if json:
        import json as encoder

        text = (
            encoder.dumps({"sampler": sample.sampler, "doc_ids": sample.doc_ids}, indent=2, ensure_ascii=False) + "\n"
        )
    else:
        text = "".join(f"{doc_id}\n" for doc_id in sample.doc_ids)
    if out is None:
        typer.echo(text, nl=False)
    else:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(text, encoding="utf-8")


@app.command()
def extract(
    source: Annotated[
        list[str],
        typer.Option("--source", help="irds:ID, a BEIR folder, files of documents or web archives; may be repeated."),
    ],
    ids: Annotated[Path, typer.Option("--ids", help="Document ids, one a line, as `build` writes them.")],
    out: Annotated[Path, typer.Option("--out", help="Folder for the sample.", file_okay=False)],
    name: Annotated[str | None, typer.Option(help='Register it: ir_datasets.load("ringtrue/NAME").')] = None,
    queries: Annotated[Path | None, typer.Option(help="Topics; else those of the source.")] = None,
    qrels: QrelsFile = None,
    all_topics: Annotated[bool, typer.Option(help="Keep topics without a judged document in the sample.")] = False,
    main_content: Annotated[bool, typer.Option(help="Of web pages, take the main content only.")] = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Write the documents of a sample as BEIR and Parquet; the same call again goes on after an interruption."""
    from ringtrue.cli.console import Talk
    from ringtrue.data.formats.detect import read_qrels, read_queries
    from ringtrue.data.formats.streams import read_lines
    from ringtrue.data.notes import Notes
    from ringtrue.subsampling.extract import Progress
    from ringtrue.subsampling.extract import extract as write_sample

    with Talk(quiet) as say:

        def tell(progress: Progress) -> None:
            say(f"{progress.piece}: {progress.read:,} read, {progress.found:,} of {progress.asked:,} found")

        done = write_sample(
            source[0] if len(source) == 1 else source,
            [text.strip() for _, text in read_lines(ids, Notes()) if text.strip()],
            out,
            queries=read_queries(queries) if queries else None,
            qrels=read_qrels(qrels) if qrels else None,
            name=name,
            all_topics=all_topics,
            main_content=main_content,
            progress=tell,
        )
    if json:
        typer.echo((out / "result.json").read_text(encoding="utf-8"), nl=False)
        return
    typer.echo(
        f"{done.documents:,} of {done.asked:,} documents, {done.topics:,} topics, {done.judgments:,} judgments in {out}"
    )
    if done.missing:
        typer.echo(f"{len(done.missing):,} ids are not in the corpus: see {out / 'missing.txt'}")


@app.command()
def graph(
    out: Annotated[Path, typer.Option("--out", help="File for the graph.")],
    collection: Collection = None,
    k: Annotated[int, typer.Option("--k", min=1, help="Neighbours of each document.")] = 30,
    terms: Annotated[int | None, typer.Option(min=1, help="Search with so many terms of a document, not all.")] = None,
    quiet: Quiet = False,
) -> None:
    """Build the corpus graph of the relevant documents: the nearest of each by BM25, for `neighbours` samplers."""
    from ringtrue.cli.console import Talk
    from ringtrue.data.load import load
    from ringtrue.subsampling.graph import build_graph, write_graph

    loaded = load(collection or "builtin:lighthouse")
    relevant = sorted({judgment.doc_id for judgment in loaded.qrels if judgment.relevance > 0})
    with Talk(quiet) as say:
        say(f"searching for the neighbours of {len(relevant):,} relevant documents")
        write_graph(out, build_graph(loaded, relevant, k=k, terms=terms))
        say(f"graph of {len(relevant):,} documents in {out}")


@app.command()
def mimic(
    collection: Collection = None,
    runs: Runs = None,
    qrels: QrelsFile = None,
    ranker: Annotated[
        list[str] | None, typer.Option("--ranker", help="bm25, dph, biencoder:minilm, …; may be repeated.")
    ] = None,
    sampler: SamplerNames = None,
    seed: Seed = None,
    out: Out = None,
    page: Page = "report.html",
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Compare retrieval on samples with retrieval on the full corpus: what is lost, and why."""
    from ringtrue.cli.console import Talk, show
    from ringtrue.study import Study

    study = Study().given(collection=collection, runs=runs, qrels=qrels, seed=seed).or_builtin()
    with Talk(quiet) as say:
        evidence = study.mimicry(ranker or ["bm25", "dph", "bm25 >> rm3"], sampler, say=say)
    show([evidence], "Retrieval on samples", out=out, page=page, json=json, quiet=quiet)
