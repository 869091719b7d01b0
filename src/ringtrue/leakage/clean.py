"""The training data without the leaks, and an account of what went.

All training files that are given lose the same queries: a log, the pairs or triples made from it, its judgments. What
is left keeps its format and its order. A query goes by its id, whatever topic it leaks; records under that id with
another text than the candidate's go as well, and are counted, and where no text agrees at all the candidates are
those of another log, which is an error. Two sources may give one id to two queries: a record of another source than the
leak's stays, unless no candidate is of that source, and neither does its text tell the two apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from ringtrue.data.formats.beir import find_beir, is_beir
from ringtrue.data.formats.tabular import write_log
from ringtrue.data.load import load
from ringtrue.data.sources import Files
from ringtrue.errors import InputError, brief
from ringtrue.leakage.candidates import Candidate, folded
from ringtrue.leakage.choice import Choice
from ringtrue.leakage.result import CleanedFile, Cleaning, Dropped
from ringtrue.leakage.rewrite import Kind, drafted, is_plain, numbered, rewrite

Identity = tuple[str, str, str]
"""A training query: its id, its source and its text."""


def clean(
    training: Sequence[str | Path],
    candidates: Iterable[Candidate],
    out: Path,
    choice: Choice | None = None,
    *,
    split: str = "train",
    kind: Kind = "auto",
) -> Cleaning:
    """Write each training file into the folder `out` under its own name, without the queries that count as leaks.

    Training data are files, BEIR folders (log.jsonl, or queries.jsonl and the judgments of `split`; the corpus is not
    copied), `irds:ID` (written as a log in JSON Lines) or `builtin:lighthouse`.
    """
    choice = choice or Choice()
    given = tuple(candidates)
    leaks = _by_query(choice.leaks(given))
    sources = frozenset(candidate.source for candidate in given) - {""}
    by_id: dict[str, list[Identity]] = {}
    for identity in leaks:
        by_id.setdefault(identity[0], []).append(identity)
    plans = [plan for spec in training for plan in _plans(spec, split)]
    _check_targets(plans, out)
    found: dict[Identity, int] = dict.fromkeys(leaks, 0)
    with ExitStack() as drafts:  # all files are there in the end, or none
        files = tuple(
            _clean_one(plan, drafts.enter_context(drafted(out / plan.name)), _Sieve(by_id, found, sources), kind)
            for plan in plans
        )
        if leaks and not any(found.values()):
            raise InputError(
                f"none of the {len(leaks):,} queries to drop ({brief(tuple(by_id))}) is among the "
                f"{sum(file.records for file in files):,} records of {', '.join(map(str, training))}; are these the "
                "candidates of another log, or is this one clean already?"
            )
    return Cleaning(
        rule=choice.rule,
        candidates=len(given),
        files=files,
        dropped=tuple(_dropped(some, found[identity]) for identity, some in leaks.items() if found[identity]),
        not_found=tuple(_dropped(some, 0) for identity, some in leaks.items() if not found[identity]),
        without_probability=choice.without_probability(given),
    )


class _Plan(NamedTuple):
    """A training file and its name in the folder that is written; without a file, an ir_datasets id."""

    spec: str
    name: str
    path: Path | None


def _plans(spec: str | Path, split: str) -> list[_Plan]:
    """The files that hold a spec's training data."""
    path = Path(spec)
    if path.is_file():
        return [_Plan(str(spec), path.name, path)]
    if str(spec).startswith("irds:"):
        name = str(spec).removeprefix("irds:").replace("/", "-")
        return [_Plan(str(spec), f"{name}.jsonl", None)]
    if path.is_dir() and is_beir(path):
        found = find_beir(path, None)
        files = (found.log,) if found.log else (found.queries, find_beir(path, split).qrels)
    else:
        source = load(spec).source
        assert isinstance(source, Files)
        files = (source.log_file,) if source.log_file else (source.queries_file, source.qrels_file)
    return [_Plan(str(spec), _name_in(file, path), file) for file in files if file]


def _name_in(file: Path, folder: Path) -> str:
    """A file's name below its folder, `qrels/train.tsv`; outside of it the last part alone."""
    return file.relative_to(folder).as_posix() if file.is_relative_to(folder) else file.name


