"""monoT5 against transformers, with a tiny T5."""

from __future__ import annotations

import shutil
from functools import cache

import numpy as np
import pytest

from ringtrue.errors import InputError
from ringtrue.retrieval.neural.checkpoint import load_network, save_network
from ringtrue.retrieval.neural.scoring import score
from ringtrue.retrieval.rankers.monot5 import MonoT5, MonoT5Model

# isort: split
import tiny_rankers
import torch
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

QUERIES = ["lighthouse lamp", "ships  in fog\tat night?", "Ünïcode e\u0301 ﬁt ½", "", "\u0301mark", "日本"]
DOCUMENTS = [
    "The keeper lit the lamp at dusk.",
    "  blanks around, and   many within  ",
    "true false Relevant: Document: Query:",
    "x",
    "",
    "\u0301accent first",
    "ends with a joiner\u200d",
    "naïve café №5",
]
PAIRS = np.array([(q, d) for q in range(len(QUERIES)) for d in range(len(DOCUMENTS))])


@pytest.fixture(scope="module", params=[True, False], ids=["tied", "untied"])
def folder(request, tmp_path_factory):
    texts = [tiny_rankers.WORDS, *DOCUMENTS, *QUERIES]
    return tiny_rankers.t5(tmp_path_factory.mktemp("t5"), texts, tied=request.param)


@cache
def loaded(folder, dtype):
    return AutoTokenizer.from_pretrained(folder), AutoModelForSeq2SeqLM.from_pretrained(folder, dtype=dtype).eval()


def plain(folder, query, document, dtype=torch.float32):
    """The definition: the whole prompt through transformers, one step of `generate`, and two of its logits."""
    tokenizer, model = loaded(folder, dtype)
    inputs = tokenizer(f"Query: {query} Document: {document} Relevant:", return_tensors="pt")
    said = model.generate(
        input_ids=inputs["input_ids"],
        attention_mask=inputs["attention_mask"],
        max_new_tokens=1,
        do_sample=False,
        return_dict_in_generate=True,
        output_logits=True,
    )
    words = [tokenizer(word, add_special_tokens=False)["input_ids"][0] for word in ("true", "false")]
    return said.logits[0][0, words].float().log_softmax(0)[0].item()


def test_scores_are_the_log_probabilities_of_true(folder):
    scores = MonoT5(str(folder)).score(QUERIES, DOCUMENTS, PAIRS)
    expected = [plain(folder, QUERIES[q], DOCUMENTS[d]) for q, d in PAIRS]
    assert scores == pytest.approx(expected, rel=1e-4, abs=2e-5)
    assert np.ptp(scores) > 0.01


def test_the_tokens_are_those_of_the_whole_prompt(folder):
    network = MonoT5Model(str(folder)).trained()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    prepared = network.prepare(QUERIES, DOCUMENTS)
    for query, document in PAIRS.tolist():
        rows = network.collate(prepared, np.array([(query, document)]))["input_ids"][0].tolist()
        assert rows == tokenizer(f"Query: {QUERIES[query]} Document: {DOCUMENTS[document]} Relevant:")["input_ids"]


def test_a_long_document_is_cut_and_the_prompt_is_not(folder):
    network = MonoT5Model(str(folder), max_length=40, query_length=10).trained()
    prepared = network.prepare(["lamp", "fog " * 500], ["ships and fog " * 5000])
    for query in (0, 1):
        tokens = network.collate(prepared, np.array([(query, 0)]))["input_ids"][0].tolist()
        assert len(tokens) == 40 == network.lengths(prepared, np.array([(query, 0)]))[0]
        text = AutoTokenizer.from_pretrained(folder).decode(tokens)
        assert text.startswith("Query:") and text.endswith("Relevant:</s>") and " Document: " in text


