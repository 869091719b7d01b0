"""Any file as bytes or as lines of text, whatever its compression and encoding.

Compression is told by the first bytes, never by the name: gzip, bzip2, xz and Zstandard, with several members or
frames. Text is UTF-8; a line that is not is read as Windows-1252 and counted. Lines end with LF or CRLF only, so that
the rarer separators of Unicode may stand in a document. Left out: archives of several files, UTF-16.
"""

from __future__ import annotations

import bz2
import difflib
import io
import lzma
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol, cast

from ringtrue.data.ahead import Ahead
from ringtrue.data.notes import Notes
from ringtrue.errors import FormatError, InputError

_BLOCK = 1 << 18  # a quarter of a megabyte: larger blocks are slower, their lines do not stay in the processor's cache
_HEAD = 1 << 16
_BROKEN = (EOFError, OSError, lzma.LZMAError)
_ARCHIVES = {
    b"PK\x03\x04": "a zip archive",
    b"7z\xbc\xaf\x27\x1c": "a 7z archive",
    b"\x1f\x9d": "compressed by `compress`",
    b"Rar!": "a rar archive",
}
_FOLLOWED: ContextVar[Followed | None] = ContextVar("followed", default=None)
_ABOUT = re.compile(r"\.|(readme|license|licence|changelog|copying)(\.[a-z]+)?$|.*\.md$", re.IGNORECASE)
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_BOM = b"\xef\xbb\xbf"
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\r\v\f\x1b"))
_MOST_CONTROLS = 0.02


class _Readable(Protocol):
    """What decompressing files and plain ones have in common."""

    def read(self, size: int = ..., /) -> bytes:
        """The next bytes, at most `size`; none at the end."""


class _Sips(io.BufferedIOBase):
    """A file of which no more than a block is read at a time, so that its place tells how far its reader has come."""

    def __init__(self, file: io.BufferedReader) -> None:
        """Read from a file that others open and close."""
        self._file = file

    def read(self, size: int | None = -1, /) -> bytes:
        """The next bytes, at most a block."""
        return self._file.read(_BLOCK if size is None or size < 0 else min(size, _BLOCK))