def _check_targets(plans: Sequence[_Plan], out: Path) -> None:
    """Nothing may be written over another file of the training data, nor two files under one name."""
    seen: dict[str, str] = {}
    for spec, name, path in plans:
        if name in seen:
            raise InputError(f"{seen[name]} and {spec} would both be written as {name}; clean them one by one.")
        if path and (out / name).exists() and path.samefile(out / name):
            raise InputError(f"{path} would be overwritten by what is left of it; write to another folder.")
        seen[name] = spec


def _by_query(leaks: Iterable[Candidate]) -> dict[Identity, list[Candidate]]:
    """The leaks of each query, most similar first; queries in order of first appearance."""
    found: dict[Identity, list[Candidate]] = {}
    for leak in leaks:
        found.setdefault(leak.identity, []).append(leak)
    for some in found.values():
        some.sort(key=lambda leak: (-leak.similarity, leak.topic_id))
    return found


@dataclass
class _Sieve:
    """Tells which records go, and counts: records, those that went, and among these texts that agree or do not."""

    leaks: Mapping[str, list[Identity]]
    found: dict[Identity, int]
    sources: frozenset[str]
    records: int = 0
    dropped: int = 0
    same_text: int = 0
    other_text: int = 0

    def __call__(self, query_id: str, text: str | None, source: str | None) -> bool:
        """Whether the record goes."""
        self.records += 1
        leaks = self._meant(self.leaks.get(query_id, ()), text, (source or "").strip())
        if not leaks:
            return False
        agreeing = [leak for leak in leaks if text is not None and folded(text) == folded(leak[2])]
        for leak in agreeing or leaks:
            self.found[leak] += 1
        self.dropped += 1
        if text is not None:
            self.same_text += bool(agreeing)
            self.other_text += not agreeing
        return True

    def _meant(self, leaks: Sequence[Identity], text: str | None, source: str) -> Sequence[Identity]:
        """The leaks of one id that a record of this source can be."""
        same = [leak for leak in leaks if not source or leak[1] in ("", source)]
        if same or source in self.sources:
            return same
        return [leak for leak in leaks if text is None or folded(text) == folded(leak[2])]


def _clean_one(plan: _Plan, draft: Path, sieve: _Sieve, kind: Kind) -> CleanedFile:
    """Write what stays of one file to its draft."""
    if plan.path:
        rewrite(plan.path, draft, sieve, name=plan.name, kind="pairs" if _has_pairs(plan.path, sieve.leaks) else kind)
    else:
        write_log(draft, (entry for entry in load(plan.spec).log() if not sieve(*entry[:3])))
    if sieve.other_text and not sieve.same_text:
        raise InputError(
            f"{plan.spec}: {sieve.other_text:,} of its queries have the id of a candidate, but none has its text; the "
            "candidates come from another log. Search this one, or give the one that was searched."
        )
    return CleanedFile(plan.spec, plan.name, sieve.records, sieve.dropped, sieve.other_text)


def _has_pairs(path: Path, leaks: Mapping[str, Sequence[Identity]]) -> bool:
    """Whether lines without tabs are pairs or triples of ids, some of them a leak's, and none is a leak itself."""
    found = False
    for number, text in numbered(path) if is_plain(path) else ():
        cells = text.split()
        if len(cells) not in (2, 3) or any(folded(text) == folded(leak[2]) for leak in leaks.get(number, ())):
            return False
        found = found or cells[0] in leaks
    return found


def _dropped(leaks: Sequence[Candidate], records: int) -> Dropped:
    """One query of the account."""
    best = leaks[0]
    topics = tuple(dict.fromkeys(leak.topic_id for leak in leaks))
    like = f", {best.type}" if best.type else ""
    chance = "" if best.probability is None else f", probability {best.probability:.2f}"
    others = f"; so for {len(topics) - 1} more" if len(topics) > 1 else ""
    reason = f"similarity {best.similarity:.4f} to the {best.field} of topic {best.topic_id}{like}{chance}{others}"
    return Dropped(best.query_id, best.query, best.source, topics, best.similarity, reason, records)
