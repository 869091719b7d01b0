"""Language models for generators: found on this machine or on the hub, run on texts of one length at a time.

Texts that are put in one batch have the same number of tokens, so that none is padded, and what a model makes of a text
does not depend on those beside it (but for the last bits of a floating-point number). Decoding is beam search, never
sampling. transformers and torch are imported when a model is loaded.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar

from ringtrue.errors import InputError, MissingExtraError, MissingModelError

Device = Literal["auto", "cpu", "cuda"]
T = TypeVar("T")

LONGEST = 512  # tokens
_TASKS = {"text to text": "AutoModelForSeq2SeqLM", "masked words": "AutoModelForMaskedLM"}


class Loaded(NamedTuple):
    """A model that is ready to run; transformers' own objects."""

    tokenizer: Any
    model: Any
    device: str


def check_model(name: str, generator: str) -> None:
    """Raise `MissingError` where a model cannot be loaded without a download."""
    if importlib.util.find_spec("transformers") is None or importlib.util.find_spec("torch") is None:
        raise MissingExtraError(f"generator {generator}", "neural")
    if (Path(name) / "config.json").is_file():
        return
    cached = importlib.import_module("huggingface_hub").try_to_load_from_cache
    try:
        found = cached(name, "config.json")
    except ValueError:  # the hub's word for a name that is none of its own, such as a path
        found = None
    if not isinstance(found, str):
        raise MissingModelError(_missing(name, generator))


def load_model(name: str, task: str, generator: str, device: Device = "auto", *, fresh: bool = False) -> Loaded:
    """The model in a folder or of a name on the hub, downloaded where it is not here yet.

    It is kept for the next call, unless it should be `fresh`: for training, say.
    """
    try:
        transformers = importlib.import_module("transformers")
        torch = importlib.import_module("torch")
    except ModuleNotFoundError as error:
        raise MissingExtraError(f"generator {generator}", "neural") from error
    if device == "cuda" and not torch.cuda.is_available():
        raise InputError(f"generator {generator}: device=cuda, but torch sees no GPU; leave it out to take the CPU.")
    place = "cuda" if device == "cuda" or (device == "auto" and torch.cuda.is_available()) else "cpu"
    try:
        kind = getattr(transformers, _TASKS[task])
        return _read(name, kind, place) if fresh else _kept(name, kind, place, _last_change(name))
    except ImportError as error:
        message = f"generator {generator} needs one more package for {name!r}: {_first_line(error)}"
        raise MissingModelError(message) from error
    except (OSError, ValueError) as error:
        raise MissingModelError(f"{_missing(name, generator)} ({_first_line(error)})") from error


def _read(name: str, kind: Any, device: str) -> Loaded:  # noqa: ANN401
    """Tokenizer and model, ready to run."""
    transformers = importlib.import_module("transformers")
    tokenizer = transformers.AutoTokenizer.from_pretrained(name)
    model, facts = kind.from_pretrained(name, output_loading_info=True)
    if facts["missing_keys"]:  # transformers fills them with random numbers
        missing = sorted(facts["missing_keys"])[0]
        raise InputError(f"the model {name!r} was not trained for this: it has no weights {missing}; give another one.")
    return Loaded(tokenizer, model.to(device).eval(), device)


@lru_cache(maxsize=2)
def _kept(name: str, kind: Any, device: str, changed: int) -> Loaded:  # noqa: ANN401
    """The same, read once as long as it does not change; two are kept, as one translates there and another back."""
    return _read(name, kind, device)


def _last_change(name: str) -> int:
    """When a model in a folder was written."""
    config = Path(name) / "config.json"
    return config.stat().st_mtime_ns if config.is_file() else 0


def token_ids(source: Loaded, text: str) -> list[int]:
    """A text's tokens; none where there are more than any of these models was trained with."""
    whole = text.encode("utf-8", "replace").decode("utf-8")  # tokenizers take no halves of characters
    found = list(source.tokenizer(whole)["input_ids"])
    return found if len(found) <= LONGEST else []


def by_length(texts: Sequence[Sequence[T]], size: int) -> Iterator[list[int]]:
    """The places of texts of the same length, at most `size` at a time; empty ones are left out."""
    places: dict[int, list[int]] = {}
    for place, text in enumerate(texts):
        if text:
            places.setdefault(len(text), []).append(place)
    for _, same in sorted(places.items()):
        yield from (same[start : start + size] for start in range(0, len(same), size))


def rewrite(
    source: Loaded,
    texts: Sequence[str],
    *,
    beams: int,
    returned: int,
    batch: int,
    longest: Callable[[int], int],
    first_token: int | None = None,
) -> list[list[str]]:
    """What a text-to-text model makes of each text: the `returned` best of `beams` beams, the best first.

    `longest` says how many tokens may come out for how many that went in; `first_token` forces a target language. For
    a text of more than 512 tokens there is nothing.
    """
    torch = importlib.import_module("torch")
    tokens = [token_ids(source, text) for text in texts]
    found: list[list[str]] = [[] for _ in texts]
    for places in by_length(tokens, batch):
        given = torch.tensor([tokens[place] for place in places], device=source.device)
        with torch.inference_mode():
            made = source.model.generate(
                input_ids=given,
                attention_mask=torch.ones_like(given),
                num_beams=beams,
                num_return_sequences=returned,
                do_sample=False,
                max_length=None,
                max_new_tokens=longest(given.shape[1]),
                forced_bos_token_id=first_token,
            )
        # tokenizers do not count the language as a special token
        bare = [[token for token in row if token != first_token] for row in made.tolist()]
        written = source.tokenizer.batch_decode(bare, skip_special_tokens=True)
        for number, place in enumerate(places):
            found[place] = written[number * returned : (number + 1) * returned]
    return found


def _missing(name: str, generator: str) -> str:
    if name.startswith((".", "/", "~")):
        return f"generator {generator}: there is no model in {name}; give a folder with one ({generator}:model=FOLDER)"
    return (
        f"generator {generator}: the model {name!r} is not on this machine; give a folder ({generator}:model=FOLDER),"
        f" or where there is a network run: hf download {name}"
    )


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
