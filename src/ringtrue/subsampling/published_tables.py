"""The study's published rows as tables: what systems lose on samples, what they take, how large samples are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from ringtrue import cache
from ringtrue.audit import Cell, Column, Evidence, Table
from ringtrue.provenance import stamp
from ringtrue.subsampling.published import StudyRow, class_means, full_corpus_kwh, read_study, total
from ringtrue.subsampling.sizes import SampleSize, Size, read_sizes

# the documents of the study's corpora, for what a system would take on all of them
CORPUS_DOCUMENTS: Mapping[str, int] = {
    "clueweb09": 1_040_859_705,
    "clueweb12": 733_019_372,
    "disks45": 528_155,
    "msmarco-passage": 8_841_823,
}
_SIZE = (Column("documents", "Documents", 0), Column("megabytes", "MB", 1), Column("how", "How"))


def evidence(rows: Path, sizes: Path | None = None) -> Evidence:
    """All tables that the files allow."""
    study = read_study(rows)
    known = () if sizes is None else read_sizes(sizes)
    parts = (
        class_table(study),
        *((corpus_table(study, known), total_sizes(known), size_table(known)) if known else ()),
    )
    inputs = {path.name: cache.content_key([path]) for path in (rows, sizes) if path is not None}
    return Evidence("published", "What did systems lose and take on samples?", parts, stamp(inputs=inputs))


def class_table(rows: Sequence[StudyRow]) -> Table:
    """RBO@10 and mean energy by corpus, sampler and class of system, and the energy of all rows together."""
    columns = (
        Column("corpus", "Corpus"),
        Column("sampler", "Sampler"),
        Column("system_class", "Class"),
        Column("rows", "Rows"),
        Column("rbo_10", "RBO@10", 3),
        Column("kwh", "kWh", 5, "mean over the rows"),
    )
    cells: tuple[tuple[Cell, ...], ...] = tuple(tuple(one) for one in class_means(rows))
    every = total(rows)
    note = f"All {every.rows:,} rows together took {every.kwh:.4f} kWh, {every.kg_co2e:.4f} kg CO2e."
    return Table("classes", "Systems on samples", columns, cells, note)


def size_table(sizes: Sequence[SampleSize]) -> Table:
    """Documents and bytes of each sample, measured or estimated."""
    columns = (Column("campaign", "Campaign"), Column("sampler", "Sampler"), *_SIZE)
    rows: tuple[tuple[Cell, ...], ...] = tuple((one.campaign, one.sampler, *_cells(one.size)) for one in sizes)
    return Table("sizes", "Sizes of samples", columns, rows)


def total_sizes(sizes: Sequence[SampleSize]) -> Table:
    """The same, added up over the campaigns of a corpus."""
    sums: dict[tuple[str, str], Size] = {}
    for one in sizes:
        key = one.campaign.partition("/")[0], one.sampler
        sums[key] = sums[key] + one.size if key in sums else one.size
    columns = (Column("corpus", "Corpus"), Column("sampler", "Sampler"), *_SIZE)
    rows: tuple[tuple[Cell, ...], ...] = tuple((*key, *_cells(size)) for key, size in sorted(sums.items()))
    note = "Samples of several campaigns of one corpus together; a sum is estimated where a part of it is."
    return Table("corpus-sizes", "Sizes by corpus", columns, rows, note)


def _cells(size: Size) -> tuple[Cell, ...]:
    return size.documents, size.megabytes, size.how


def corpus_table(rows: Sequence[StudyRow], sizes: Sequence[SampleSize]) -> Table:
    """What a system of each class would take on the full corpus."""
    columns = (
        Column("corpus", "Corpus"),
        Column("documents", "Documents"),
        Column("system_class", "Class"),
        Column("kwh", "kWh", 3, "in proportion to the documents"),
    )
    found = full_corpus_kwh(rows, sizes, CORPUS_DOCUMENTS)
    cells: tuple[tuple[Cell, ...], ...] = tuple(
        (corpus, CORPUS_DOCUMENTS[corpus], kind, kwh) for (corpus, kind), kwh in found.items()
    )
    note = "Estimated: the energy of all samples over their documents, times the documents of the corpus."
    return Table("corpora", "Energy of one system on the full corpus", columns, cells, note)