class _Decompressor(Protocol):
    @property
    def eof(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    def decompress(self, data: bytes, /) -> bytes: ...


class _Compression(NamedTuple):
    """How compressed data begins and how it is read."""

    name: str
    starts: tuple[bytes, ...]
    blocks: Callable[[io.BufferedReader], Iterator[bytes]]


@dataclass
class Followed:
    """How many bytes of a file were read, of those that it has on the disk."""

    read: int = 0
    size: int = 0

    @property
    def share(self) -> float:
        """How much of it was read; 0 where no file is."""
        return self.read / self.size if self.size else 0.0


@contextmanager
def following() -> Iterator[Followed]:
    """Tells how far the last file is that reading began of inside."""
    followed = Followed()
    token = _FOLLOWED.set(followed)
    try:
        yield followed
    finally:
        _FOLLOWED.reset(token)


def read_blocks(path: str | Path) -> Iterator[bytes]:
    """The content in pieces, decompressed; at least one, none of them empty."""
    with _open(Path(path)) as file:
        followed = _FOLLOWED.get() or Followed()
        start = file.peek(8)[:8]
        for magic, what in _ARCHIVES.items():
            if start.startswith(magic):
                raise FormatError(f"this is {what}; unpack it and give the file inside.", path)
        found = next((one for one in _COMPRESSIONS if start.startswith(one.starts)), None)
        blocks = found.blocks(file) if found else _pieces(file)
        empty = True
        try:
            for block in blocks:
                if block:
                    empty = False
                    followed.read, followed.size = file.tell(), os.fstat(file.fileno()).st_size
                    yield block
        except _BROKEN as error:
            what = f"the {found.name} data is damaged or cut short" if found else "the file cannot be read"
            raise FormatError(f"{what} ({error}); fetch or make the file again.", path) from error
    if empty:
        raise FormatError("the file is empty.", path)


def read_blocks_ahead(path: str | Path) -> Iterator[bytes]:
    """The same pieces, the next two of which are made by a second thread while one is looked at.

    What decompresses leaves Python's lock alone meanwhile. Two, since a thread that has to be told when to go on waits
    for the lock as long as the piece is looked at.
    """
    with Ahead(read_blocks(path), 2) as blocks:
        yield from blocks


def read_bytes(path: str | Path) -> bytes:
    """The whole content, decompressed."""
    return b"".join(read_blocks(path))


def read_head(path: str | Path) -> str:
    """The first whole lines, for telling formats apart: about 64,000 characters, or one line where it is longer."""
    _, text = next(read_texts(path, Notes()))
    head = text[: max(_HEAD, text.find("\n") + 1)]
    return head[: head.rfind("\n") + 1] or head


def read_pieces(path: str | Path) -> Iterator[tuple[int, bytes]]:
    """Pieces of bytes that end where lines end, each with the number of its first line."""
    number = 1
    rest: list[bytes] = []
    for block in read_blocks(path):
        if number == 1 and not rest:
            block = _start_of_text(block, path)
        if b"\0" in block:
            line = number + b"".join((*rest, block[: block.index(b"\0")])).count(b"\n")
            raise FormatError("a NUL byte: this is not a text file, or it was damaged.", path, line)
        cut = block.rfind(b"\n") + 1
        if cut:
            whole = b"".join((*rest, block[:cut]))
            rest = []
            yield number, whole
            number += whole.count(b"\n")
        rest.append(block[cut:])
    last = b"".join(rest)
    if last:
        yield number, last
    elif number == 1:
        raise FormatError("the file is empty but for a byte order mark.", path)


def read_texts(path: str | Path, notes: Notes) -> Iterator[tuple[int, str]]:
    """Pieces of text that end where lines end, each with the number of its first line; CRLF has become LF."""
    return ((number, decode(data, path, number, notes)) for number, data in read_pieces(path))


def read_lines(path: str | Path, notes: Notes) -> Iterator[tuple[int, str]]:
    """Every line without its end, with its number from 1; blank lines too. Memory does not grow with the file."""
    for first, text in read_texts(path, notes):
        yield from enumerate(split_lines(text), first)


def split_lines(text: str) -> list[str]:
    """The lines of a piece of text without their ends."""
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return lines


def check_file(path: str | Path, otherwise: str = "") -> Path:
    """The path of a file that can be read twice; `otherwise` ends the message where it is not there."""
    found = Path(path)
    try:
        _open(found).close()
    except InputError as error:
        raise InputError(f"{error} {otherwise}".rstrip()) from error
    if not found.is_file():
        raise InputError(f"{path} is a pipe or a device, and can be read only once; write it to a file first.")
    return found


def data_files(folder: Path) -> list[Path]:
    """The files of a folder in order of name, without hidden ones and those that tell about others: README, LICENSE."""
    return sorted(path for path in folder.iterdir() if path.is_file() and not _ABOUT.match(path.name))


def plain_name(path: str | Path) -> str:
    """The file's name in lower case without the ending of a compression: `Topics.TSV.gz` is `topics.tsv`."""
    name = Path(path).name.lower()
    for ending in (".gz", ".bz2", ".xz", ".zst"):
        name = name.removesuffix(ending)
    return name


def _open(path: Path) -> io.BufferedReader:
    """Open for reading, or say why not and what there is instead."""
    try:
        return open(path, "rb")
    except IsADirectoryError as error:
        raise InputError(f"{path} is a folder where a file is expected; give one of its files.") from error
    except FileNotFoundError as error:
        raise InputError(f"{path}: no such file{_instead(path)}") from error
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}.") from error


def _instead(path: Path) -> str:
    """The nearest names in the folder, or that there is no such folder."""
    if not path.parent.is_dir():
        return f"; there is no folder {path.parent} either."
    near = difflib.get_close_matches(path.name, sorted(os.listdir(path.parent)), n=3, cutoff=0.6)
    return f"; did you mean {' or '.join(near)}?" if near else "; check the path."


