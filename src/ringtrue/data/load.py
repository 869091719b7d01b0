"""Collections by name: `irds:ID`, `builtin:lighthouse`, a folder (BEIR's layout or loose files), or a file."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path

from ringtrue.data.collection import Collection
from ringtrue.data.formats.beir import find_beir, has_split, is_beir
from ringtrue.data.formats.detect import Role, role_of
from ringtrue.data.formats.streams import check_file, data_files, plain_name
from ringtrue.data.notes import Notes
from ringtrue.data.sources import Files, Overlay, Source, Varied
from ringtrue.errors import InputError, UnknownNameError

_BUILT_IN = ("lighthouse",)
_GIVE = "name one of its files, or give them with --documents, --queries and --qrels"
_OTHERWISE = "A collection is a file, a folder, irds:ID or builtin:lighthouse."
_OPTIONS = {Role.DOCUMENTS: "documents", Role.QUERIES: "queries", Role.QRELS: "qrels"}


@dataclass(frozen=True)
class _Found:
    """What a name stands for."""

    name: str
    source: Source
    notes: Notes = field(default_factory=Notes)
    runs_folder: Path | None = None
    groups_file: Path | None = None


def load(
    spec: str | Path | None = None,
    *,
    documents: str | Path | None = None,
    queries: str | Path | None = None,
    qrels: str | Path | None = None,
    variants: str | Path | None = None,
    split: str | None = "test",
    of_queries: bool = False,
) -> Collection:
    """The collection that `spec` names; files that are given come before what it has, and may do without it.

    `split` chooses among the judgments of a BEIR folder, None leaves them out. With `of_queries` a single file is one
    of topics or of a log, whatever its name suggests. Nothing is read yet but what tells formats apart.
    """
    given = {"documents": documents, "queries": queries, "qrels": qrels}
    own = {part: check_file(path) for part, path in given.items() if path is not None}
    if spec is None and not own:
        raise InputError("no collection: name one, or give files of documents, queries or judgments.")
    found = _Found("files", Files()) if spec is None else _find(spec, split, frozenset(own), of_queries)
    overlay = Files(own.get("documents"), own.get("queries"), own.get("qrels"))
    source: Source = Overlay((overlay, found.source)) if own else found.source
    if variants is not None:
        source = Varied(source, check_file(variants))
    return Collection(found.name, source, found.notes, found.runs_folder, found.groups_file)


def load_log(spec: str | Path) -> Collection:
    """The training queries that `spec` names; of a BEIR folder the split `train` says what they were trained on."""
    folder = Path(spec)
    of_beir = folder.is_dir() and is_beir(folder)
    split = ("train" if has_split(folder, "train") else None) if of_beir else "test"
    return load(spec, split=split, of_queries=True)


def _find(spec: str | Path, split: str | None, given: frozenset[str], of_queries: bool) -> _Found:
    """Tell names from paths; parts that are `given` need not be found."""
    scheme, _, rest = str(spec).partition(":")
    if scheme == "irds":
        return _irds(rest)
    if scheme == "builtin":
        if rest not in _BUILT_IN:
            raise UnknownNameError("built-in collection", rest, _BUILT_IN)
        return _folder(Path(str(files("ringtrue.data").joinpath(rest))), split, given)
    path = Path(spec)
    return _folder(path, split, given) if path.is_dir() else _file(check_file(path, _OTHERWISE), of_queries)


def _irds(dataset_id: str) -> _Found:
    """A collection of ir_datasets; an unknown id fails here, not at first use."""
    from ringtrue.data.formats.irds import IrdsSource  # the import alone takes a third of a second

    source = IrdsSource(dataset_id)
    source.check()
    return _Found(dataset_id, source)


def _folder(folder: Path, split: str | None, given: frozenset[str]) -> _Found:
    """The files of a folder by BEIR's names, else by what they hold."""
    notes = Notes()
    if is_beir(folder):
        found = Files(*find_beir(folder, None if "qrels" in given else split))
    else:
        found = _loose(folder, given, notes)
    runs = folder / "runs"
    groups = next((path for name in ("groups.csv", "groups.tsv") if (path := folder / name).is_file()), None)
    return _Found(folder.resolve().name, found, notes, runs if runs.is_dir() else None, groups)


def _loose(folder: Path, given: frozenset[str], notes: Notes) -> Files:
    """One file for each part, told by content; several for one part are an error."""
    candidates: dict[Role, list[Path]] = {role: [] for role in _OPTIONS}
    for path in data_files(folder):
        role = role_of(path)
        if role in candidates:
            candidates[role].append(path)
        elif not path.name.startswith("groups."):
            notes.add("files of the folder that are not used", str(path))
    if not given and not any(candidates.values()):
        raise InputError(f"{folder}: no file in it is plainly documents, queries or judgments; {_GIVE}.")
    return Files(*(_only(candidates[role], role, folder, given) for role in _OPTIONS))


def _only(paths: list[Path], role: Role, folder: Path, given: frozenset[str]) -> Path | None:
    """The one candidate, None without one, an error with several."""
    option = _OPTIONS[role]
    if option in given:
        return None
    if len(paths) > 1:
        names = ", ".join(path.name for path in paths)
        raise InputError(
            f"{folder}: several files could be the {role.value}: {names}; say which with --{option}, or name the file "
            "itself instead of its folder."
        )
    return paths[0] if paths else None


def _file(path: Path, of_queries: bool) -> _Found:
    """A file of documents or judgments where it plainly is one, else of queries; `of_queries` is what is expected."""
    role = role_of(path, by_name=not of_queries)
    strangers = (Role.DOCUMENTS, Role.QRELS, Role.RUN)
    if of_queries and role in strangers:
        raise InputError(f"{path} holds {role.value} where queries are expected: lines of id and text, or one a line.")
    if role in (Role.RUN, Role.VARIANTS):
        option = {Role.RUN: "runs", Role.VARIANTS: "variants"}[role]
        raise InputError(f"{path} holds {role.value}, which is no collection; give it with --{option}.")
    name = Path(plain_name(path)).stem
    if role is Role.DOCUMENTS:
        return _Found(name, Files(documents_file=path))
    return _Found(name, Files(qrels_file=path) if role is Role.QRELS else Files(queries_file=path))
