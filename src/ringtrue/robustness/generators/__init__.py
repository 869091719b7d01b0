"""Ways to write a query differently, by name; the names are the study's.

A generator is a frozen dataclass with a category, a word for what it needs, and `vary_all(queries, n, seed)`. To add
one: a file here (most extend `Rule` or `WordSwap`, models `TextModel`), a line in the table.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from ringtrue.registry import Registry

if TYPE_CHECKING:
    from ringtrue.data.records import Query


class Outcome(NamedTuple):
    """The variations of one query; a reason where there are none, or fewer than were asked for."""

    texts: tuple[str, ...]
    reason: str = ""


class Generator(Protocol):
    """Writes queries differently; its `repr` names it in reports, cache keys and provenance."""

    @property
    def category(self) -> str:
        """The kind of change: misspelling, naturality, ordering, paraphrasing, spelling or recorded."""

    @property
    def needs(self) -> str:
        """What must be on this machine: nothing, or wordnet, vectors, a model, apertium, a file."""

    def check(self) -> None:
        """Raise `MissingError`, with what to run, where something that is needed is not on this machine."""

    def vary_all(self, queries: Sequence[Query], n: int, seed: int) -> Iterable[Outcome]:
        """Up to `n` distinct variations of each query's title, in order of the queries.

        None of them is the query itself, whatever its case, gaps and punctuation. What becomes of a query depends on
        the query and the seed alone, not on those beside it, and a smaller `n` gives the first of a larger one's.
        """


_HERE = "ringtrue.robustness.generators"

GENERATORS: Registry[Generator] = Registry(
    "generator",
    {
        "ApertiumBackTransl": f"{_HERE}.apertium_back_transl:ApertiumBackTransl",
        "BackTransl": f"{_HERE}.back_transl:BackTransl",
        "BritishAmerican": f"{_HERE}.british_american:BritishAmerican",
        "DeleteChar": f"{_HERE}.delete_char:DeleteChar",
        "InsertChar": f"{_HERE}.insert_char:InsertChar",
        "JoinWords": f"{_HERE}.join_words:JoinWords",
        "KeywordToQuestion": f"{_HERE}.keyword_to_question:KeywordToQuestion",
        "MaskedLMSwap": f"{_HERE}.masked_lm_swap:MaskedLMSwap",
        "NeighbCharSwap": f"{_HERE}.neighb_char_swap:NeighbCharSwap",
        "QWERTYCharSub": f"{_HERE}.qwerty_char_sub:QWERTYCharSub",
        "QuestionToKeyword": f"{_HERE}.question_to_keyword:QuestionToKeyword",
        "RandOrderSwap": f"{_HERE}.rand_order_swap:RandOrderSwap",
        "RandomCharSub": f"{_HERE}.random_char_sub:RandomCharSub",
        "RealMisspelling": f"{_HERE}.real_misspelling:RealMisspelling",
        "Recorded": f"{_HERE}.recorded:Recorded",
        "RmvRandWords": f"{_HERE}.rmv_rand_words:RmvRandWords",
        "RmvStopRandWords": f"{_HERE}.rmv_stop_rand_words:RmvStopRandWords",
        "RmvStopWords": f"{_HERE}.rmv_stop_words:RmvStopWords",
        "SplitWord": f"{_HERE}.split_word:SplitWord",
        "T5DescToTitle": f"{_HERE}.t5_desc_to_title:T5DescToTitle",
        "T5QQP": f"{_HERE}.t5_qqp:T5QQP",
        "T5Summary": f"{_HERE}.t5_summary:T5Summary",
        "WEmbedSynSwap": f"{_HERE}.w_embed_syn_swap:WEmbedSynSwap",
        "WNetSynSwap": f"{_HERE}.w_net_syn_swap:WNetSynSwap",
    },
)