def _start_of_text(block: bytes, path: str | Path) -> bytes:
    """The first block without a byte order mark; what is plainly not text is an error."""
    if block.startswith(_UTF16):
        raise FormatError("this is UTF-16; convert it: iconv -f UTF-16 -t UTF-8.", path)
    head = block[:_HEAD]
    controls = len(head) - len(head.translate(None, _CONTROLS))
    if b"\0" not in head and controls > _MOST_CONTROLS * len(head):
        raise FormatError("this is binary data, not text; give a text file, or Parquet by its real content.", path)
    return block.removeprefix(_BOM)


def decode(data: bytes, path: str | Path, number: int, notes: Notes) -> str:
    """Whole lines as text; where they are not UTF-8, line by line."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        lines = enumerate(data.split(b"\n"), number)
        text = "\n".join(_decode_line(line, f"{path}, line {place}", notes) for place, line in lines)
    return text.replace("\r\n", "\n").removesuffix("\r") if "\r" in text else text


def _decode_line(line: bytes, where: str, notes: Notes) -> str:
    """UTF-8, else Windows-1252, else (for its five undefined bytes) Latin-1."""
    try:
        return line.decode()
    except UnicodeDecodeError:
        notes.add("lines that are not UTF-8, read as Windows-1252", where)
    try:
        return line.decode("cp1252")
    except UnicodeDecodeError:
        return line.decode("latin-1")


def _pieces(file: _Readable) -> Iterator[bytes]:
    """All that a file holds, block by block."""
    return iter(lambda: file.read(_BLOCK), b"")


def _members(file: _Readable, start: Callable[[], _Decompressor]) -> Iterator[bytes]:
    """Member after member of a compressed file; one that is cut short is an error.

    The last piece is held back until its member has ended, so that readers hear of the damage and not of what it does
    to the last line.
    """
    data = file.read(_BLOCK)
    while data:
        member, held = start(), b""
        while not member.eof:
            if not data:
                raise EOFError("the last part has no end")
            if held:
                yield held
            held = member.decompress(data)
            data = b"" if member.eof else file.read(_BLOCK)
        yield held
        data = member.unused_data or file.read(_BLOCK)
        if not data.strip(b"\0"):  # padding, as tapes leave it behind
            data = b""


def _gzip_pieces(file: io.BufferedReader) -> Iterator[bytes]:
    """ISA-L inflates 1.5 to 2 times as fast as zlib, and goes from member to member in C.

    As in `_members` a piece is held back until what is behind it turns out to be whole.
    """
    from isal import igzip, isal_zlib  # not where networks alone are computed

    broken = cast("type[Exception]", isal_zlib.IsalError)
    held = b""
    try:
        for piece in _pieces(igzip.IGzipFile(fileobj=_Sips(file))):
            if held:
                yield held
            held = piece
    except broken as error:
        raise OSError(str(error)) from error
    yield held


def _zstd_pieces(file: _Readable) -> Iterator[bytes]:
    """The library's own stream does not notice a frame that is cut short."""
    import zstandard  # few files need it

    try:
        yield from _members(file, lambda: zstandard.ZstdDecompressor(max_window_size=1 << 31).decompressobj())
    except zstandard.ZstdError as error:
        raise OSError(str(error)) from error


_COMPRESSIONS = (
    _Compression("gzip", (b"\x1f\x8b",), _gzip_pieces),
    _Compression("bzip2", (b"BZh",), lambda file: _pieces(bz2.BZ2File(file))),
    _Compression("xz", (b"\xfd7zXZ\0",), lambda file: _pieces(lzma.LZMAFile(file))),
    _Compression(
        "Zstandard", (b"\x28\xb5\x2f\xfd", *(bytes((n, 0x2A, 0x4D, 0x18)) for n in range(0x50, 0x60))), _zstd_pieces
    ),
)
