"""Small stand-ins for what generators need: a WordNet, word vectors, and models with random weights."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

# part, lemmas, antonyms as (own place, place of the synset in this list, place of its word)
SYNSETS = [
    ("n", ["car", "auto", "automobile", "motor_car"], []),
    ("n", ["cable_car", "car"], []),
    ("n", ["state", "nation", "country"], []),
    ("n", ["mouse", "Rodent"], []),
    ("v", ["drive", "motor"], []),
    ("v", ["state", "say", "tell"], []),
    ("a", ["hot", "warm"], [(1, 7, 1)]),
    ("a", ["cold"], [(1, 6, 1)]),
    ("a", ["afraid(p)", "fearful"], []),
    ("r", ["quickly", "rapidly"], []),
]
_PARTS = {"n": "noun", "v": "verb", "a": "adj", "r": "adv"}
_LICENCE = "  1 this line stands for the licence of the real thing\n"
EXCEPTIONS = {"noun": "mice mouse\n", "verb": "drove drive\n", "adj": "hotter hot\n", "adv": ""}

WORDS = {
    "hot": [1.0, 0.0, 0.0],
    "cold": [0.99, 0.14, 0.0],
    "warm": [0.95, 0.31, 0.0],
    "car": [0.0, 1.0, 0.0],
    "auto": [0.0, 0.99, 0.14],
    "vehicle": [0.0, 0.9, 0.43],
    "goldfish": [0.0, 0.0, 1.0],
    "naïve": [0.5, 0.5, 0.7],
}

TEXTS = (
    "do goldfish grow in small tanks",
    "what is the daily life of thai people",
    "cost of interior concrete flooring",
    "causes of left ventricular hypertrophy",
    "how long is the life cycle of a flea",
    "who formed the commonwealth of independent states",
    "definition of mechanical ventilation",
    "types of cars that drive quickly in hot states",
) * 4


def write_wordnet(folder: Path) -> Path:
    """Write a database of ten synsets in WordNet's own layout below an NLTK data folder."""
    place = folder / "corpora" / "wordnet"
    place.mkdir(parents=True)
    offsets = _offsets()
    for code, part in _PARTS.items():
        lines = [_line(number, offsets) for number, row in enumerate(SYNSETS) if row[0] == code]
        (place / f"data.{part}").write_text(_LICENCE + "".join(lines), encoding="utf-8")
        senses: dict[str, list[int]] = {}
        for number, (own, lemmas, _) in enumerate(SYNSETS):
            for lemma in lemmas if own == code else ():
                senses.setdefault(lemma.split("(")[0].lower(), []).append(offsets[number])
        index = [
            f"{lemma} {code} {len(found)} 0 {len(found)} 0 {' '.join(f'{one:08d}' for one in found)}  \n"
            for lemma, found in sorted(senses.items())
        ]
        (place / f"index.{part}").write_text(_LICENCE + "".join(index), encoding="utf-8")
        (place / f"{part}.exc").write_text(EXCEPTIONS[part], encoding="utf-8")
    return place


def write_vectors(path: Path) -> Path:
    """Write word vectors as GloVe's text, without a header."""
    lines = (f"{word} {' '.join(map(str, vector))}\n" for word, vector in WORDS.items())
    path.write_text("".join(lines), encoding="utf-8")
    return path


def write_binary_vectors(path: Path) -> Path:
    """Write the same in word2vec's binary format."""
    rows = (f"{word} ".encode() + np.array(vector, "<f4").tobytes() + b"\n" for word, vector in WORDS.items())
    path.write_bytes(f"{len(WORDS)} 3\n".encode() + b"".join(rows))
    return path


def build_t5(folder: Path, size: int = 64, layers: int = 1) -> Path:
    """A T5 with random weights."""
    import torch
    from tiny_rankers import pieces
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast, T5Config, T5ForConditionalGeneration

    tokenizer = Tokenizer(models.Unigram(pieces(TEXTS, ["<pad>", "</s>", "<unk>"]), unk_id=2))
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    tokenizer.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
    wrapped = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="<pad>", eos_token="</s>", unk_token="<unk>"
    )
    config = T5Config(
        vocab_size=len(wrapped),
        d_model=size,
        d_kv=16,
        d_ff=2 * size,
        num_layers=layers,
        num_decoder_layers=layers,
        num_heads=4,
        feed_forward_proj="gated-gelu",
        pad_token_id=0,
        eos_token_id=1,
        decoder_start_token_id=0,
        dropout_rate=0.0,
    )
    torch.set_num_threads(1)  # on a busy machine several threads wait for each other a hundred times as long
    with torch.random.fork_rng():
        torch.manual_seed(3)  # of the first seeds the one whose answers differ most from text to text
        T5ForConditionalGeneration(config).save_pretrained(folder)
    wrapped.save_pretrained(folder)
    return folder


