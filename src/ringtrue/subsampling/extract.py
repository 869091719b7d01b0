"""A sample out of a corpus: its documents with their topics and judgments, as BEIR and as Parquet.

The corpus is read once and never held; what was found so far is kept beside the result, so that a killed extraction
goes on where it was and gives the same bytes in the end. Documents stand in the order of the corpus, those of
ir_datasets in the order of their ids, whatever the number of processes and the way in which the corpus is read.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from importlib.resources import files
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ringtrue import cache
from ringtrue.data.formats.beir import find_beir, is_beir
from ringtrue.data.notes import Note, Notes
from ringtrue.data.qrels import Qrels
from ringtrue.data.records import Query
from ringtrue.data.sources import Files
from ringtrue.data.sources import Source as Parts
from ringtrue.errors import InputError
from ringtrue.provenance import Provenance, stamp, version
from ringtrue.subsampling.corpora import Access, Corpus, Source, open_corpus
from ringtrue.subsampling.crew import Crew, worthwhile_workers
from ringtrue.subsampling.parts import alone, read_part, read_part_by_id, read_so_far, search_piece, wait_for
from ringtrue.subsampling.pieces import IrdsStore, Piece, Place, WarcFile, noted
from ringtrue.subsampling.registered import check_name, register
from ringtrue.subsampling.sample_files import Once, move_into, write_documents, write_topics

WORK = ".extraction"  # what is kept until an extraction has ended
RESULT = "result.json"
_FORMAT = 2
_ACCESS = "access"
_OUTLIVED_S = 60.0  # they look whether it is gone whenever they write down how far they came


@dataclass(frozen=True)
class Extraction:
    """What was extracted, and what was not.

    `read` counts the documents of the corpus that were looked at; `duplicates` are further documents with the id of
    one that was taken, `conflicting` those of them with another text. `bytes` is the size of corpus.jsonl and
    `compressed_bytes` that of corpus.parquet.
    """

    name: str | None
    source: str
    key: str
    asked: int
    documents: int
    missing: tuple[str, ...]
    read: int
    duplicates: int
    conflicting: int
    bytes: int
    compressed_bytes: int
    topics: int
    topics_left_out: int
    judgments: int
    judgments_left_out: int
    notes: tuple[Note, ...]
    provenance: Provenance


class Progress(NamedTuple):
    """How far an extraction has come: which piece of how many, and documents read and found in it.

    Of files that are searched side by side the number of those that are done, and what was read and found in them.
    """

    piece: str
    number: int
    pieces: int
    read: int
    found: int
    asked: int


class Topics(NamedTuple):
    """Topics and judgments, None where there are none, and what was tolerated when they were read."""

    queries: Sequence[Query] | None
    qrels: Qrels | None
    notes: tuple[Note, ...] = ()


def extract(
    source: Source,
    doc_ids: Iterable[str],
    out: str | Path,
    *,
    queries: Sequence[Query] | None = None,
    qrels: Qrels | None = None,
    name: str | None = None,
    access: Access = "auto",
    main_content: bool = False,
    all_topics: bool = False,
    workers: int | None = None,
    checkpoint_s: float = 5.0,
    progress: Callable[[Progress], None] | None = None,
) -> Extraction:
    """Write the documents of a sample to a folder; the same call again goes on with what was interrupted.

    `source` is `irds:ID`, `builtin:lighthouse`, a BEIR folder, a folder of web archives or other files of documents, a
    file or several. Topics and judgments that are not given are those of the source where it is an ir_datasets id or a
    BEIR folder; topics without a judged document in the sample are left out unless `all_topics`. Under a `name` the
    sample is registered: after `import ringtrue`, `ir_datasets.load("ringtrue/NAME")` gives it. The files of
    a corpus are searched by so many processes (`workers`); not given, by as many as are worth their start.
    """
    wanted = frozenset(doc_ids)
    if not wanted:
        raise InputError("the sample has no documents: nothing to extract.")
    if name is not None:
        check_name(name)
    corpus = open_corpus(source, len(wanted), main_content=main_content, access=_access(Path(out), access))
    topics = _topics(source, Topics(queries, qrels))
    job = _Job(Path(out), name, corpus, wanted, topics, all_topics)
    extraction = job.finished()
    if extraction is None:
        job.begin()
        tell = progress or (lambda _: None)
        count = worthwhile_workers(corpus.pieces) if workers is None else workers
        with alone(job.work / "lock", str(out)):
            job.outlast(checkpoint_s)
            if count > 1:
                job.search_side_by_side(count, checkpoint_s, tell)
            places = job.search(checkpoint_s, tell)
            extraction = job.assemble(places)
    shutil.rmtree(job.work, ignore_errors=True)
    if name is not None:
        register(name, job.out)
    return extraction


def read_before(out: str | Path) -> int | None:
    """How many documents earlier calls read for an extraction that was interrupted; None for a finished one."""
    if (Path(out) / RESULT).is_file():
        return None
    return sum(map(read_so_far, (Path(out) / WORK).glob("*.jsonl")))


def _access(out: Path, asked: Access) -> Access:
    """As asked, else as an interrupted extraction began: what was found one way is of no use to the other."""
    before = out / WORK / _ACCESS
    if asked != "auto" or not before.is_file():
        return asked
    return "store" if before.read_text(encoding="utf-8") == "store" else "stream"


@dataclass(frozen=True, eq=False)
class _Job:
    """One extraction into one folder."""

    out: Path
    name: str | None
    corpus: Corpus
    wanted: frozenset[str]
    topics: Topics
    all_topics: bool

    @property
    def work(self) -> Path:
        """The folder of what is kept until the end."""
        return self.out / WORK

    @property
    def crew(self) -> Path:
        """The folder of the processes that search side by side."""
        return self.work / "crew"

    @cached_property
    def inputs(self) -> dict[str, str]:
        """Keys for the content of the sample and what comes with it."""
        queries, qrels, _ = self.topics
        keys = {"doc_ids": cache.key(*sorted(self.wanted))}
        if queries is not None:
            keys["queries"] = cache.key(*queries)
        if qrels is not None:
            keys["qrels"] = cache.key(*qrels)
        return keys

    @cached_property
    def plan(self) -> str:
        """A key for what is done, whatever the corpus holds."""
        names = [piece.name for piece in self.corpus.pieces]
        return cache.key(_FORMAT, names, self.inputs, self.all_topics)

    @cached_property
    def key(self) -> str:
        """A key for what is done with the corpus as it is."""
        return cache.key(self.plan, *(piece.identity() for piece in self.corpus.pieces))

    def finished(self) -> Extraction | None:
        """The result where the same was done before, under the name that is given now; else an error."""
        if not (self.out / RESULT).is_file():
            return None
        extraction = read_extraction(self.out)
        if extraction.key != self.key:
            raise InputError(
                f"{self.out} holds another extraction, or one of a corpus that has changed since; give another folder."
            )
        if self.name in (None, extraction.name):
            return extraction
        return self._renamed(extraction)

    def _renamed(self, extraction: Extraction) -> Extraction:
        """The same under another name: a name is no reason to read a corpus once more."""
        named, draft = replace(extraction, name=self.name), self.out / f".{RESULT}"
        _write_extraction(named, draft)
        draft.replace(self.out / RESULT)
        return named

    def begin(self) -> None:
        """Make the folders, or find those of the same extraction as it was interrupted."""
        plan = self.work / "plan"
        if self.out.exists() and not self.out.is_dir():
            raise InputError(f"{self.out} is a file; give a folder to extract into.")
        if plan.is_file():
            if plan.read_text(encoding="utf-8") != self.plan:
                raise InputError(
                    f"{self.out} holds another extraction, interrupted; give another folder, or remove it."
                )
            return
        if self.out.is_dir() and any(path.name != WORK for path in self.out.iterdir()):
            raise InputError(f"{self.out} is not an empty folder; give a new one, or empty it first.")
        self.work.mkdir(parents=True, exist_ok=True)
        access = "store" if isinstance(self.corpus.pieces[0], IrdsStore) else "stream"
        (self.work / _ACCESS).write_text(access, encoding="utf-8")
        draft = plan.with_suffix(".new")
        draft.write_text(self.plan, encoding="utf-8")
        draft.rename(plan)

    def outlast(self, every: float) -> None:
        """Wait for searches that outlived the process that began them: they end when they find that it is gone."""
        wait_for((*self.work.glob("*.lock"), *self.crew.glob("claims/*")), max(_OUTLIVED_S, 2 * every))

    def search_side_by_side(self, workers: int, every: float, progress: Callable[[Progress], None]) -> None:
        """Search the files in several processes; what they leave, if anything, is searched after them."""

        def tell(files: int, read: int, found: int) -> None:
            progress(Progress(self.corpus.name, files, len(self.corpus.pieces), read, found, len(self.wanted)))

        crew = Crew(self.crew, workers, every, tell)
        crew.search(self.corpus.pieces, self.parts, self.wanted)

    def search(self, every: float, progress: Callable[[Progress], None]) -> tuple[Place, ...]:
        """Search piece after piece; where each of them ended."""
        places, pieces = [], self.corpus.pieces
        for number, (piece, part) in enumerate(zip(pieces, self.parts, strict=True), start=1):

            def tell(read: int, found: int, piece: Piece = piece, number: int = number) -> None:
                progress(Progress(piece.name, number, len(pieces), read, found, len(self.wanted)))

            places.append(search_piece(piece, self.wanted, part, every=every, tell=tell))
        return tuple(places)

    @property
    def parts(self) -> tuple[Path, ...]:
        """A file for what was found in each piece."""
        return tuple(self.work / f"{number:06d}.jsonl" for number in range(len(self.corpus.pieces)))

    def assemble(self, places: Sequence[Place]) -> Extraction:
        """Put together what was found; a file takes its place only when it is whole, the result comes last."""
        draft = self.work / "new"
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir()
        pieces = zip(self.corpus.pieces, self.parts, strict=True)
        found = (read_part_by_id(part) if piece.by_id else read_part(part) for piece, part in pieces)
        documents = Once(chain.from_iterable(found))
        write_documents(documents, draft)
        self._require_any(documents.doc_ids, places)
        queries, qrels, _ = _restricted(self.topics, documents.doc_ids, self.all_topics)
        write_topics(queries or (), qrels, draft / "topics")
        missing = tuple(sorted(self.wanted - documents.doc_ids))
        (draft / "missing.txt").write_text("".join(f"{doc_id}\n" for doc_id in missing), encoding="utf-8")
        extraction = Extraction(
            name=self.name,
            source=self.corpus.name,
            key=self.key,
            asked=len(self.wanted),
            documents=len(documents.doc_ids),
            missing=missing,
            read=sum(place.read for place in places),
            duplicates=documents.duplicates,
            conflicting=documents.conflicting,
            bytes=(draft / "corpus.jsonl").stat().st_size,
            compressed_bytes=(draft / "corpus.parquet").stat().st_size,
            topics=len(queries or ()),
            topics_left_out=len(self.topics.queries or ()) - len(queries or ()),
            judgments=_count(qrels),
            judgments_left_out=_count(self.topics.qrels) - _count(qrels),
            notes=self._notes(places),
            provenance=self._provenance(draft / "corpus.jsonl"),
        )
        move_into(self.out, chain((draft / "topics").iterdir(), draft.glob("corpus.*"), (draft / "missing.txt",)))
        _write_extraction(extraction, draft / RESULT)
        move_into(self.out, (draft / RESULT,))
        return extraction

    def _require_any(self, found: frozenset[str], places: Sequence[Place]) -> None:
        """Where not one document was found, the ids are of another corpus."""
        if found:
            return
        shutil.rmtree(self.work)
        read, example = sum(place.read for place in places), min(self.wanted)
        raise InputError(
            f"none of the {len(self.wanted):,} documents, as {example!r}, is among the {read:,} of {self.corpus.name}; "
            "give the corpus that the sample is from."
        )

    def _notes(self, places: Sequence[Place]) -> tuple[Note, ...]:
        notes = noted(chain(self.topics.notes, *(place.notes for place in places)))
        for path in self.corpus.unused:
            notes.add("files of the folder that are not read", str(path))
        return tuple(notes)

    def _provenance(self, documents: Path) -> Provenance:
        inputs = {"documents": cache.content_key([documents]), **self.inputs}
        pieces = self.corpus.pieces
        settings: dict[str, str | int | float | bool | None] = {
            "source": self.corpus.name,
            "pieces": len(pieces),
            "all_topics": self.all_topics,
        }
        archive = next((piece for piece in pieces if isinstance(piece, WarcFile)), None)
        if archive:
            settings |= {"main_content": archive.main_content, "resiliparse": version("resiliparse")}
        return stamp(inputs=inputs, settings=settings)


def read_extraction(folder: str | Path) -> Extraction:
    """What an extraction wrote about itself."""
    place = Path(folder)
    try:
        row = json.loads((place / RESULT).read_text(encoding="utf-8"))
        row["missing"] = tuple((place / "missing.txt").read_text(encoding="utf-8").split("\n")[:-1])
        row["notes"] = tuple(Note(*note) for note in row["notes"])
        row["provenance"] = Provenance(**row["provenance"] | {"components": tuple(row["provenance"]["components"])})
        return Extraction(**row)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{place} is not the folder of an extraction ({error}).") from error


def _write_extraction(extraction: Extraction, path: Path) -> None:
    """Write all but the missing ids, which have a file of their own."""
    row = asdict(extraction) | {"missing": len(extraction.missing)}
    path.write_text(json.dumps(row, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def _topics(source: Source, given: Topics) -> Topics:
    """Topics and judgments as given, else those of the source."""
    queries, qrels, _ = given
    if not isinstance(source, str | Path) or (queries is not None and qrels is not None):
        return given
    parts, notes = _parts(str(source), None if qrels is not None else "test"), Notes()
    if parts and queries is None and "queries" in parts.parts:
        queries = parts.queries(notes)
    if parts and qrels is None and "qrels" in parts.parts:
        qrels = parts.qrels(notes)
    return Topics(queries, qrels, tuple(notes))


def _parts(source: str, split: str | None) -> Parts | None:
    """A source that may have topics beside its documents."""
    scheme, _, rest = source.partition(":")
    if scheme == "irds":
        from ringtrue.data.formats.irds import IrdsSource  # the import alone takes a third of a second

        return IrdsSource(rest)
    folder = Path(str(files("ringtrue.data").joinpath(rest))) if scheme == "builtin" else Path(source)
    return Files(*find_beir(folder, split)) if folder.is_dir() and is_beir(folder) else None


def _restricted(topics: Topics, doc_ids: frozenset[str], all_topics: bool) -> Topics:
    """The judgments of the documents, and the topics that have some."""
    queries, qrels, notes = topics
    if qrels is None:
        return topics
    chosen = np.fromiter((doc_id in doc_ids for doc_id in qrels.docs), dtype=np.bool_, count=len(qrels.docs))
    kept = qrels.keep(chosen[qrels.doc])
    judged = {kept.topics[topic] for topic in np.unique(kept.topic).tolist()}
    if queries is not None and not all_topics:
        queries = tuple(query for query in queries if query.query_id in judged)
    return Topics(queries, kept, notes)


def _count(qrels: Qrels | None) -> int:
    return 0 if qrels is None else len(qrels)
