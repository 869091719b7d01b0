from __future__ import annotations

import json
import pydoc
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from ringtrue.errors import InputError
from ringtrue.retrieval.training.accuracy import PairAccuracy
from ringtrue.retrieval.training.loop import train
from ringtrue.retrieval.training.optimizer import make_optimizer
from ringtrue.retrieval.training.settings import Settings
from ringtrue.retrieval.training.triples import Triples

# isort: split
import bags
import torch


def trained(settings, triples=None, dropout=0.0, **more):
    network = bags.BagsModel(dropout).fresh([], seed=1)
    return network, train(network, triples or bags.some_triples(), settings, **more)


def test_it_learns():
    unseen = PairAccuracy(bags.some_triples(200, seed=9))
    network, training = trained(Settings(epochs=10, batch=4, learning_rate=0.05), validate=unseen)
    assert training.steps == 130 and training.triples == 50
    assert training.losses[-1] < 0.1 < 0.8 < training.losses[0]
    assert training.validations[-1].value > 0.9
    assert not network.training
    assert training.triples_per_second == pytest.approx(500 / training.seconds)
    assert training.peak_memory > 10**6


def test_the_same_seed_gives_the_same_bits_and_another_does_not():
    keys = [bags.weights_key(trained(Settings(batch=8, seed=seed), dropout=0.3)[0]) for seed in (1, 1, 2)]
    assert keys[0] == keys[1] != keys[2]


def test_the_generator_of_others_is_left_alone():
    torch.manual_seed(3)
    expected = torch.rand(2)
    torch.manual_seed(3)
    trained(Settings(), dropout=0.3)
    assert torch.equal(torch.rand(2), expected)


@pytest.mark.parametrize(("batch", "accumulate"), [(8, 2), (4, 4), (1, 16), (5, 3)])
def test_accumulating_is_a_larger_batch(batch, accumulate):
    size = batch * accumulate
    together, whole = trained(Settings(batch=size, epochs=2))
    parts, summed = trained(Settings(batch=batch, accumulate=accumulate, epochs=2))
    assert summed.losses == pytest.approx(whole.losses, abs=1e-6)
    for one, other in zip(together.parameters(), parts.parameters(), strict=True):
        torch.testing.assert_close(one, other, atol=1e-6, rtol=1e-5)


def test_an_update_by_hand():
    triples = bags.some_triples(6)
    network, training = trained(Settings(batch=6, learning_rate=0.1, warmup=0, clip=0.01, weight_decay=0.2), triples)
    by_hand = bags.BagsModel().fresh([], seed=1)
    adam = torch.optim.AdamW(
        [
            {"params": [by_hand.vectors.weight, by_hand.mix.weight], "weight_decay": 0.2},
            {"params": [by_hand.mix.bias], "weight_decay": 0.0},
        ],
        lr=0.1,
    )
    prepared = by_hand.prepare(triples.queries, triples.documents)

    def score(query, doc):
        return by_hand(by_hand.collate(prepared, np.array([[query, doc]])))

    losses = [(1 - score(query, one) + score(query, other)).clamp(min=0) for query, one, other in triples.rows.tolist()]
    loss = sum(losses) / 6
    loss.backward()
    torch.nn.utils.clip_grad_norm_(by_hand.parameters(), 0.01)
    adam.step()
    assert training.losses == pytest.approx([loss.item()], abs=1e-6)
    for one, other in zip(network.parameters(), by_hand.parameters(), strict=True):
        torch.testing.assert_close(one, other, atol=1e-6, rtol=1e-4)


def test_a_model_without_a_rate_of_its_own_gets_the_default():
    assert trained(Settings())[1].learning_rate == 0.01
    network = bags.BagsModel().fresh([], 1)
    network.model = object()
    assert train(network, bags.some_triples()).learning_rate == 1e-3


def test_progress_and_validation_are_told():
    seen, values = [], iter(range(100))
    training = trained(
        Settings(batch=5, validate_every=4), progress=seen.append, validate=lambda network: next(values)
    )[1]
    assert [one.step for one in seen] == list(range(1, 11))
    assert {one.steps for one in seen} == {10}
    assert seen[-1].seconds_left == 0 < seen[0].seconds_left
    assert [one.loss for one in seen] == pytest.approx(np.cumsum(training.losses) / np.arange(1, 11))
    assert [tuple(point) for point in training.validations] == [(4, 0.0), (8, 1.0), (10, 2.0)]
    assert training.kept == 10


