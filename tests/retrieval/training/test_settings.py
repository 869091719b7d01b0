from __future__ import annotations

import pytest

from ringtrue.errors import InputError
from ringtrue.retrieval.training.settings import Settings


def test_the_rate_rises_and_falls():
    settings = Settings(warmup=0.2)
    shares = [settings.share_of_rate(step, 10) for step in range(10)]
    assert shares[:3] == [0.5, 1.0, 1.0]
    assert shares[2:] == pytest.approx([1.0, 0.875, 0.75, 0.625, 0.5, 0.375, 0.25, 0.125])


def test_the_rate_rises_and_stays():
    settings = Settings(warmup=0.5, schedule="constant")
    assert [settings.share_of_rate(step, 4) for step in range(4)] == [0.5, 1.0, 1.0, 1.0]
    assert [Settings(warmup=0, schedule="constant").share_of_rate(step, 2) for step in range(2)] == [1.0, 1.0]


def test_it_falls_as_the_schedule_of_transformers_does_from_the_end_of_warming_up():
    transformers = pytest.importorskip("transformers")
    torch = pytest.importorskip("torch")
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=1.0)
    theirs = transformers.get_linear_schedule_with_warmup(optimizer, 4, 20)
    rates = []
    for _ in range(20):
        rates.append(theirs.get_last_lr()[0])
        optimizer.step()
        theirs.step()
    ours = [Settings(warmup=0.2).share_of_rate(step, 20) for step in range(20)]
    assert ours[4:] == pytest.approx(rates[4:])
    assert ours[:4] == pytest.approx(rates[1:5])  # the first update has a rate above zero, else it would be lost


@pytest.mark.parametrize(
    "wrong",
    [
        {"epochs": 0},
        {"batch": 0},
        {"accumulate": 0},
        {"learning_rate": 0.0},
        {"learning_rate": float("nan")},
        {"warmup": 1.5},
        {"weight_decay": -1.0},
        {"clip": 0.0},
        {"seed": -1},
        {"validate_every": 0},
        {"keep_steps": 0},
    ],
)
def test_what_cannot_be_is_told(wrong):
    with pytest.raises(InputError, match=next(iter(wrong))):
        Settings(**wrong).check()
