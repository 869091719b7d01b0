"""The frames of English questions, and keywords that stand for a question."""

from __future__ import annotations

import re

_BE = r"(?:is|are|was|were|am)"
_DO = r"(?:do|does|did|can|could|will|would|should|shall|may|might|must|has|have|had)"
_ANY = rf"(?:{_BE}|{_DO})"


def _compiled(rows: tuple[tuple[str, str], ...]) -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple((re.compile(pattern, re.IGNORECASE), other) for pattern, other in rows)


# a question's frame around what it is about, and a word for what it asks; the first that fits counts
FRAMES = _compiled(
    (
        (rf"what {_DO} (.+?) (?:mean|stand for)", "meaning"),
        (rf"what (?:{_BE} )?(?:the )?(?:meaning|definition) of (.+)", "definition"),
        (rf"how much {_ANY} (.+?)(?: cost)?", "cost"),
        (rf"how (?:many|much) (.+?) {_ANY}(?: there)?(?: in)? (.+)", "number of"),
        (r"how (?:many|much) (.+)", "number of"),
        (rf"how old {_ANY} (.+)", "age"),
        (rf"how far {_ANY} (?:it )?(?:from )?(.+)", "distance"),
        (rf"how (?:tall|high) {_ANY} (.+)", "height"),
        (rf"how (?:big|large) {_ANY} (.+)", "size"),
        (rf"how long (?:{_ANY} )?(?:it )?(?:take )?(.+)", "duration"),
        (rf"how often {_ANY} (.+)", "frequency"),
        (r"how to (.+)", ""),
        (rf"how (?:{_ANY} )(.+)", ""),
        (rf"why (?:{_ANY} )?(.+)", "reason"),
        (rf"where (?:{_ANY} )?(.+?)(?: located| from)?", "location"),
        (rf"when (?:{_ANY} )?(.+)", "date"),
        (rf"(?:what|which|whom?)(?:'s| {_ANY})? (.+)", ""),
        (rf"{_ANY} (.+)", ""),
        (r"(?:define|tell me about|explain|describe) (.+)", ""),
    )
)

# small words that a frame leaves at an end of what is asked for
ASKING = frozenset(
    "a an the is are was were be do does did can could will would should has have had i you we they he she it there my"
    " your some any of for to from in on at by with about as so".split()
)

# what makes a text a question or a sentence: it begins as one, or has a question word or a verb form in it
QUESTION = re.compile(
    rf"^(?:{_ANY}|define|explain|describe|tell me)\s|\b(?:what|whom?|whose|which|when|where|why|how|{_BE}|{_DO})\b",
    re.IGNORECASE,
)

# keywords and the question that they stand for
QUESTIONS = _compiled(
    (
        (r"(?:definition|meaning)(?: of)? (.+)", r"what does \1 mean"),
        (r"(.+?) (?:definition|meaning)", r"what does \1 mean"),
        (r"(?:cost|price)s? of (.+)", r"how much does \1 cost"),
        (r"(.+?) (?:cost|price)s?", r"how much does \1 cost"),
        (r"causes? of (.+)", r"what causes \1"),
        (r"(.+?) causes?", r"what causes \1"),
        (
            r"(symptoms|signs|types|kinds|parts|effects|side effects|benefits|examples|uses|advantages) of (.+)",
            r"what are the \1 of \2",
        ),
        (r"(.+?) (symptoms|signs|types|side effects|benefits|examples|uses|advantages)", r"what are the \2 of \1"),
        (
            r"(treatment|history|purpose|age|size|height|length|capital|population|weather) (of|in|for) (.+)",
            r"what is the \1 \2 \3",
        ),
        (r"(.+?) (treatment)", r"what is the \2 for \1"),
        (r"(.+?) (history|purpose|age|size|height|length|population)", r"what is the \2 of \1"),
        (r"(.+?) (?:vs\.?|versus) (.+)", r"what is the difference between \1 and \2"),
        (r"(differences?) between (.+)", r"what is the \1 between \2"),
        (r"(?:location of (.+)|(.+?) location)", r"where is \1\2"),
        (r"(?:number of) (.+)", r"how many \1 are there"),
        (r"(.+?) (?:phone number|address|website)", r"how can \1 be reached"),
    )
)
