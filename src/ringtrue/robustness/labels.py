"""Variations with people's labels, and the names that the study's files have for methods and categories.

The labelled files have the columns `q_id, method, transformation_type, original_query, variation, valid,
follow_category`; `variations.csv` with the columns `valid` and `follow_category` beside its own is read as well.
Rows without a label are counted and left out.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ringtrue.data.formats.streams import read_head
from ringtrue.data.formats.tables import Row, Shape, read_rows
from ringtrue.data.notes import Notes
from ringtrue.data.records import Query
from ringtrue.errors import FormatError, InputError
from ringtrue.robustness.text import key
from ringtrue.robustness.variations import Variation, read_variations, variation_of

# The study's code has its own names, mostly TextAttack's; its paper has these.
PAPER_NAMES = {
    "WordSwapNeighboringCharacterSwap": "NeighbCharSwap",
    "WordSwapRandomCharacterSubstitution": "RandomCharSub",
    "WordSwapQWERTY": "QWERTYCharSub",
    "naturality_by_removing_stop_words": "RmvStopWords",
    "summarization_with_t5-base_from_description_to_title": "T5DescToTitle",
    "WordInnerSwapRandom": "RandOrderSwap",
    "back_translation_pivot_language_de": "BackTransl",
    "ramsrigouthamg/t5_paraphraser": "T5QQP",
    "WordSwapEmbedding": "WEmbedSynSwap",
    "WordSwapWordNet": "WNetSynSwap",
    "naturality_by_removing_random_words": "RmvRandWords",
    "summarization_with_t5-base": "T5Summary",
    "WordSwapMaskedLM": "MaskedLMSwap",
}
_CATEGORIES = {"mispelling": "misspelling", "paraphrase": "paraphrasing", "synonym": "paraphrasing"}
CATEGORY_ORDER = ("misspelling", "naturality", "ordering", "paraphrasing")
METHOD_ORDER = tuple(PAPER_NAMES.values())
_ANSWERS = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
_SHOWN = 80  # characters of a first line that may hold anything
_COLUMNS = (*Variation._fields, "q_id", "transformation_type", "original_query", "valid", "follow_category")


class Label(NamedTuple):
    """What people say of a variation: does it keep the meaning, and is it a change of the kind it claims to be."""

    variation: Variation
    valid: bool
    follows_category: bool


def read_labels(path: str | Path, notes: Notes) -> tuple[Label, ...]:
    """All labelled rows, methods and categories by the paper's names."""
    found = tuple(
        label for row in read_rows(path, Shape.CSV, notes, _COLUMNS) if (label := _label(path, row, notes)) is not None
    )
    if not found:
        raise FormatError("no labelled variations in this file.", path)
    return found


def read_labelled(
    variations: str | Path, labels: str | Path | None, notes: Notes
) -> tuple[tuple[Variation, ...], tuple[Label, ...]]:
    """A file of variations by the paper's names, and the labels of another file or, where it has any, of its own."""
    found = tuple(by_paper_names(one) for one in read_variations(variations, notes))
    if labels is None and _has_labels(variations):
        labels = variations
    return found, () if labels is None else read_labels(labels, notes)


def _has_labels(path: str | Path) -> bool:
    """Whether a file of variations is like the study's, with a column of labels."""
    return "valid" in read_head(path).partition("\n")[0].strip().replace('"', "").split(",")


def _label(path: str | Path, row: Row, notes: Notes) -> Label | None:
    line, cells = row
    if "valid" not in cells:
        raise FormatError(f"no column valid among {', '.join(cells)[:_SHOWN]}; labels are a CSV with one.", path, line)
    variation = by_paper_names(variation_of(path, row))
    valid = _answer(cells, "valid", path, line)
    if valid is None:
        notes.add("rows without a label left out", f"{path}, line {line}")
        return None
    follows = _answer(cells, "follow_category", path, line)
    return Label(variation, valid, valid if follows is None else follows)


def _answer(cells: Mapping[str, object], name: str, path: str | Path, line: int) -> bool | None:
    """True or false, None where the cell is empty or there is no such column."""
    text = str(cells.get(name) or "").strip().lower()
    if text and text not in _ANSWERS:
        raise FormatError(f"{name} should be true or false, not {cells[name]!r}.", path, line)
    return _ANSWERS[text] if text else None


def by_paper_names(variation: Variation) -> Variation:
    """The same variation with the paper's names for its method and category; other names stay."""
    return variation._replace(
        method=PAPER_NAMES.get(variation.method, variation.method),
        category=_CATEGORIES.get(variation.category, variation.category),
    )


def known_queries(variations: Iterable[Variation], queries: Sequence[Query], notes: Notes) -> tuple[Variation, ...]:
    """The variations of these queries, by the paper's names; those of others and repeated ones are counted.

    All of them being of others, or made of other texts, is an error, and so are two queries of one id.
    """
    titles = _titles(queries)
    found: dict[Variation, None] = {}
    strangers: list[Variation] = []
    for variation in map(by_paper_names, variations):
        if variation.query_id not in titles:
            strangers.append(variation)
        elif variation in found:
            notes.add("repeated variations counted once", f"query {variation.query_id}, {variation.method}")
        else:
            found[variation] = None
    if strangers and not found:
        raise InputError(
            f"no variation is of a known query: the first is of {strangers[0].query_id!r}, known are "
            f"{', '.join(list(titles)[:3])} …; are these variations of another collection?"
        )
    _compare(found, titles, notes)
    if strangers:
        notes.add("variations of unknown queries left out", f"query {strangers[0].query_id}", len(strangers))
    return tuple(found)


def _titles(queries: Sequence[Query]) -> dict[str, str]:
    """The texts of the queries by id."""
    titles: dict[str, str] = {}
    for query in queries:
        if query.query_id in titles:
            raise InputError(f"two queries have the id {query.query_id!r}; ids must be distinct.")
        titles[query.query_id] = query.title
    return titles


def _compare(variations: Collection[Variation], titles: Mapping[str, str], notes: Notes) -> None:
    """Count variations made of another text than the query's: part of any loss is then the text's."""
    known = [one for one in variations if one.original.strip()]
    other = [one for one in known if key(one.original) != key(titles[one.query_id])]
    if other and len(other) == len(known):
        first = other[0]
        raise InputError(
            f"no variation is of the query that has its id: that of {first.query_id!r} is of {first.original!r}, the "
            f"query is {titles[first.query_id]!r}; are these variations of another collection?"
        )
    if other:
        notes.add("variations of another text than the query's", f"query {other[0].query_id}", len(other))
    same = [one for one in known if key(one.original) == key(titles[one.query_id])]
    written = [one for one in same if _plain(one.original) != _plain(titles[one.query_id])]
    if written:
        notes.add("variations of the query in other punctuation", f"query {written[0].query_id}", len(written))


def _plain(text: str) -> str:
    return " ".join(text.lower().split())


def in_paper_order(pairs: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """Distinct (category, method) pairs: the paper's first and in its order, then by name."""
    return tuple(sorted(dict.fromkeys(pairs), key=lambda pair: (_place(pair[0], CATEGORY_ORDER), *_method(pair[1]))))


def _method(name: str) -> tuple[int, str]:
    return _place(name, METHOD_ORDER)[0], name


def _place(name: str, order: Sequence[str]) -> tuple[int, str]:
    """A place in a known order; what is not in it comes last, by name."""
    return (order.index(name), "") if name in order else (len(order), name)
