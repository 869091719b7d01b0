"""Generators that use a language model, with small ones of random weights."""

from __future__ import annotations

import importlib

import pytest

from ringtrue.data.records import Query
from ringtrue.errors import InputError, MissingExtraError, MissingModelError
from ringtrue.robustness import models
from ringtrue.robustness.generators import GENERATORS
from ringtrue.robustness.generators.text_model import TextModel

QUERIES = [Query("1", "do goldfish grow"), Query("2", "what is the daily life"), Query("3", "the life of a flea")]


@pytest.fixture(autouse=True)
def brief(monkeypatch):
    """Random models never stop by themselves."""
    monkeypatch.setattr(TextModel, "longest", staticmethod(lambda tokens: 6))


class _Echo:
    """Stands for `rewrite`: remembers the prompts, gives what it is told to."""

    def __init__(self, *beams: str) -> None:
        self.prompts: list[str] = []
        self._beams = list(beams)

    def __call__(self, source, texts, **options):
        self.prompts += texts
        return [self._beams for _ in texts]


def outcomes(spec: str, monkeypatch, echo: _Echo, queries=QUERIES, n: int = 1):
    generator = GENERATORS.parse(spec)
    module = importlib.import_module(type(generator).__module__)
    for place in {module, importlib.import_module("ringtrue.robustness.generators.text_model")}:
        if hasattr(place, "rewrite"):
            monkeypatch.setattr(place, "rewrite", echo)
    return list(generator.vary_all(queries, n, 1))


def test_prompts_are_those_of_the_training(monkeypatch, t5):
    for spec, prompt in (
        (f"T5QQP:{t5}", "paraphrase: do goldfish grow?"),
        (f"T5DescToTitle:{t5}", "summarize: do goldfish grow"),
        (f"T5Summary:{t5}", "summarize: do goldfish grow"),
    ):
        echo = _Echo("fish")
        outcomes(spec, monkeypatch, echo, [Query("1", "do  goldfish\tgrow")])
        assert echo.prompts == [prompt]


def test_the_best_beam_that_is_not_the_query(monkeypatch, t5):
    echo = _Echo("Do goldfish grow?", "", "Do goldfish get bigger?", "do goldfish get bigger", "goldfish growth")
    one, *_ = outcomes(f"T5QQP:{t5}", monkeypatch, echo)
    assert one.texts == ("do goldfish get bigger",)
    two, *_ = outcomes(f"T5QQP:{t5}", monkeypatch, echo, n=3)
    assert two == (("do goldfish get bigger", "goldfish growth"), "only 2 of 3 found")


def test_a_text_is_written_as_the_query_is(monkeypatch, t5):
    echo = _Echo("Goldfish Growth.")
    found = outcomes(f"T5QQP:{t5}", monkeypatch, echo, [Query("1", "Do goldfish grow?"), Query("2", "goldfish size")])
    assert [outcome.texts for outcome in found] == [("Goldfish Growth.",), ("goldfish growth",)]


def test_a_model_that_gives_the_query_back(monkeypatch, t5):
    found = outcomes(f"T5QQP:{t5}", monkeypatch, _Echo("Do goldfish grow?"), QUERIES[:1])
    assert found == [((), "the model gives the query back, or nothing")]


def test_there_by_the_pivot_and_back(monkeypatch, m2m100):
    calls = []

    def rewrite(source, texts, **options):
        calls.append((source.tokenizer.src_lang, options["first_token"], options["returned"], list(texts)))
        return [[f"{text} x", "the second"][: options["returned"]] for text in texts]

    monkeypatch.setattr(importlib.import_module("ringtrue.robustness.generators.back_transl"), "rewrite", rewrite)
    generator = GENERATORS.parse(f"BackTransl:model={m2m100},pivot=es,beams=2")
    first, *_ = generator.vary_all(QUERIES, 1, 1)
    tokenizer = models.load_model(str(m2m100), "text to text", "BackTransl").tokenizer
    there, back = calls
    assert there == ("en", tokenizer.get_lang_id("es"), 1, [query.title for query in QUERIES])
    assert back[:3] == ("es", tokenizer.get_lang_id("en"), 2)
    assert back[3] == [f"{query.title} x" for query in QUERIES]
    assert first.texts == ("do goldfish grow x x",)


def test_a_pair_of_models_needs_no_language_tokens(t5):
    generator = GENERATORS.parse(f"BackTransl:model={t5},back={t5},beams=2")
    assert all(outcome.texts for outcome in generator.vary_all(QUERIES, 1, 1))