def test_the_network_is_validated_as_it_scores():
    modes = []

    def validate(network):
        modes.append((network.training, torch.is_autocast_enabled("cpu")))
        return 0.0

    trained(Settings(precision="bf16"), validate=validate)
    assert modes == [(False, True)]


def test_the_best_weights_are_kept_where_asked():
    values, keys = iter([0.1, 0.7, 0.7, 0.2]), []

    def validate(network):
        keys.append(bags.weights_key(network))
        return next(values)

    network, training = trained(Settings(batch=5, validate_every=3, select="best"), validate=validate)
    assert bags.weights_key(network) == keys[[point.step for point in training.validations].index(training.kept)]
    assert training.kept == 9, "of equals the later wins"
    with pytest.raises(InputError, match="validation"):
        trained(Settings(select="best"))


def test_a_validation_that_is_no_number_is_told():
    with pytest.raises(InputError, match="after step 4 gave no number"):
        trained(Settings(), validate=lambda network: float("nan"))


def test_bf16_stays_near_fp32():
    whole, half = (trained(Settings(batch=8, precision=one))[1] for one in ("fp32", "bf16"))
    assert half.losses == pytest.approx(whole.losses, abs=0.05)
    assert half.losses != whole.losses


def test_a_loss_that_is_no_number_names_its_batch(tmp_path):
    triples = bags.some_triples(30)
    poisoned = Triples.from_texts([*(triples.texts(at) for at in range(30)), ("strange query", "poison here", "bread")])
    network = bags.BagsModel().fresh([], 1)
    network.poisoned = bags.number("poison")
    with pytest.raises(InputError) as told:
        train(network, poisoned, Settings(batch=1, keep_steps=1), folder=tmp_path)
    assert "the loss is nan" in str(told.value)
    assert "triples 30; the query of the first is 'strange query'" in str(told.value)
    assert "of 31" in str(told.value)


def test_triples_that_were_left_out_do_not_shift_the_numbers():
    triples = bags.some_triples(3)
    texts = [("", "a", "b"), *(triples.texts(at) for at in range(3)), ("odd", "poison", "bread")]
    network = bags.BagsModel().fresh([], 1)
    network.poisoned = bags.number("poison")
    with pytest.raises(InputError, match="triples 4; the query of the first is 'odd'"):
        train(network, Triples.from_texts(texts), Settings(batch=1))


def test_gradients_that_are_not_finite_are_told():
    network = bags.BagsModel().fresh([], 1)
    network.mix.weight.register_hook(lambda gradient: gradient * float("inf"))
    with pytest.raises(InputError, match="step 1 of 4: the length of the gradients"):
        train(network, bags.some_triples())


def test_out_of_memory_halves_the_batch_once_and_changes_nothing_else():
    roomy, expected = trained(Settings(batch=16))
    network = bags.BagsModel().fresh([], seed=1)
    network.largest = 16  # pairs
    training = train(network, bags.some_triples(), Settings(batch=16))
    assert training.losses == pytest.approx(expected.losses, abs=1e-6)
    for one, other in zip(network.parameters(), roomy.parameters(), strict=True):
        torch.testing.assert_close(one, other, atol=1e-6, rtol=1e-5)
    assert training.notes == (
        "out of memory with 16 triples in a batch at step 1: from there on 8 in a batch, "
        "and twice as many batches in an update",
    )


def test_working_ahead_as_for_a_gpu_changes_nothing(monkeypatch):
    expected = bags.weights_key(trained(Settings(batch=4), dropout=0.3)[0])
    monkeypatch.setattr("ringtrue.retrieval.training.feed._is_gpu", lambda device: True)
    monkeypatch.setattr("ringtrue.retrieval.training.session._FETCH_EVERY", {})
    network, training = trained(Settings(batch=4), dropout=0.3)
    assert bags.weights_key(network) == expected
    assert training.steps == 13
    small = bags.BagsModel().fresh([], seed=1)
    small.largest = 16
    assert len(train(small, bags.some_triples(), Settings(batch=16)).notes) == 1
    assert not [thread for thread in threading.enumerate() if thread.name == "ahead"]


