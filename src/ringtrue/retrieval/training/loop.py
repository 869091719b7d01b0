"""The training loop of all trainable rankers.

Texts are tokenised once; a batch has both documents of a query side by side, and triples of similar length. The seed
decides order and dropout: on a CPU the same seed gives the same weights, bit for bit, also where the training was
killed and resumed in between. Left out: several devices, and stopping early.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from ringtrue import cache
from ringtrue.errors import InputError
from ringtrue.retrieval.neural.checkpoint import CONFIG, load_weights, save_network
from ringtrue.retrieval.neural.network import Network
from ringtrue.retrieval.training.identity import training_key
from ringtrue.retrieval.training.memory import peak_memory, reset_peak
from ringtrue.retrieval.training.result import FINISHED, Training, Validation, read_training, write_training
from ringtrue.retrieval.training.session import Report, Session
from ringtrue.retrieval.training.settings import Settings
from ringtrue.retrieval.training.snapshot import delete_snapshot
from ringtrue.retrieval.training.triples import Triples
from ringtrue.retrieval.training.validation import Validate, measure, validation_key

_DEFAULTS = Settings()
_OF_OTHERS = ("config.json", "model.safetensors", "pytorch_model.bin", "modules.json")


def train(
    network: Network,
    triples: Triples,
    settings: Settings = _DEFAULTS,
    *,
    folder: Path | None = None,
    validate: Validate | None = None,
    progress: Report | None = None,
) -> Training:
    """Train a network on the device where it is; it ends with the weights that `settings.select` names.

    With a folder, the state is kept in it on the way, a training that was killed goes on where it was, and the network
    is saved in it at the end; what is finished there already is read instead. `validate` gives a figure, the higher
    the better; where it depends on data it should tell them by `fingerprint()`, and what is finished is measured
    again when they are others.
    """
    settings.check()
    if settings.select == "best" and validate is None:
        raise InputError("training: the best weights can only be selected by a validation; give one.")
    key = training_key(network, triples, settings, validate) if folder is not None else ""
    measured = validation_key(validate)
    if folder is not None and (finished := read_training(folder, key)) is not None:
        load_weights(network, folder)
        network.eval()
        if validate is not None and finished.validated_by != measured:
            finished = _measured_again(finished, network, validate)
            write_training(finished, key, folder)
        return finished
    if folder is not None:
        _check_free(folder)
    reset_peak(network.device)
    session = Session(network, triples, settings)
    if folder is not None:
        session.keep_in(folder, cache.key(key, measured))
    session.run(validate, progress)
    training = replace(_finish(session), validated_by=measured)
    if folder is not None:
        save_network(network, folder)
        write_training(training, key, folder)
        delete_snapshot(folder)
    return training


def _check_free(folder: Path) -> None:
    """The weights of a model from elsewhere would be overwritten, even those that the training starts with."""
    if (folder / FINISHED).is_file() or (folder / CONFIG).is_file():
        return
    strange = next((name for name in _OF_OTHERS if (folder / name).is_file()), None)
    if strange is not None:
        raise InputError(f"{folder} holds another model ({strange}), which would be overwritten; name another folder.")


def _measured_again(finished: Training, network: Network, validate: Validate) -> Training:
    """The same training with the figure of another validation; how it went on the way cannot be told any more."""
    value = measure(network, validate, finished.settings.precision, finished.kept)
    return replace(finished, validations=(Validation(finished.kept, value),), validated_by=validation_key(validate))


def _finish(session: Session) -> Training:
    """Choose the weights, and say how it went."""
    state, kept = session.state, session.steps
    if session.settings.select == "best":
        kept = max((point.value, point.step) for point in state.validations)[1]
        session.network.load_state_dict(state.best)
    return Training(
        settings=session.settings,
        triples=len(session.rows),
        learning_rate=session.rate,
        losses=tuple(state.losses),
        validations=tuple(state.validations),
        kept=kept,
        seconds=state.seconds,
        peak_memory=peak_memory(session.network.device),
        notes=tuple(state.notes),
    )
