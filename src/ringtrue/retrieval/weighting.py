"""Nine weighting models as Terrier defines them: language models, divergence from randomness and from independence.

The formulas and the defaults are those of Terrier 5 (Ounis et al., "Terrier: a high performance and scalable
information retrieval platform", OSIR 2006); each class names its paper. Logarithms are to base 2. The base class
multiplies by the term's frequency in the query; Terrier's own Dirichlet model alone does not, but query likelihood
is a product over the query's words, so a repeated one counts twice here. Left out: models with fields.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ringtrue.retrieval.index import Floats, Index, Postings
from ringtrue.retrieval.lexical import Lexical

_LOG2_E = math.log2(math.e)
_NEARLY_ALL = 0.99999  # Terrier's relative frequency of a document's only term: 1 has no logarithm of 1 - f


@dataclass(frozen=True, repr=False)
class Dirichlet(Lexical):
    """Query likelihood with Dirichlet smoothing (Zhai and Lafferty, TOIS 22(2), 2004), for matching terms only."""

    mu: float = 2500.0

    def weigh(self, postings: Postings, index: Index) -> Floats:
        """Likelihood against that in the collection, less what a longer document gives to smoothing."""
        expected = self.mu * postings.collection_frequency / index.tokens
        return np.log2(1 + postings.tf / expected) + np.log2(self.mu / (postings.lengths + self.mu))


@dataclass(frozen=True, repr=False)
class Hiemstra(Lexical):
    """Language model with linear smoothing (Hiemstra, PhD thesis, Twente, 2001)."""

    lam: float = 0.15

    def weigh(self, postings: Postings, index: Index) -> Floats:
        """The odds of document against collection."""
        document = self.lam * postings.tf / postings.lengths
        collection = (1 - self.lam) * postings.collection_frequency / index.tokens
        return np.log2(1 + document / collection)


@dataclass(frozen=True, repr=False)
class TFIDF(Lexical):
    """Robertson's tf with Sparck Jones's idf: Terrier's TF_IDF."""

    k1: float = 1.2
    b: float = 0.75

    def weigh(self, postings: Postings, index: Index) -> Floats:
        """Saturated tf times idf."""
        norm = 1 - self.b + self.b * postings.lengths / index.average_length
        idf = math.log2(index.documents / postings.document_frequency + 1)
        return self.k1 * postings.tf / (postings.tf + self.k1 * norm) * idf


@dataclass(frozen=True, repr=False)
class PL2(Lexical):
    """Poisson randomness, Laplace after-effect, normalisation 2 (Amati, PhD thesis, Glasgow, 2003)."""

    c: float = 1.0

    def weigh(self, postings: Postings, index: Index) -> Floats:
        """Information of the tf under a Poisson law, with Stirling's formula for the factorial."""
        tfn = _normalised(postings, index, self.c)
        mean = postings.collection_frequency / index.documents
        information = tfn * np.log2(tfn / mean) + (mean - tfn) * _LOG2_E + 0.5 * np.log2(2 * math.pi * tfn)
        return information / (tfn + 1)


@dataclass(frozen=True, repr=False)
class IFB2(Lexical):
    """Inverse term frequency, Bernoulli after-effect, normalisation 2 (Amati, PhD thesis, Glasgow, 2003).

    A term that occurs more often than there are documents has a negative weight: use it with stop words.
    """

    c: float = 1.0

    def weigh(self, postings: Postings, index: Index) -> Floats:
        """Normalised tf times the rarity of the term's occurrences."""
        return _bernoulli(postings, index, self.c) * _rarity(postings.collection_frequency, index)


@dataclass(frozen=True, repr=False)
class InB2(Lexical):
    """Inverse document frequency, Bernoulli after-effect, normalisation 2 (Amati, PhD thesis, Glasgow, 2003)."""

    c: float = 1.0

    def weigh(self, postings: Postings, index: Index) -> Floats:
        """Normalised tf times the rarity of the term's documents."""
        return _bernoulli(postings, index, self.c) * _rarity(postings.document_frequency, index)


@dataclass(frozen=True, repr=False)
class DLH(Lexical):
    """Hypergeometric model with Laplace normalisation, without parameters (Amati, ECIR 2006)."""

    def weigh(self, postings: Postings, index: Index) -> Floats:
        """Divergence of the document from the collection, with Terrier's constant of 0.5."""
        f = _relative(postings)
        rest = (postings.lengths - postings.tf) * np.log2(1 - f)
        return (_divergence(postings, index, f) + rest) / (postings.tf + 0.5)


@dataclass(frozen=True, repr=False)
class DPH(Lexical):
    """Hypergeometric model with Popper's normalisation, without parameters (Amati et al., TREC 2007)."""

    def weigh(self, postings: Postings, index: Index) -> Floats:
        """Divergence of the document from the collection."""
        f = _relative(postings)
        return (1 - f) ** 2 / (postings.tf + 1) * _divergence(postings, index, f)


@dataclass(frozen=True, repr=False)
class DFIZ(Lexical):
    """Divergence from independence, standardised (Kocabas, Dincer and Karaoglan, Inf. Retrieval 17(2), 2014)."""

    def weigh(self, postings: Postings, index: Index) -> Floats:
        """How far the tf is above chance; nothing where it is not."""
        expected = postings.collection_frequency * postings.lengths / index.tokens
        above = np.maximum(postings.tf - expected, 0)
        return np.log2(above / np.sqrt(expected) + 1)


def _normalised(postings: Postings, index: Index, c: float) -> Floats:
    """The tf as it would be in a document of average length: normalisation 2."""
    return postings.tf * np.log2(1 + c * index.average_length / postings.lengths)


def _bernoulli(postings: Postings, index: Index, c: float) -> Floats:
    """Normalised tf after the ratio of two Bernoulli trials."""
    tfn = _normalised(postings, index, c)
    return tfn * (postings.collection_frequency + 1) / (postings.document_frequency * (tfn + 1))


def _rarity(frequency: int, index: Index) -> float:
    """The idf of divergence from randomness."""
    return math.log2((index.documents + 1) / (frequency + 0.5))


def _relative(postings: Postings) -> Floats:
    """The share of the term in its document."""
    return np.where(postings.tf < postings.lengths, postings.tf / postings.lengths, _NEARLY_ALL)


def _divergence(postings: Postings, index: Index, f: Floats) -> Floats:
    """What the hypergeometric models have in common."""
    mean = postings.collection_frequency / index.documents
    gain = postings.tf * np.log2(postings.tf * index.average_length / postings.lengths / mean)
    return gain + 0.5 * np.log2(2 * math.pi * postings.tf * (1 - f))