@pytest.mark.parametrize(
    "place",
    [
        "ringtrue.retrieval.training.feed._move",
        "ringtrue.retrieval.training.session.clip_gradients",
        "torch.optim.AdamW.step",
        "bags.BagsNetwork.collate",
    ],
)
@pytest.mark.parametrize("error", [torch.cuda.OutOfMemoryError("CUDA out of memory"), MemoryError("no room")])
def test_out_of_memory_anywhere_in_an_update_halves_the_batch(monkeypatch, place, error):
    expected = trained(Settings(batch=16))[1].losses
    module, _, name = place.rpartition(".")
    home = bags.BagsNetwork if module == "bags.BagsNetwork" else None
    work = getattr(bags.BagsNetwork, name) if home else pydoc.locate(place)
    calls = []

    def fails_once(*given, **named):
        calls.append(place)
        if len(calls) == 2:
            raise error
        return work(*given, **named)

    monkeypatch.setattr(*((home, name) if home else (place,)), fails_once)
    training = trained(Settings(batch=16))[1]
    assert training.losses == pytest.approx(expected, abs=1e-6)
    assert len(training.notes) == 1 and "out of memory with 16 triples" in training.notes[0]


def test_out_of_memory_in_a_validation_is_not_taken_for_the_batch():
    def validate(network):
        raise torch.cuda.OutOfMemoryError("CUDA out of memory")

    with pytest.raises(torch.cuda.OutOfMemoryError):
        trained(Settings(batch=16), validate=validate)


def test_the_optimizer_has_its_state_before_the_first_update():
    network = bags.BagsModel().fresh([], seed=1)
    optimizer = make_optimizer(network, 0.1, 0.0)
    assert len(optimizer.state) == len(list(network.parameters()))
    for weight, state in optimizer.state.items():
        assert state["exp_avg"].shape == state["exp_avg_sq"].shape == weight.shape


@pytest.mark.parametrize(
    ("batch", "largest", "said"),
    [
        (16, 8, "with 8 triples in a batch at step 1; set batch to less than 8"),
        (2, 1, "with a single triple in a batch at step 1; cut texts shorter"),
        (1, 1, "with a single triple in a batch at step 1; cut texts shorter"),
    ],
)
def test_out_of_memory_again_is_an_error(batch, largest, said):
    network = bags.BagsModel().fresh([], seed=1)
    network.largest = largest
    with pytest.raises(InputError, match=f"out of memory {said}"):
        train(network, bags.some_triples(), Settings(batch=batch))


def test_other_errors_of_torch_are_not_taken_for_it():
    network = bags.BagsModel().fresh([], seed=1)
    network.mix = torch.nn.Linear(3, 8)
    with pytest.raises(RuntimeError, match="shapes"):
        train(network, bags.some_triples())


def test_a_network_that_cannot_learn_is_told():
    network = bags.BagsModel().fresh([], seed=1).requires_grad_(False)
    with pytest.raises(InputError, match="'bags' has no weights that can be trained"):
        train(network, bags.some_triples())


def test_the_folder_of_a_finished_training(tmp_path):
    network, training = trained(Settings(batch=8, keep_steps=1), folder=tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "model.safetensors",
        "ranker.json",
        "training.json",
        "words.txt",
    ]
    assert json.loads((tmp_path / "ranker.json").read_text())["ranker"] == "bags"
    again, found = trained(Settings(batch=8, keep_steps=99), folder=tmp_path, progress=pytest.fail)
    assert bags.weights_key(again) == bags.weights_key(network)
    assert found.losses == training.losses and found.validations == training.validations
    for other in ({"settings": Settings(batch=7)}, {"settings": Settings(batch=8), "triples": bags.some_triples(9)}):
        with pytest.raises(InputError, match="holds a training with other triples, model or settings"):
            trained(folder=tmp_path, **other)


@pytest.mark.parametrize("name", ["config.json", "model.safetensors"])
def test_a_model_from_elsewhere_is_not_overwritten(tmp_path, name):
    (tmp_path / name).write_bytes(b"weights of others")
    with pytest.raises(InputError, match=rf"holds another model \({name}\), which would be overwritten"):
        trained(Settings(batch=8), folder=tmp_path)
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [b"weights of others"]


def test_a_network_that_was_written_in_part_is_written_again(tmp_path, monkeypatch):
    def killed(*_, **__):
        raise Stopped

    monkeypatch.setattr("ringtrue.retrieval.neural.checkpoint.save_file", killed)
    with pytest.raises(Stopped):
        trained(Settings(batch=8), folder=tmp_path)
    monkeypatch.undo()
    (tmp_path / "config.json").write_text("{}")
    trained(Settings(batch=8), folder=tmp_path)
    assert (tmp_path / "training.json").is_file()


