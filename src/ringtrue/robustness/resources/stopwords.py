"""The stop list of the study: NLTK's 179 English words, which bm25s carries."""

from __future__ import annotations

from bm25s.stopwords import STOPWORDS_EN_PLUS

STOPWORDS = frozenset(STOPWORDS_EN_PLUS)
