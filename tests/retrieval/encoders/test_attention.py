"""Ways to compute attention within sequences of one length, against the formula."""

from __future__ import annotations

import pytest
import torch

from ringtrue.retrieval.encoders.attention import attend_fused, attend_in_tiles, attend_short, choose

HEADS, SIZE = 4, 8


def by_hand(joined, batch):
    """Softmax(q kᵀ / √d) v, head by head, in double precision."""
    parts = joined.double().view(batch, -1, 3, HEADS, SIZE)
    found = torch.empty(parts[:, :, 0].shape, dtype=torch.float64)
    for sequence in range(batch):
        for head in range(HEADS):
            q, k, v = parts[sequence, :, :, head].unbind(1)
            found[sequence, :, head] = (q @ k.T / SIZE**0.5).softmax(1) @ v
    return found.view(len(joined), -1).float()


@pytest.mark.parametrize("attend", [attend_fused, attend_in_tiles, attend_short])
@pytest.mark.parametrize("length", [1, 2, 9, 31, 32, 33, 50, 64, 65])
@pytest.mark.parametrize("batch", [1, 5, 14, 64, 67])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_attention_is_attention(attend, length, batch, dtype):
    torch.manual_seed(length)
    joined = torch.randn(batch * length, 3 * HEADS * SIZE).to(dtype)
    found = attend(joined, batch, HEADS)
    assert found.dtype == dtype and found.is_contiguous()
    torch.testing.assert_close(
        found.float(), by_hand(joined, batch), atol=2e-6 if dtype == torch.float32 else 0.03, rtol=0
    )


def test_sequences_of_a_tile_are_kept_apart():
    torch.manual_seed(1)
    joined = torch.randn(7 * 9, 3 * HEADS * SIZE)
    changed = joined.clone()
    changed[9:18] = 1e4
    before, after = (attend_in_tiles(given, 7, HEADS).view(7, 9, -1) for given in (joined, changed))
    assert not torch.equal(before[1], after[1])
    assert torch.equal(before[[0, 2, 3, 4, 5, 6]], after[[0, 2, 3, 4, 5, 6]])


def test_tiles_are_for_gpus():
    assert choose(torch.device("cuda")) == (attend_in_tiles, attend_fused)
    assert choose(torch.device("cpu")) == (attend_short, attend_short)
