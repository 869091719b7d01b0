"""The study's own rows: effectiveness on samples and energy of 21 systems, and the tables that follow from them.

Each row has one system on one sample of one campaign. Energy is that of indexing and retrieval by codecarbon.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from statistics import fmean
from typing import Literal, NamedTuple

from ringtrue.data.formats.streams import read_lines
from ringtrue.data.notes import Notes
from ringtrue.errors import FormatError, InputError, UnknownNameError
from ringtrue.subsampling.energy import extrapolate
from ringtrue.subsampling.sizes import SampleSize

SystemClass = Literal["lexical", "bi-encoder", "late interaction"]

_CLASSES: Mapping[SystemClass, tuple[str, ...]] = {
    "lexical": ("BM25", "DFIZ", "DLH", "DPH", "DirichletLM", "Hiemstra_LM", "IFB2", "InB2", "PL2", "TF_IDF"),
    "bi-encoder": (
        "msmarco-distilbert-base-tas-b",
        "msmarco-distilbert-base-v3",
        "msmarco-minilm-l12-cos-v5",
        "msmarco-minilm-l6-cos-v5",
        "multi-qa-distilbert-cos-v1",
        "multi-qa-minilm-l6-cos-v1",
        "multi-qa-mpnet-base-cos-v1",
        "sentence-transformers-msmarco-roberta-base-ance-firstp",
    ),
    "late interaction": (
        "colbert-ir-colbertv1.9",
        "colbert-ir-colbertv2.0",
        "hltcoe-plaidx-large-eng-tdist-mt5xxl-engeng",
    ),
}
_CLASS_OF = {system: kind for kind, systems in _CLASSES.items() for system in systems}


class StudyRow(NamedTuple):
    """One system on one sample; `rbo_10` is average overlap with its top ten on the largest sample."""

    campaign: str
    sampler: str
    system: str
    system_class: SystemClass
    rbo_10: float
    kwh: float
    kg_co2e: float

    @property
    def corpus(self) -> str:
        """The corpus of the campaign."""
        return self.campaign.partition("/")[0]


class ClassMean(NamedTuple):
    """The mean over the systems of a class and the campaigns of a corpus."""

    corpus: str
    sampler: str
    system_class: SystemClass
    rows: int
    rbo_10: float
    kwh: float


class Total(NamedTuple):
    """All rows together."""

    rows: int
    kwh: float
    kg_co2e: float


def read_study(path: str | Path) -> tuple[StudyRow, ...]:
    """Read rows of JSON Lines, compressed or not."""
    return tuple(_row(line, path, number) for number, line in read_lines(path, Notes()) if line.strip())


def class_means(rows: Iterable[StudyRow]) -> tuple[ClassMean, ...]:
    """RBO@10 and energy by corpus, sampler and class, ascending."""
    groups: dict[tuple[str, str, SystemClass], list[StudyRow]] = defaultdict(list)
    for row in rows:
        groups[row.corpus, row.sampler, row.system_class].append(row)
    return tuple(
        ClassMean(*key, len(some), fmean(row.rbo_10 for row in some), fmean(row.kwh for row in some))
        for key, some in sorted(groups.items())
    )


def total(rows: Iterable[StudyRow]) -> Total:
    """Energy and emissions of all rows."""
    every = tuple(rows)
    return Total(len(every), sum(row.kwh for row in every), sum(row.kg_co2e for row in every))


def full_corpus_kwh(
    rows: Iterable[StudyRow], sizes: Iterable[SampleSize], corpus_documents: Mapping[str, int]
) -> dict[tuple[str, SystemClass], float]:
    """What a system of each class would take on the full corpus: all energy over all documents, times its documents."""
    documents = {(size.campaign, size.sampler): size.size.documents for size in sizes}
    sums: dict[tuple[str, SystemClass], tuple[float, float]] = {}
    for row in rows:
        if (row.campaign, row.sampler) not in documents:
            raise InputError(f"the size of the sample {row.sampler!r} of {row.campaign!r} is not known.")
        kwh, docs = sums.get((row.corpus, row.system_class), (0.0, 0.0))
        sums[row.corpus, row.system_class] = (kwh + row.kwh, docs + documents[row.campaign, row.sampler])
    return {
        key: extrapolate(kwh, docs, corpus_documents[key[0]]) or 0.0
        for key, (kwh, docs) in sorted(sums.items())
        if key[0] in corpus_documents
    }


def _row(line: str, path: str | Path, number: int) -> StudyRow:
    try:
        row = json.loads(line)
        energy, system = row["aggregated"], row["approach"]
        figures = row["RBO@10"], energy["energy_consumed"], energy["emissions"]
        if system not in _CLASS_OF:
            raise UnknownNameError("system of the study", system, _CLASS_OF)
        return StudyRow(row["dataset"], row["sampling"], system, _CLASS_OF[system], *map(float, figures))
    except (ValueError, KeyError, TypeError) as error:
        message = "no row of the study: one has dataset, sampling, approach, RBO@10 and aggregated, as JSON."
        raise FormatError(message, path, number) from error
