"""What every encoder of the table promises."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from ringtrue.retrieval.encoders import ENCODERS, stream

TEXTS = [
    "the lighthouse keeper lit the lamp",
    "ships steer by the light at night",
    "bread and honey",
    "the lighthouse keeper lit the lamp",
    "price of a car",
    "weather at the coast",
]
ODD = [
    "",
    "  ",
    "?!",
    "🕯️ 灯台 маяк हिन्दी عربي",
    "\ud800 lamp",
    "\x00",
    "lamp\nlamp\tlamp",
    "x" * 100_000,
    "lamp " * 5000,
]
SCRIPT = (
    "import sys\n"
    "from ringtrue.retrieval.encoders import ENCODERS\n"
    "for spec in sys.argv[1:]:\n"
    "    sys.stdout.buffer.write(ENCODERS.parse(spec).encode(['the lamp', 'fog at the coast']).tobytes())\n"
)


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> Path:
    from tiny_encoders import make_bert

    return make_bert(tmp_path_factory.mktemp("model"))


@pytest.fixture(scope="module")
def specs(model) -> dict[str, str]:
    """Each encoder as small as it can be had."""
    return {
        "hashing": "hashing",
        "minilm": "minilm:device=cpu",
        "sbert": f"sbert:{model},device=cpu",
        "static": f"static:sbert:{model},dimensions=16",
    }


@pytest.fixture(params=ENCODERS.names())
def name(request) -> str:
    return request.param


@pytest.fixture
def encoder(name, specs):
    return ENCODERS.parse(specs[name])


def test_one_row_a_text_of_length_one(encoder):
    vectors = encoder.encode(TEXTS)
    assert (vectors.shape, vectors.dtype) == ((len(TEXTS), encoder.dim), np.float32)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


def test_no_texts_give_no_rows(encoder):
    assert encoder.encode([]).shape == (0, encoder.dim)


def test_the_same_again_and_whatever_stands_beside_a_text(encoder):
    together = encoder.encode(TEXTS)
    assert np.array_equal(encoder.encode(TEXTS), together)
    assert np.array_equal(encoder.encode(TEXTS[::-1])[::-1], together)
    for text, vector in zip(TEXTS, together, strict=True):
        assert np.array_equal(encoder.encode([text])[0], vector)


def test_a_stream_is_the_same_in_pieces(encoder):
    found = list(stream(encoder, iter([TEXTS[:1], [], TEXTS[1:]])))
    assert np.array_equal(np.concatenate(found), encoder.encode(TEXTS))


def test_any_script_and_any_length(encoder):
    vectors = encoder.encode(ODD)
    assert np.isfinite(vectors).all()
    lengths = np.linalg.norm(vectors, axis=1)
    assert ((np.abs(lengths - 1) < 1e-5) | (lengths == 0)).all()


def test_what_was_given_is_not_changed(encoder):
    given = list(TEXTS)
    encoder.encode(given)
    assert given == TEXTS
    assert np.array_equal(encoder.encode(tuple(given)), encoder.encode(given))


def test_making_one_does_no_work(encoder, own_cache):
    assert not any(own_cache.iterdir())
    assert set(vars(encoder)) == {field.name for field in dataclasses.fields(encoder)}
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(encoder, dataclasses.fields(encoder)[0].name, None)


def test_the_name_is_stable_and_reads_back(name, encoder, specs):
    assert repr(encoder) == repr(ENCODERS.parse(specs[name]))
    assert repr(encoder).startswith(name)
    assert repr(ENCODERS.parse(repr(encoder))) == repr(encoder)


def test_each_is_described(name):
    assert (ENCODERS.find(name).__doc__ or "").strip()


def test_the_same_bytes_in_another_process_under_another_hash_seed(specs, own_cache):
    expected = b"".join(
        ENCODERS.parse(specs[name]).encode(["the lamp", "fog at the coast"]).tobytes() for name in sorted(specs)
    )
    environment = {**os.environ, "PYTHONHASHSEED": "7", "RINGTRUE_CACHE": str(own_cache)}
    command = [sys.executable, "-c", SCRIPT, *(specs[name] for name in sorted(specs))]
    assert subprocess.run(command, env=environment, capture_output=True, check=True).stdout == expected


def test_naming_them_loads_nothing_heavy():
    code = (
        "import sys, ringtrue.retrieval.encoders as e; e.ENCODERS.names(); print({'torch', 'numpy'} & set(sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "set()\n"
