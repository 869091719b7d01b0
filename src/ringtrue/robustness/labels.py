"""Variations with people's labels, and the names that the study's files have for methods and categories.

The labelled files have the columns `q_id, method, transformation_type, original_query, variation, valid,
follow_category`; `variations.csv` with the columns `valid` and `follow_category` beside its own is read as well.
Rows without a label are counted and left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ringtrue.data.formats.tables import Row, Shape, read_rows
from ringtrue.data.notes import Notes
from ringtrue.data.records import Query
from ringtrue.errors import FormatError, InputError
from ringtrue.robustness.text import key
from ringtrue.robustness.variations import Variation, variation_of

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


def _label(path: str | Path, row: Row, notes: Notes) -> Label | None:
    line, cells = row
    if "valid" not in cells:
        raise FormatError(f"no column valid; found {', '.join(cells)}.", path, line)
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

    All of them being of others is an error, and so are two queries of one id.
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
            _compare(variation, titles[variation.query_id], notes)
            found[variation] = None
    if strangers and not found:
        raise InputError(
            f"no variation is of a known query: the first is of {strangers[0].query_id!r}, known are "
            f"{', '.join(list(titles)[:3])} …; are these variations of another collection?"
        )
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


def _compare(variation: Variation, title: str, notes: Notes) -> None:
    """Note where a variation was made of another text than the collection's: part of any loss is then the text's."""
    original = " ".join(variation.original.lower().split())
    if original and original != " ".join(title.lower().split()):
        same = key(original) == key(title)
        what = "the query in other punctuation" if same else "another text than the query's"
        notes.add(f"variations of {what}", f"query {variation.query_id}")


def in_paper_order(pairs: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """Distinct (category, method) pairs: the paper's first and in its order, then by name."""
    return tuple(sorted(dict.fromkeys(pairs), key=lambda pair: (_place(pair[0], CATEGORY_ORDER), *_method(pair[1]))))


def _method(name: str) -> tuple[int, str]:
    return _place(name, METHOD_ORDER)[0], name


def _place(name: str, order: Sequence[str]) -> tuple[int, str]:
    """A place in a known order; what is not in it comes last, by name."""
    return (order.index(name), "") if name in order else (len(order), name)
