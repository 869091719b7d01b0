"""How large samples are: documents, and bytes that were measured or are estimated and say so.

The study gives bytes for nine campaigns; four of them are measured and the others are the number of documents times
the bytes per document of another campaign on the same corpus. Here every size knows which it is.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ringtrue.data.formats.streams import read_bytes
from ringtrue.data.records import Document
from ringtrue.errors import FormatError, InputError
from ringtrue.subsampling.campaign import Campaign


@dataclass(frozen=True)
class Size:
    """Documents and bytes of text; `estimated` where a byte of it was not counted, None where nothing is known."""

    documents: float
    bytes: float | None = None
    estimated: bool = False

    @classmethod
    def estimate(cls, documents: float, bytes_per_doc: float) -> Size:
        """What that many documents should take."""
        return cls(documents, documents * bytes_per_doc, estimated=True)

    @property
    def bytes_per_doc(self) -> float | None:
        """The mean of a document."""
        return None if self.bytes is None or not self.documents else self.bytes / self.documents

    @property
    def how(self) -> str:
        """Where the bytes come from."""
        return "unknown" if self.bytes is None else "estimated" if self.estimated else "measured"

    def __str__(self) -> str:
        """Documents, and bytes with where they come from."""
        volume = "" if self.bytes is None else f", {self.bytes / 1e6:,.1f} MB ({self.how})"
        return f"{self.documents:,.0f} documents{volume}"

    @property
    def megabytes(self) -> float | None:
        """Millions of bytes."""
        return None if self.bytes is None else self.bytes / 1e6

    def __add__(self, other: Size) -> Size:
        """Both together; estimated where one of them is, unknown where one of them is."""
        unknown = self.bytes is None or other.bytes is None
        total = None if unknown else (self.bytes or 0) + (other.bytes or 0)
        return Size(self.documents + other.documents, total, self.estimated or other.estimated)


class SampleSize(NamedTuple):
    """The size of one sampler's sample of one campaign."""

    campaign: str
    sampler: str
    size: Size


class BudgetPool(NamedTuple):
    """The deepest pool within a budget."""

    depth: int
    size: Size


def document_bytes(document: Document) -> int:
    """The bytes of a document's title and text in UTF-8."""
    return len(document.body.encode(errors="surrogatepass"))


def measure_sample(documents: Iterable[Document], doc_ids: Collection[str]) -> Size:
    """Count the bytes of a sample by going through the corpus; documents that it lacks do not count."""
    sizes = [document_bytes(document) for document in documents if document.doc_id in doc_ids]
    return Size(len(sizes), sum(sizes))


def bytes_of_each(campaign: Campaign, documents: Iterable[Document]) -> dict[str, int]:
    """The bytes of each document of the runs; those that the corpus lacks take none, and are noted."""
    wanted = frozenset(campaign.whole.docs)
    sizes = {one.doc_id: document_bytes(one) for one in documents if one.doc_id in wanted}
    lacking = [doc_id for doc_id in campaign.whole.docs if doc_id not in sizes]
    if not sizes:
        raise InputError(
            f"the collection has none of the {len(wanted):,} documents of the runs, as {lacking[0]!r}; give the one "
            "that the runs are on, or --bytes-per-doc."
        )
    if lacking:
        what = "documents of the runs that the collection lacks, counted with 0 bytes (else give --bytes-per-doc)"
        campaign.notes.add(what, lacking[0], len(lacking))
    return sizes | dict.fromkeys(lacking, 0)


def read_sizes(path: str | Path) -> tuple[SampleSize, ...]:
    """Sizes as the study has them, a JSON object by campaign and sampler; a size with a fraction is an estimate."""
    try:
        campaigns = json.loads(read_bytes(path))
        return tuple(
            SampleSize(campaign, sampler, Size(row["documents"], row["size"], not float(row["size"]).is_integer()))
            for campaign, samplers in campaigns.items()
            for sampler, row in samplers.items()
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        message = f"not sizes: campaign, then sampler, then documents and size are expected ({error!r})."
        raise FormatError(message, path) from error


def pool_curve(campaign: Campaign, weights: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
    """How many documents (or how much weight) the pool of all runs has at depth 0, 1, 2 … down to that of the runs.

    Each document comes in at the best rank that any run gives it, so that one pass gives all depths.
    """
    runs = campaign.whole
    deepest = int(runs.rank.max(initial=0))
    best = np.full(len(runs.docs), deepest + 1, dtype=np.int32)
    np.minimum.at(best, runs.doc, runs.rank)
    return np.cumsum(np.bincount(best, weights, minlength=deepest + 1)[: deepest + 1], dtype=np.float64)


def deepest_pool(
    campaign: Campaign,
    *,
    max_docs: int | None = None,
    max_bytes: float | None = None,
    bytes_per_doc: float | Mapping[str, int] | None = None,
) -> BudgetPool:
    """The deepest pool with at most so many documents and bytes.

    `bytes_per_doc` is a mean, which makes the size an estimate, or the bytes of each document, which makes it
    measured. Depths beyond the runs' own are not offered, for they add nothing.
    """
    if max_docs is None and max_bytes is None:
        raise InputError("no budget: give a number of documents or of bytes.")
    docs = pool_curve(campaign)
    volume = _volume(campaign, docs, bytes_per_doc)
    if volume is None and max_bytes is not None:
        raise InputError("a budget in bytes needs the bytes of the documents, or their mean.")
    fits = np.ones(len(docs), dtype=np.bool_)
    for curve, most in ((docs, max_docs), (volume, max_bytes)):
        if curve is not None and most is not None:
            fits &= curve <= most
    depth = int(np.flatnonzero(fits)[-1]) if fits.any() else 0
    if depth < 1:
        raise InputError(_too_small(docs, volume))
    taken = None if volume is None else float(volume[depth])
    return BudgetPool(
        depth, Size(int(docs[depth]), taken, taken is not None and not isinstance(bytes_per_doc, Mapping))
    )


def _volume(
    campaign: Campaign, docs: NDArray[np.float64], bytes_per_doc: float | Mapping[str, int] | None
) -> NDArray[np.float64] | None:
    """The bytes of the pool at each depth."""
    if bytes_per_doc is None:
        return None
    if not isinstance(bytes_per_doc, Mapping):
        return docs * bytes_per_doc
    lacking = [doc_id for doc_id in campaign.whole.docs if doc_id not in bytes_per_doc]
    if lacking:
        raise InputError(f"the bytes of {len(lacking)} documents of the runs are not known, as of {lacking[0]!r}.")
    return pool_curve(campaign, np.array([bytes_per_doc[doc_id] for doc_id in campaign.whole.docs], dtype=np.float64))


def _too_small(docs: NDArray[np.float64], volume: NDArray[np.float64] | None) -> str:
    """What the smallest pool takes."""
    if len(docs) < 2:
        return "the runs hold no documents for judged topics, so that there is no pool."
    least = "" if volume is None else f" and {volume[1]:,.0f} bytes"
    return (
        f"no pool fits the budget: at depth 1 it has {docs[1]:,.0f} documents{least}; allow as much, or take a sampler "
        "that is given its size, as loft:100."
    )