def test_a_language_that_the_model_does_not_know(m2m100, t5):
    for model in (m2m100, t5):
        with pytest.raises(InputError, match="no language 'tlh'"):
            list(GENERATORS.parse(f"BackTransl:model={model},pivot=tlh").vary_all(QUERIES, 1, 1))


def test_the_likeliest_word_that_is_not_the_old_one(bert):
    import torch

    source = models.load_model(str(bert), "masked words", "MaskedLMSwap")
    given = source.tokenizer("do [MASK] grow", return_tensors="pt")
    with torch.inference_mode():
        logits = source.model(**given).logits[0, 2]
    order = source.tokenizer.convert_ids_to_tokens(logits.argsort(descending=True).tolist())
    bad = {"goldfish", "##s", "7", "i", "do", "is", "the", "of", "in", "a", "what", "how", "who", "that"}
    best = next(word for word in order if word not in bad and not word.startswith("["))
    found = {outcome.texts[0] for seed in range(12) for outcome in _bert(bert).vary_all(QUERIES[:1], 1, seed)}
    assert f"do {best} grow" in found
    assert len(found) == 2  # the other one changes "grow"


def _bert(folder, **options):
    extra = "".join(f",{name}={value}" for name, value in options.items())
    return GENERATORS.parse(f"MaskedLMSwap:model={folder}{extra}")


def test_any_likely_word_where_that_is_asked_for(bert):
    generator = _bert(bert, choice="random", most=20)
    found = {outcome.texts for seed in range(20) for outcome in generator.vary_all(QUERIES[:1], 1, seed)}
    assert len(found) > 5


def test_batches_hold_texts_of_one_length():
    texts = ["aa", "b", "", "cc", "dd", "e"]
    assert list(models.by_length(texts, 2)) == [[1, 5], [0, 3], [4]]


def test_a_batch_gives_what_one_by_one_gives(t5):
    source = models.load_model(str(t5), "text to text", "T5QQP")
    texts = [query.title for query in QUERIES] + ["a flea", "a car", "states"]
    options = {"beams": 3, "returned": 2, "longest": lambda tokens: tokens}
    together = models.rewrite(source, texts, batch=8, **options)
    assert together == [models.rewrite(source, [text], batch=1, **options)[0] for text in texts]
    assert all(len(found) == 2 for found in together)


def test_a_text_that_is_too_long(t5):
    found = list(GENERATORS.parse(f"T5QQP:{t5},beams=2").vary_all([Query("1", "life " * 600), QUERIES[0]], 1, 1))
    assert found[0] == ((), "longer than the 512 tokens that a model is given")
    assert found[1].texts


def test_a_model_that_is_not_there(monkeypatch, tmp_path):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    for spec in ("T5QQP", "BackTransl", "MaskedLMSwap", "T5Summary"):
        generator = GENERATORS.parse(f"{spec}:model=nobody/nothing")
        with pytest.raises(MissingModelError, match="hf download nobody/nothing"):
            generator.check()
        with pytest.raises(MissingModelError, match="not on this machine"):
            list(generator.vary_all(QUERIES, 1, 1))
        with pytest.raises(MissingModelError, match=r"there is no model in .*nowhere; give a folder"):
            GENERATORS.parse(f"{spec}:model={tmp_path / 'nowhere'}").check()
    for call in (lambda: GENERATORS.parse("T5DescToTitle").check(), lambda: outcomes_of("T5DescToTitle")):
        with pytest.raises(MissingModelError, match="finetune"):
            call()


def outcomes_of(spec: str):
    return list(GENERATORS.parse(spec).vary_all(QUERIES, 1, 1))


def test_no_transformers(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"ringtrue\[neural\]"):
        GENERATORS.parse("T5QQP").check()

    def absent(name):
        raise ModuleNotFoundError(name)

    monkeypatch.setattr(models.importlib, "import_module", absent)
    with pytest.raises(MissingExtraError, match=r"ringtrue\[neural\]"):
        models.load_model("any", "text to text", "T5QQP")


def test_a_model_without_the_weights_for_the_task(tmp_path, bert):
    from transformers import AutoTokenizer, BertConfig, BertModel

    BertModel(BertConfig.from_pretrained(bert)).save_pretrained(tmp_path)
    AutoTokenizer.from_pretrained(bert).save_pretrained(tmp_path)
    with pytest.raises(InputError, match="not trained for this"):
        list(_bert(tmp_path).vary_all(QUERIES, 1, 1))


def test_a_gpu_that_is_not_there(t5):
    import torch

    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    with pytest.raises(InputError, match="device=cuda"):
        outcomes_of(f"T5QQP:model={t5},device=cuda")
