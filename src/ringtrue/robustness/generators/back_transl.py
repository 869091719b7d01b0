"""BackTransl: the query translated to another language and back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ringtrue.errors import InputError
from ringtrue.robustness.generators.text_model import TextModel
from ringtrue.robustness.models import Loaded, check_model, load_model, rewrite


@dataclass(frozen=True, repr=False)
class BackTransl(TextModel):
    """Translate by way of `pivot` (the study took de; es and fr were in its code).

    One model that knows both languages (M2M100, NLLB with its own codes) goes both ways; a pair of models (Marian) is
    `model` for the way there and `back` for the way back. The study decodes with the model's own settings, here
    `beams` counts.
    """

    model: str = "facebook/m2m100_418M"
    pivot: str = "de"
    language: str = "en"
    back: str = ""

    category = "paraphrasing"

    def check(self) -> None:
        """Both models must be here."""
        for name in filter(None, (self.model, self.back)):
            check_model(name, type(self).__name__)

    def rewritten(self, texts: Sequence[str], beams: int) -> list[list[str]]:
        """There by the best beam, back by all."""
        there = self._translated([" ".join(text.split()) for text in texts], self.model, self.language, self.pivot, 1)
        backs = self._translated(
            [found[0] if found else "" for found in there], self.back or self.model, self.pivot, self.language, beams
        )
        return [found if pivot else [] for pivot, found in zip(there, backs, strict=True)]

    def _translated(self, texts: Sequence[str], model: str, old: str, new: str, returned: int) -> list[list[str]]:
        source = load_model(model, "text to text", type(self).__name__, self.device)
        first = None
        if not self.back:
            source.tokenizer.src_lang = old
            first = _language_token(source, new)
        beams = max(self.beams, returned)
        return rewrite(
            source,
            texts,
            beams=beams,
            returned=returned,
            batch=self.batch,
            longest=self.longest,
            first_token=first,
        )


def _language_token(source: Loaded, language: str) -> int:
    """The token that makes a model write a language."""
    tokenizer = source.tokenizer
    if hasattr(tokenizer, "lang_token_to_id"):
        known = tokenizer.lang_code_to_token
        if language in known:
            return int(tokenizer.get_lang_id(language))
    else:
        token = int(tokenizer.convert_tokens_to_ids(language))
        if token != tokenizer.unk_token_id:
            return token
    raise InputError(
        f"generator BackTransl: this model has no language {language!r}; use its own codes (de or deu_Latn, say), or"
        " give a pair of models: BackTransl:model=THERE,back=BACK."
    )
