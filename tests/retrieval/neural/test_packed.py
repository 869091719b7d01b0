"""Sequences without padding, against a plain computation with a mask."""

from __future__ import annotations

import numpy as np
import pytest

from ringtrue.retrieval.neural import attention
from ringtrue.retrieval.neural.attention import AtOnce, ByLength, Sequences, attend_in_blocks, choose_attention
from ringtrue.retrieval.neural.scoring import score
from ringtrue.retrieval.rankers.monobert import MonoBertModel

# isort: split
import tiny_rankers
import torch

RUNS = ((2, 3), (1, 4), (3, 40))
LENGTHS = [length for count, length in RUNS for _ in range(count)]
SEQUENCES = Sequences(RUNS, torch.tensor([0, *torch.tensor(LENGTHS).cumsum(0).tolist()], dtype=torch.int32))
TOKENS = sum(LENGTHS)


def plain(q, k, v, query_edges, key_edges, most_queries, most_keys):
    """The definition, sequence by sequence; what is behind them stays without meaning."""
    found = torch.full_like(q, torch.nan)
    for number in range(len(key_edges) - 1):
        rows, keys = (slice(edges[number], edges[number + 1]) for edges in (query_edges, key_edges))
        assert rows.stop - rows.start <= most_queries and keys.stop - keys.start <= most_keys
        scores = torch.einsum("qhd,khd->hqk", q[rows].float(), k[keys].float()) * q.shape[2] ** -0.5
        found[rows] = torch.einsum("hqk,khd->qhd", scores.softmax(2), v[keys].float()).to(q.dtype)
    return found


@pytest.fixture
def joined():
    return torch.randn(TOKENS + 5, 3, 4, 8, generator=torch.Generator().manual_seed(1))


WAYS = {"by length": ByLength(), "in blocks": ByLength(attend_in_blocks), "at once": AtOnce(plain)}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_attention_stays_within_its_sequence(joined, way):
    expected = plain(*joined.unbind(1), SEQUENCES.edges, SEQUENCES.edges, 40, 40)[:TOKENS]
    assert torch.allclose(way.within(joined, SEQUENCES)[:TOKENS], expected, atol=1e-5)
    firsts = joined[SEQUENCES.edges[:-1].long(), 0]
    found = way.from_first(firsts, joined[:, 1:], SEQUENCES)
    assert torch.allclose(found, expected[SEQUENCES.edges[:-1].long()], atol=1e-5)


@pytest.mark.parametrize("length", [1, 9, 31, 32, 33, 85, 200])
def test_blocks_are_small_and_change_no_bit(monkeypatch, length):
    generator = torch.Generator().manual_seed(length)
    parts = torch.randn(3, 5, 4, length, 8, generator=generator, dtype=torch.bfloat16)
    at_once = attend_in_blocks(parts)
    expected = torch.nn.functional.scaled_dot_product_attention(*parts.double())
    assert torch.allclose(at_once.double(), expected, atol=0.02)
    monkeypatch.setattr(attention, "_ROOM", 3 * length * 224)
    assert torch.equal(attend_in_blocks(parts), at_once)
    assert torch.equal(attend_in_blocks(parts[:, 2:3]), at_once[2:3])


def test_a_sequence_of_no_numbers_takes_no_other_along():
    parts = torch.randn(3, 3, 2, 40, 8, generator=torch.Generator().manual_seed(1), dtype=torch.bfloat16)
    whole = attend_in_blocks(parts)
    parts[1, 1, 0, 7] = torch.nan
    spoilt = attend_in_blocks(parts)
    assert spoilt[1, 0].isnan().all()
    assert torch.equal(spoilt[[0, 2]], whole[[0, 2]]) and torch.equal(spoilt[1, 1], whole[1, 1])


def test_a_cpu_attends_in_blocks_in_bf16():
    found = [choose_attention(dtype, torch.device("cpu"), 4, 8) for dtype in (torch.bfloat16, torch.float32)]
    assert [isinstance(way, ByLength) and way.attend for way in found] == [attend_in_blocks, attention.attend_fused]


def test_a_kernel_is_taken_only_where_it_is_right(monkeypatch):
    cpu = torch.device("cpu")
    assert isinstance(choose_attention(torch.bfloat16, cpu, 4, 8), ByLength)

    def wrong(q, *rest):
        return torch.zeros_like(q)

    def picky(*rest):
        raise RuntimeError("head size not supported")

    for kernel, works in ((plain, True), (wrong, False), (picky, False)):
        assert attention._agrees(AtOnce(kernel), torch.bfloat16, cpu, 4, 8) is works


def test_scores_do_not_depend_on_the_way(tmp_path):
    network = MonoBertModel(str(tiny_rankers.bert(tmp_path))).trained().at("fp32")
    queries, documents = ["lamp", "ships in fog"], ["light", "fog near the coast", "fog " * 50, "a light at night"]
    pairs = np.array([(query, document) for query in range(2) for document in range(4)])
    by_length = score(network, queries, documents, pairs)
    network._packed._attention = AtOnce(plain)
    assert score(network, queries, documents, pairs) == pytest.approx(by_length, abs=1e-5)
