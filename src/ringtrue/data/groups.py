"""Which group (team) made which run.

From a table with a run column and a `group` or `team` column (CSV or TSV); from prefixes of run names in JSON, as in
the subsampling study's files; or from the tags inside the runs. A run in no group, or in two, is an error.
"""

from __future__ import annotations

import csv
import difflib
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from ringtrue.data.formats.streams import read_bytes, read_lines
from ringtrue.data.notes import Notes
from ringtrue.data.runs import RunSet, run_name
from ringtrue.errors import FormatError, InputError, UnknownNameError, brief

Prefixes = Mapping[str, tuple[str, ...]]

FROM_TAGS = "tags"
_SHOWN = 5
_RUN_COLUMNS = ("run", "run_id", "runid", "system", "tag")
_GROUP_COLUMNS = ("group", "team", "participant", "organisation", "organization")


def find_groups(runs: RunSet, source: str | Path) -> tuple[str, ...]:
    """The group of each run: `source` is a file, `FILE.json#CAMPAIGN`, or `tags`."""
    if str(source) == FROM_TAGS:
        return groups_from_tags(runs.tags)
    name, _, campaign = str(source).partition("#")
    path = Path(name)
    if ".json" in path.name.lower():
        return groups_from_prefixes(runs.names, read_prefixes(path), path, campaign)
    return group_of_each(runs.names, read_groups(path, Notes()), path)


def read_groups(path: Path, notes: Notes) -> dict[str, str]:
    """Run name to group name, from CSV or TSV with a header."""
    lines = [text for _, text in read_lines(path, notes)]
    rows = csv.reader(lines, delimiter="\t" if "\t" in lines[0] else ",")
    header = [name.strip().lower() for name in next(rows)]
    run, group = (_column(header, names, path) for names in (_RUN_COLUMNS, _GROUP_COLUMNS))
    found: dict[str, str] = {}
    for number, cells in enumerate(rows, start=2):
        row = [cell.strip() for cell in cells]
        if not any(row):
            continue
        if len(row) <= max(run, group):
            raise FormatError(f"{len(row)} columns where the header has {len(header)}.", path, number)
        if not row[run] or not row[group]:
            raise FormatError("a run without a group, or a group without a run.", path, number)
        if found.setdefault(row[run], row[group]) != row[group]:
            raise FormatError(
                f"run {row[run]!r} is in two groups: {found[row[run]]!r} and {row[group]!r}.", path, number
            )
    return found


def _column(header: Sequence[str], names: Sequence[str], path: Path) -> int:
    """The place of the first known name."""
    for name in names:
        if name in header:
            return header.index(name)
    raise InputError(f"{path}: no column {' or '.join(names[:2])} among {', '.join(header)}.")


def group_of_each(names: Sequence[str], groups: Mapping[str, str], source: Path) -> tuple[str, ...]:
    """The group of each run, in order; runs without a group are an error that names the nearest known runs."""
    lacking = [name for name in names if name not in groups]
    if lacking:
        raise _without_group(lacking, names, tuple(groups), source, "give each run a line there")
    return tuple(groups[name] for name in names)


def _without_group(
    lacking: Sequence[str], names: Sequence[str], known: Sequence[str], source: Path, advice: str
) -> InputError:
    """The error for runs in no group: the first of them, with what the file has that they may be meant for."""
    near = [(name, difflib.get_close_matches(name, known, n=1, cutoff=0.5)) for name in lacking[:_SHOWN]]
    words = brief([f"{name} (did you mean {found[0]}?)" if found else name for name, found in near], len(lacking))
    if not any(found for _, found in near):
        advice = f"the file has {brief(known)}; {advice}"
    return InputError(f"{len(lacking)} of {len(names)} runs have no group in {source}: {words}; {advice}.")