class Stopped(Exception):
    pass


def stop_at(step):
    def report(progress):
        if progress.step == step:
            raise Stopped

    return report


def other_weights(network):
    with torch.no_grad():
        network.mix.bias[3] += 1


def fewer_weights(network):
    network.mix.bias.requires_grad_(False)


def other_words(network):
    network.write_files = lambda folder: (folder / "words.txt").write_text("other words")


@pytest.mark.parametrize("change", [other_weights, fewer_weights, other_words])
@pytest.mark.parametrize("finished", [True, False])
def test_a_network_that_starts_otherwise_is_another_training(tmp_path, change, finished):
    if finished:
        trained(Settings(), folder=tmp_path)
    else:
        with pytest.raises(Stopped):
            trained(Settings(keep_steps=1), folder=tmp_path, progress=stop_at(3))
    network = bags.BagsModel().fresh([], seed=1)
    change(network)
    with pytest.raises(InputError, match="training with other triples"):
        train(network, bags.some_triples(), Settings(), folder=tmp_path)


def test_what_is_finished_is_measured_again_by_another_validation(tmp_path):
    one, other = (PairAccuracy(bags.some_triples(40, seed=seed)) for seed in (7, 8))
    settings = Settings(epochs=3, learning_rate=0.05)
    network = trained(settings, folder=tmp_path)[0]
    expected = [one(network), other(network)]
    assert expected[0] != expected[1]
    found = [trained(settings, folder=tmp_path, validate=given)[1] for given in (one, other)]
    assert [[tuple(point) for point in training.validations] for training in found] == [
        [(found[0].kept, value)] for value in expected
    ]
    assert trained(settings, folder=tmp_path)[1] == found[1], "the last is remembered"


def test_a_validation_that_chooses_the_weights_is_part_of_the_training(tmp_path):
    one, other = (PairAccuracy(bags.some_triples(40, seed=seed)) for seed in (7, 8))
    settings = Settings(select="best", validate_every=2)
    trained(settings, folder=tmp_path, validate=one)
    with pytest.raises(InputError, match="holds a training with other"):
        trained(settings, folder=tmp_path, validate=other)


def test_validations_of_two_kinds_do_not_meet_in_one_curve(tmp_path):
    one, other = (PairAccuracy(bags.some_triples(40, seed=seed)) for seed in (7, 8))
    with pytest.raises(Stopped):
        trained(Settings(keep_steps=1), folder=tmp_path, validate=one, progress=stop_at(3))
    with pytest.raises(InputError, match="unfinished training with other triples, validation"):
        trained(Settings(), folder=tmp_path, validate=other)


def kill_in(folder: Path, updates: int) -> None:
    """Train in a process that is killed after some updates."""
    done = subprocess.run([sys.executable, bags.__file__, str(folder), str(updates)], capture_output=True)
    assert done.returncode == -signal.SIGKILL, done.stderr


def test_resumed_after_a_kill_it_ends_with_the_same_bits(tmp_path):
    *expected, all_calls = bags.run(tmp_path / "whole")
    kill_in(tmp_path / "killed", updates=9)
    assert {path.name for path in (tmp_path / "killed").iterdir()} == {"training.safetensors"}
    *found, calls = bags.run(tmp_path / "killed")
    assert found == expected
    assert (all_calls, calls) == ("14", "8"), "six updates were kept"
    names = {path.name for path in (tmp_path / "killed").iterdir()}
    assert names == {path.name for path in (tmp_path / "whole").iterdir()}
    one, other = (tmp_path / name / "model.safetensors" for name in ("whole", "killed"))
    assert one.read_bytes() == other.read_bytes()


def test_what_was_kept_of_another_training_is_not_taken(tmp_path):
    with pytest.raises(Stopped):
        trained(Settings(keep_steps=1), folder=tmp_path, progress=stop_at(3))
    with pytest.raises(InputError, match="unfinished training with other triples"):
        trained(Settings(batch=3), folder=tmp_path)
    kept = tmp_path / "training.safetensors"
    kept.write_bytes(kept.read_bytes()[:100])
    with pytest.raises(InputError, match="is broken"):
        trained(Settings(keep_steps=1), folder=tmp_path)
