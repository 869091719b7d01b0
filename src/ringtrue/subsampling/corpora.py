"""What a corpus is made of, by its name: `irds:ID`, `builtin:lighthouse`, a folder, a file or several files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Literal

from ringtrue.data.formats.beir import find_beir, is_beir
from ringtrue.data.formats.detect import Role, role_of
from ringtrue.data.formats.streams import check_file
from ringtrue.data.formats.tables import Shape, shape_of
from ringtrue.data.formats.warc import is_warc
from ringtrue.errors import InputError
from ringtrue.subsampling.jsonlines import JsonLinesFile
from ringtrue.subsampling.parquetfiles import ParquetFile
from ringtrue.subsampling.pieces import IrdsStore, IrdsStream, Piece, RecordFile, WarcFile
from ringtrue.subsampling.trecfiles import TrecFile

Source = str | Path | Sequence[str | Path]
Access = Literal["auto", "stream", "store"]

_SEARCHED: Mapping[Shape, Callable[[Path], Piece]] = {
    Shape.JSONL: JsonLinesFile,
    Shape.MARKUP: TrecFile,
    Shape.PARQUET: ParquetFile,
}


@dataclass(frozen=True)
class Corpus:
    """Pieces in the order in which they are searched; `unused` are other files of a folder, as beside web archives."""

    name: str
    pieces: tuple[Piece, ...]
    unused: tuple[Path, ...] = ()


def open_corpus(source: Source, asked: int, *, main_content: bool = False, access: Access = "auto") -> Corpus:
    """Find the pieces; `access` says how documents of ir_datasets are read, `auto` looks few of many up by id.

    `main_content` is for web archives: without menus, headers and footers.
    """
    if not isinstance(source, str | Path):
        paths = [check_file(path) for path in source]
        if not paths:
            raise InputError("no files of documents were given.")
        return Corpus(", ".join(path.name for path in paths), tuple(file_piece(path, main_content) for path in paths))
    scheme, _, rest = str(source).partition(":")
    if scheme == "irds":
        return Corpus(str(source), (_irds_piece(rest, asked, access),))
    if scheme == "builtin":
        return _folder(Path(str(files("ringtrue.data").joinpath(rest))), str(source), main_content)
    path = Path(source)
    if path.is_dir():
        return _folder(path, str(source), main_content)
    return Corpus(str(source), (file_piece(check_file(path), main_content),))


def _irds_piece(dataset_id: str, asked: int, access: Access) -> Piece:
    from ringtrue.data.formats.irds import IrdsSource  # the import alone takes a third of a second
    from ringtrue.subsampling.stores import is_worthwhile

    IrdsSource(dataset_id).check()
    if access == "store" or (access == "auto" and is_worthwhile(dataset_id, asked)):
        return IrdsStore(dataset_id)
    return IrdsStream(dataset_id)


def _folder(folder: Path, name: str, main_content: bool) -> Corpus:
    """BEIR's corpus file, else all web archives at any depth, else all files of documents."""
    if is_beir(folder):
        documents = find_beir(folder, None).documents
        if documents is None:
            raise InputError(f"{folder} has queries but no corpus.jsonl; give the documents' file.")
        return Corpus(name, (file_piece(documents, main_content),))
    paths = sorted(_files(folder))
    chosen = [path for path in paths if is_warc(path)] or [path for path in paths if role_of(path) is Role.DOCUMENTS]
    if not chosen:
        raise InputError(f"{folder}: no file in it is plainly documents; give the files themselves.")
    taken = frozenset(chosen)
    unused = tuple(path for path in paths if path not in taken)
    return Corpus(name, tuple(file_piece(path, main_content) for path in chosen), unused)


def _files(folder: Path) -> Iterator[Path]:
    """All files below a folder that are not hidden."""
    return (path for path in folder.rglob("*") if path.is_file() and not path.name.startswith("."))


def file_piece(path: Path, main_content: bool) -> Piece:
    """How a file is searched: an archive is told by its name, all else by its content."""
    if is_warc(path):
        return WarcFile(path, main_content)
    shape = shape_of(path)
    return _SEARCHED[shape](path) if shape in _SEARCHED else RecordFile(path, shape)
