"""Sequences without padding, against a plain computation with a mask."""

from __future__ import annotations

import numpy as np
import pytest

from ringtrue.retrieval.neural import attention
from ringtrue.retrieval.neural.attention import AtOnce, ByLength, Sequences, choose_attention
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


@pytest.mark.parametrize("way", [ByLength(), AtOnce(plain)], ids=["by length", "at once"])
def test_attention_stays_within_its_sequence(joined, way):
    expected = plain(*joined.unbind(1), SEQUENCES.edges, SEQUENCES.edges, 40, 40)[:TOKENS]
    assert torch.allclose(way.within(joined, SEQUENCES)[:TOKENS], expected, atol=1e-5)
    firsts = joined[SEQUENCES.edges[:-1].long(), 0]
    found = way.from_first(firsts, joined[:, 1:], SEQUENCES)
    assert torch.allclose(found, expected[SEQUENCES.edges[:-1].long()], atol=1e-5)


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
