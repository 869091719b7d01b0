"""Query variations: rules beside TextAttack, a hundred thousand of them, and models in batches.

    python -m benchmarks.generators [--queries FILE] [--peer-python PYTHON]

TextAttack is measured where `--peer-python` names a Python that has it (and NLTK_DATA a folder with NLTK's stop words
and WordNet), with the same transformation, constraints and queries. The model is a T5 of random weights: how
fast it is does not depend on what it has learned.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from benchmarks.machine import SHARED, alternate, describe, write
from ringtrue.data.records import Query
from ringtrue.robustness.generators import GENERATORS, Generator
from ringtrue.robustness.generators.t5_qqp import T5QQP
from ringtrue.robustness.vary import parse_generators, runnable, vary

LOG = SHARED / "leakage" / "query-log.tsv"
SAMPLE = 500
MANY = 100_000
MODEL_SAMPLE = 256
TOKENS = 12  # random models never stop by themselves
PEERS = {
    "NeighbCharSwap": "WordSwapNeighboringCharacterSwap",
    "RandomCharSub": "WordSwapRandomCharacterSubstitution",
    "QWERTYCharSub": "WordSwapQWERTY",
    "InsertChar": "WordSwapRandomCharacterInsertion",
    "DeleteChar": "WordSwapRandomCharacterDeletion",
    "RandOrderSwap": "WordInnerSwapRandom",
    "WNetSynSwap:choice=random": "WordSwapWordNet",
}


def read(path: Path) -> list[str]:
    """The distinct texts of a log."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return list(dict.fromkeys(line.split("\t")[1] for line in lines if "\t" in line))


def numbered(texts: Sequence[str]) -> list[Query]:
    """Texts as queries."""
    return [Query(str(number), text) for number, text in enumerate(texts)]


def run(generator: Generator, queries: Sequence[Query]) -> int:
    """All variations, as rows; how many there are."""
    return sum(row.variation is not None for row in vary(queries, [generator]))


class TextAttack:
    """The peer in a process of its own."""

    def __init__(self, python: Path, texts: Sequence[str]) -> None:
        """Start it; loading is not measured."""
        program = Path(__file__).with_name("_textattack.py")
        self._process = subprocess.Popen(
            [python, program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        self._say(json.dumps(texts))

    def _say(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()

    def vary(self, name: str) -> list[str]:
        """Let it vary all queries."""
        self._say(name)
        assert self._process.stdout is not None
        answer: list[str] = json.loads(self._process.stdout.readline())
        return answer


def beside(python: Path, texts: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Queries per second of both, with the same transformation; the first round of each is not counted."""
    peer, queries = TextAttack(python, texts), numbered(texts)
    for spec, name in PEERS.items():
        generator = GENERATORS.parse(spec)
        made, theirs = run(generator, queries), peer.vary(name)
        work: dict[str, Callable[[], object]] = {
            "ours": partial(run, generator, queries),
            "theirs": partial(peer.vary, name),
        }
        seconds = alternate(work, 7)
        yield {
            "generator": spec,
            "changed": made,
            "textattack_changed": sum(one != text for one, text in zip(theirs, texts, strict=True)),
            "queries_per_second": round(len(texts) / seconds["ours"]),
            "textattack_queries_per_second": round(len(texts) / seconds["theirs"]),
            "ratio": round(seconds["theirs"] / seconds["ours"], 1),
        }


def many(texts: Sequence[str], count: int = MANY) -> Iterator[dict[str, Any]]:
    """Seconds for so many variations by each rule, on one core; the log is gone through as often as that needs.

    Rules that change few queries go through millions: `queries` says how many.
    """
    block = numbered(list(islice(cycle(texts), count)))
    ready, _ = runnable(parse_generators(["all"]))
    for generator in ready:
        if generator.needs in ("", "wordnet"):
            made, asked, start = 0, 0, time.perf_counter()
            while made < count:
                made += run(generator, block)
                asked += len(block)
            seconds = (time.perf_counter() - start) * count / made
            yield {"generator": repr(generator), "seconds": round(seconds, 2), "queries": round(asked * count / made)}


def batched(texts: Sequence[str]) -> dict[str, Any]:
    """Queries per second of a text-to-text model in batches and one by one."""
    T5QQP.longest = staticmethod(lambda tokens: TOKENS)  # type: ignore[method-assign]
    queries = numbered(texts[:MODEL_SAMPLE])
    with tempfile.TemporaryDirectory() as folder:
        size = _build(Path(folder), texts)
        whole, single = T5QQP(model=folder), T5QQP(model=folder, batch=1)
        list(whole.vary_all(queries[:4], 1, 1))
        seconds = alternate(
            {
                "batched": lambda: list(whole.vary_all(queries, 1, 1)),
                "one by one": lambda: [list(single.vary_all([query], 1, 1)) for query in queries],
            },
            3,
        )
    return {
        "parameters": size,
        "queries": len(queries),
        **{name.replace(" ", "_"): round(len(queries) / took, 1) for name, took in seconds.items()},
        "ratio": round(seconds["one by one"] / seconds["batched"], 1),
    }


def _build(folder: Path, texts: Sequence[str]) -> int:
    """Save a T5 of the size of t5-efficient-mini with random weights; how many it has."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast, T5Config, T5ForConditionalGeneration

    words = dict.fromkeys(word for text in texts for word in text.split())
    names = ["<pad>", "</s>", "<unk>", *islice((word for word in words if word[0] != "<"), 5000)]
    tokenizer = Tokenizer(models.WordLevel({name: number for number, name in enumerate(names)}, "<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
    wrapped = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="<pad>", eos_token="</s>", unk_token="<unk>"
    )
    sizes = {"d_model": 384, "d_kv": 32, "d_ff": 1536, "num_layers": 4, "num_heads": 8}
    config = T5Config(vocab_size=len(names), pad_token_id=0, eos_token_id=1, decoder_start_token_id=0, **sizes)
    model = T5ForConditionalGeneration(config)
    model.save_pretrained(folder)
    wrapped.save_pretrained(folder)
    return int(sum(value.numel() for value in model.parameters()))


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--queries", type=Path, default=LOG, help="TSV with queries in its second column")
    parser.add_argument("--peer-python", type=Path, help="a Python that has textattack")
    options = parser.parse_args()
    texts = read(options.queries)
    step = max(len(texts) // SAMPLE, 1)
    sample = texts[::step][:SAMPLE]
    write(
        "generators",
        {
            "machine": describe(("torch", "transformers")),
            "textattack": list(beside(options.peer_python, sample)) if options.peer_python else None,
            f"seconds_for_{MANY}_variations": list(many(texts)),
            "model": batched(sample),
        },
    )


if __name__ == "__main__":
    main()