def read_prefixes(path: Path) -> dict[str, Prefixes]:
    """Prefixes by campaign and group: `{CAMPAIGN: {"groups": {GROUP: {"prefix": TEXT or LIST}}}}`, or one such part."""
    try:
        content = json.loads(read_bytes(path))
    except ValueError as error:
        raise FormatError(f"not valid JSON: {error}.", path) from error
    parts = content if isinstance(content, dict) else {}
    if "groups" in parts:
        parts = {"": parts}
    elif parts and all(isinstance(part, dict) and "prefix" in part for part in parts.values()):
        parts = {"": {"groups": parts}}
    try:
        return {
            campaign: {group: _as_tuple(rule["prefix"]) for group, rule in part["groups"].items()}
            for campaign, part in parts.items()
        }
    except (KeyError, TypeError, AttributeError) as error:
        raise FormatError('expected {CAMPAIGN: {"groups": {GROUP: {"prefix": TEXT or LIST}}}}.', path) from error


def _as_tuple(prefix: str | list[str]) -> tuple[str, ...]:
    return (prefix,) if isinstance(prefix, str) else tuple(prefix)


def groups_from_prefixes(
    names: Sequence[str], campaigns: Mapping[str, Prefixes], source: Path, campaign: str = ""
) -> tuple[str, ...]:
    """The one group whose prefix each run's name has; case counts unless no group fits otherwise.

    Without the name of a campaign, the one under which every run has a group is taken.
    """
    if campaign and campaign not in campaigns:
        raise UnknownNameError(f"campaign in {source}", campaign, campaigns)
    if campaign or len(campaigns) == 1:
        return _by_prefix(names, campaigns[campaign or next(iter(campaigns))], source)
    fitting = [key for key, prefixes in campaigns.items() if all(len(_fitting(name, prefixes)) == 1 for name in names)]
    if len(fitting) > 1:
        known = ", ".join(fitting)
        raise InputError(f"{source}: {len(fitting)} campaigns fit these runs; name one as {source}#NAME: {known}.")
    if not fitting:
        raise _nearest(names, campaigns, source)
    return groups_from_prefixes(names, campaigns, source, fitting[0])


def _nearest(names: Sequence[str], campaigns: Mapping[str, Prefixes], source: Path) -> InputError:
    """The error where no campaign has a group for every run: what keeps the one that has most from fitting."""
    fits = {key: sum(len(_fitting(name, prefixes)) == 1 for name in names) for key, prefixes in campaigns.items()}
    best = max(fits, key=fits.__getitem__, default="")
    told = f"{source}: none of its campaigns ({brief(tuple(campaigns))}) fits all {len(names)} runs"
    try:
        _by_prefix(names, campaigns[best], source) if best else None
    except InputError as error:
        return InputError(f"{told}; {best!r} has a group for {fits[best]} of them: {error}")
    return InputError(f"{told}.")


def _by_prefix(names: Sequence[str], prefixes: Prefixes, source: Path) -> tuple[str, ...]:
    """The one group that each run's name fits; none or several are an error."""
    groups = {name: _fitting(name, prefixes) for name in names}
    for name, found in groups.items():
        if len(found) > 1:
            raise InputError(f"run {name!r} fits several groups in {source}: {', '.join(found)}; make a prefix longer.")
    lacking = [name for name in names if not groups[name]]
    if lacking:
        known = [prefix for some in prefixes.values() for prefix in some]
        raise _without_group(lacking, names, known, source, "each run's name has to start with a prefix of one group")
    return tuple(groups[name][0] for name in names)


def _fitting(name: str, prefixes: Prefixes) -> list[str]:
    """All groups that a name fits; a prefix may be a whole file name with its ending."""
    exact = [group for group, some in prefixes.items() if any(_starts(name, prefix) for prefix in some)]
    if exact:
        return exact
    lower = name.lower()
    return [group for group, some in prefixes.items() if any(_starts(lower, prefix.lower()) for prefix in some)]


def _starts(name: str, prefix: str) -> bool:
    return name.startswith(prefix) or name == run_name(prefix)


def groups_from_tags(tags: Sequence[str]) -> tuple[str, ...]:
    """The part of each run's tag before the first hyphen, underscore, dot or digit that follows a letter."""
    found = {tag: re.match(r"[^\W\d_]+", tag) for tag in tags}
    lacking = [tag for tag, start in found.items() if start is None]
    if lacking:
        raise InputError(
            f"{len(lacking)} of {len(tags)} tags do not start with letters, so they name no group: {brief(lacking)}; "
            "give a table of groups."
        )
    return tuple(start[0] for tag in tags if (start := found[tag]))
