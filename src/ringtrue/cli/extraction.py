"""`ringtrue subsample extract`: the documents of a sample, out of whatever holds the corpus."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ringtrue.cli.options import Json, Quiet, refuse
from ringtrue.cli.output import check_folder
from ringtrue.errors import InputError

if TYPE_CHECKING:
    from ringtrue.cli.console import Talk
    from ringtrue.subsampling.energy import Meter
    from ringtrue.subsampling.extract import Extraction, Progress

Energy = Annotated[
    bool, typer.Option("--energy", help="Measure the energy of each stage; into --out, write ir_metadata as well.")
]


_REST = "extract (the rest of an interrupted one)"


@dataclass(frozen=True)
class Asked:
    """Which documents are wanted, and the topics and judgments that go with them."""

    ids: Annotated[Path | None, typer.Option("--ids", help="Document ids, one a line, as `build` writes them.")] = None
    sampler: Annotated[
        str | None, typer.Option("--sampler", help="Instead of --ids, the sample of --runs: pool:100, …")
    ] = None
    runs: Annotated[Path | None, typer.Option("--runs", help="A folder of run files for --sampler.")] = None
    queries: Annotated[Path | None, typer.Option(help="Topics; else those of the source.")] = None
    qrels: Annotated[Path | None, typer.Option(help="Judgments; else those of the source.")] = None

    def doc_ids(self, source: Sequence[str], say: Talk) -> Sequence[str]:
        """The ids in the file, or those of the sample."""
        from ringtrue.data.formats.streams import read_lines
        from ringtrue.data.notes import Notes
        from ringtrue.study import Study

        if self.ids is not None:
            refuse("with --ids", sampler=self.sampler, runs=self.runs)
            return [text.strip() for _, text in read_lines(self.ids, Notes()) if text.strip()]
        if self.sampler is None:
            raise InputError("which documents? Give --ids FILE, or --sampler NAME to take a sample of runs.")
        documents = Path(source[0]) if len(source) == 1 and self.queries and Path(source[0]).is_file() else None
        study = Study().given(
            collection=_collection(source),
            documents=documents,
            runs=self.runs,
            queries=self.queries,
            qrels=self.qrels,
        )
        sample = study.sample(self.sampler, say=say)
        for note in sample.notes:
            say.tell(str(note))
        return sample.doc_ids


def _collection(source: Sequence[str]) -> str | None:
    """The source where it is a collection by itself and not files of documents alone."""
    from ringtrue.data.formats.beir import is_beir

    if len(source) > 1:
        return None
    named, folder = source[0].startswith(("irds:", "builtin:")), Path(source[0])
    return source[0] if named or (folder.is_dir() and is_beir(folder)) else None


def extract(
    *,
    source: Annotated[
        list[str],
        typer.Option("--source", help="irds:ID, a BEIR folder, files of documents or web archives; may be repeated."),
    ],
    out: Annotated[Path, typer.Option("--out", help="Folder for the sample.", callback=check_folder)],
    asked: Asked,
    name: Annotated[
        str | None, typer.Option(help='Register it: after import ringtrue, ir_datasets.load("ringtrue/NAME").')
    ] = None,
    all_topics: Annotated[bool, typer.Option(help="Keep topics without a judged document in the sample.")] = False,
    main_content: Annotated[bool, typer.Option(help="Of web pages, take the main content only.")] = False,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Processes that search files side by side.  [default: up to one a core]")
    ] = None,
    energy: Energy = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Write the documents of a sample as BEIR and Parquet; the same call again goes on after an interruption."""
    from ringtrue.cli.console import Talk
    from ringtrue.data.formats.detect import read_qrels, read_queries
    from ringtrue.subsampling.energy import Meter
    from ringtrue.subsampling.extract import extract as write_sample
    from ringtrue.subsampling.extract import read_before

    before, meter = read_before(out), Meter(out / "energy")
    measured = energy and before is not None  # what is finished takes nothing, which is no figure
    with Talk(quiet, f"what was found is kept in {out}, and the same command goes on from there") as say:
        wanted = asked.doc_ids(source, say)
        with meter.stage(_REST if before else "extract", len(wanted)) if measured else nullcontext():
            done = write_sample(
                source[0] if len(source) == 1 else source,
                wanted,
                out,
                queries=read_queries(asked.queries) if asked.queries else None,
                qrels=read_qrels(asked.qrels) if asked.qrels else None,
                name=name,
                all_topics=all_topics,
                main_content=main_content,
                workers=workers,
                progress=lambda progress: say(_words(progress)),
            )
    if json:
        typer.echo((out / "result.json").read_text(encoding="utf-8"), nl=False)
    else:
        _tell(done, out)
    if measured:
        _tell_energy(meter, done.read - (before or 0), out, quiet=json)
    elif energy and not json:
        typer.echo(f"energy of extract: nothing was left to do, and {_earlier(out)}")


def _words(progress: Progress) -> str:
    place = f"{progress.piece} ({progress.number:,} of {progress.pieces:,})"
    return f"{place}: {progress.read:,} read, {progress.found:,} of {progress.asked:,} found"


def _tell(done: Extraction, out: Path) -> None:
    typer.echo(
        f"{done.documents:,} of {done.asked:,} documents, {done.topics:,} topics, {done.judgments:,} judgments, "
        f"{done.bytes / 1e6:,.1f} MB in {out}"
    )
    if done.missing:
        typer.echo(f"{len(done.missing):,} ids are not in the corpus: see {out / 'missing.txt'}")
    if done.duplicates:
        typer.echo(
            f"{done.duplicates:,} further documents have the id of one that was taken, {done.conflicting:,} of them "
            "with another text; the first was kept"
        )
    for note in done.notes:
        typer.echo(str(note))


def _earlier(out: Path) -> str:
    file = out / "energy.json"
    return f"the earlier figures stay in {file}" if file.is_file() else "it was not measured when it was done"


def _tell_energy(meter: Meter, read: int, out: Path, *, quiet: bool) -> None:
    """What it took, for all documents that were read meanwhile."""
    from ringtrue.subsampling.energy_table import energy_json

    stages = [stage._replace(documents=read) for stage in meter.stages]
    (out / "energy.json").write_text(energy_json(stages), encoding="utf-8")
    for stage in () if quiet else stages:
        typer.echo(f"energy of {stage.energy}")