def build_m2m100(folder: Path) -> Path:
    """A translation model with random weights."""
    import sentencepiece
    import torch
    from transformers import M2M100Config, M2M100ForConditionalGeneration, M2M100Tokenizer

    folder.mkdir(parents=True, exist_ok=True)
    corpus, prefix = folder / "texts.txt", folder / "sentencepiece.bpe"
    corpus.write_text("\n".join(TEXTS), encoding="utf-8")
    sentencepiece.SentencePieceTrainer.train(
        input=str(corpus),
        model_prefix=str(prefix),
        vocab_size=150,
        bos_id=0,
        pad_id=1,
        eos_id=2,
        unk_id=3,
        minloglevel=2,
        hard_vocab_limit=False,
    )
    pieces = sentencepiece.SentencePieceProcessor(model_file=f"{prefix}.model")
    names = ["<s>", "<pad>", "</s>", "<unk>", *(pieces.id_to_piece(number) for number in range(4, len(pieces)))]
    vocabulary = folder / "vocab.json"
    vocabulary.write_text(json.dumps({name: number for number, name in enumerate(names)}), encoding="utf-8")
    tokenizer = M2M100Tokenizer(vocab_file=str(vocabulary), spm_file=f"{prefix}.model", src_lang="en", tgt_lang="es")
    config = M2M100Config(
        vocab_size=max(tokenizer.lang_token_to_id.values()) + 9,
        d_model=64,
        encoder_layers=1,
        decoder_layers=1,
        encoder_attention_heads=4,
        decoder_attention_heads=4,
        encoder_ffn_dim=128,
        decoder_ffn_dim=128,
        max_position_embeddings=128,
        bos_token_id=0,
        pad_token_id=1,
        eos_token_id=2,
        decoder_start_token_id=2,
    )
    torch.set_num_threads(1)  # on a busy machine several threads wait for each other a hundred times as long
    with torch.random.fork_rng():
        torch.manual_seed(1)
        M2M100ForConditionalGeneration(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def build_bert(folder: Path) -> Path:
    """A masked language model with random weights whose words are those of the texts."""
    import torch
    from transformers import BertConfig, BertForMaskedLM, BertTokenizerFast

    folder.mkdir(parents=True, exist_ok=True)
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    words = sorted({word for text in TEXTS for word in text.split()})
    vocabulary = folder / "vocab.txt"
    vocabulary.write_text("\n".join([*special, *words, "##s", "i", "7"]) + "\n", encoding="utf-8")
    tokenizer = BertTokenizerFast(str(vocabulary))
    config = BertConfig(
        vocab_size=len(tokenizer), hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=64
    )
    torch.set_num_threads(1)  # on a busy machine several threads wait for each other a hundred times as long
    with torch.random.fork_rng():
        torch.manual_seed(1)
        BertForMaskedLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def _offsets() -> dict[int, int]:
    """Where the line of each synset begins in its file: lines have the same length whatever the offsets are."""
    nowhere = dict.fromkeys(range(len(SYNSETS)), 0)
    ends = dict.fromkeys(_PARTS, len(_LICENCE.encode()))
    offsets = {}
    for number, (code, _, _) in enumerate(SYNSETS):
        offsets[number] = ends[code]
        ends[code] += len(_line(number, nowhere).encode())
    return offsets


def _line(number: int, offsets: dict[int, int]) -> str:
    """One synset as WordNet writes it."""
    code, lemmas, antonyms = SYNSETS[number]
    words = " ".join(f"{lemma} 0" for lemma in lemmas)
    pointers = " ".join(
        f"! {offsets[other]:08d} {SYNSETS[other][0]} {own:02x}{place:02x}" for own, other, place in antonyms
    )
    counted = f"{len(antonyms):03d} {pointers}".strip()
    return f"{offsets[number]:08d} 00 {code} {len(lemmas):02x} {words} {counted} | a gloss  \n"