def test_the_loss_is_the_cross_entropy_of_the_right_word_over_all_words(folder):
    network = MonoT5Model(str(folder)).trained().eval()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    batch = network.collate(network.prepare(QUERIES, DOCUMENTS), PAIRS[:4])
    true, false = (tokenizer(word, add_special_tokens=False)["input_ids"][:1] for word in ("true", "false"))
    labels = torch.tensor([true, false, true, false])
    expected = network.transformer(**batch, labels=labels).loss
    assert network.loss(batch).item() == pytest.approx(expected.item(), rel=1e-5)


def test_saved_and_loaded_it_scores_the_same_here_and_elsewhere(folder, tmp_path):
    network = MonoT5Model(str(folder)).fresh([], 0)
    save_network(network, tmp_path)
    again = load_network(tmp_path, "monot5")
    assert score(again, QUERIES, DOCUMENTS, PAIRS).tolist() == score(network, QUERIES, DOCUMENTS, PAIRS).tolist()
    assert plain(tmp_path, QUERIES[0], DOCUMENTS[0]) == pytest.approx(plain(folder, QUERIES[0], DOCUMENTS[0]), abs=1e-6)


def test_bf16_is_as_near_to_fp32_as_that_of_transformers(folder):
    exact = np.array([plain(folder, QUERIES[q], DOCUMENTS[d]) for q, d in PAIRS])
    theirs = np.array([plain(folder, QUERIES[q], DOCUMENTS[d], torch.bfloat16) for q, d in PAIRS])
    ours = MonoT5(str(folder), precision="bf16").score(QUERIES, DOCUMENTS, PAIRS)
    assert 0 < np.abs(ours - exact).mean() < 2 * np.abs(theirs - exact).mean()


def test_what_cannot_be_used_is_refused(folder, tmp_path):
    with pytest.raises(InputError, match=r"write monobert:checkpoint="):
        MonoT5(str(tiny_rankers.bert(tmp_path / "bert"))).network()
    with pytest.raises(InputError, match="begin with the same token"):
        MonoT5(str(folder), positive="true", negative="true").network()
    with pytest.raises(InputError, match="no room"):
        MonoT5Model(str(folder), max_length=64).trained()


def test_a_tokenizer_from_elsewhere(folder, tmp_path):
    bare = shutil.copytree(folder, tmp_path / "bare", ignore=shutil.ignore_patterns("tokenizer*"))
    found = MonoT5(str(bare), tokenizer=str(folder)).score(QUERIES, DOCUMENTS, PAIRS)
    assert found.tolist() == MonoT5(str(folder)).score(QUERIES, DOCUMENTS, PAIRS).tolist()


def test_a_tokenizer_that_joins_words_is_refused(tmp_path):
    from tokenizers import Tokenizer, models, trainers
    from transformers import PreTrainedTokenizerFast

    folder = tiny_rankers.t5(tmp_path, size=400)
    joining = Tokenizer(models.BPE(unk_token="<unk>"))
    marks = ["<pad>", "</s>", "<unk>"]
    texts = ["Query: Is a text's end (or its beginning) 1st-class? Yes. Document: Is Relevant: true false"] * 9
    joining.train_from_iterator(texts, trainers.BpeTrainer(vocab_size=200, special_tokens=marks, show_progress=False))
    PreTrainedTokenizerFast(
        tokenizer_object=joining, pad_token="<pad>", eos_token="</s>", unk_token="<unk>"
    ).save_pretrained(folder)
    with pytest.raises(InputError, match="joins words"):
        MonoT5Model(str(folder)).trained()


def test_a_handful_of_pairs_is_learnt(folder):
    torch.manual_seed(1)
    network = MonoT5Model(str(folder)).fresh([], 1).eval()
    pairs = np.array([(0, 0), (0, 2), (1, 1), (1, 0), (2, 3), (2, 7)])
    batch = network.collate(network.prepare(QUERIES, DOCUMENTS), pairs)
    optimizer = torch.optim.AdamW(network.parameters(), 5e-3)
    for _ in range(100):
        optimizer.zero_grad()
        network.loss(batch).backward()
        optimizer.step()
    relevant, other = score(network, QUERIES, DOCUMENTS, pairs).reshape(-1, 2).T
    assert (relevant > other).all()
