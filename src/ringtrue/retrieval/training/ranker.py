"""Train one ranker by its name; what comes out is ranked with as `bm25 % 100 >> knrm:checkpoint=FOLDER`."""

from __future__ import annotations

from pathlib import Path

from ringtrue.retrieval.encoders.neural import Device, place
from ringtrue.retrieval.neural.models import MODELS
from ringtrue.retrieval.training.loop import train
from ringtrue.retrieval.training.result import Training
from ringtrue.retrieval.training.session import Report
from ringtrue.retrieval.training.settings import Settings
from ringtrue.retrieval.training.triples import Triples
from ringtrue.retrieval.training.validation import Validate

_DEFAULTS = Settings()


def train_ranker(
    model: str,
    triples: Triples,
    folder: Path,
    settings: Settings = _DEFAULTS,
    *,
    device: Device = "auto",
    validate: Validate | None = None,
    progress: Report | None = None,
) -> Training:
    """Build the network that `model` names, such as `knrm` or `monobert:backbone=PATH`, and train it into a folder.

    A training that was killed goes on when it is called again with the same arguments.
    """
    network = MODELS.parse(model).fresh(triples.documents, settings.seed).to(place(device))
    return train(network, triples, settings, folder=folder, validate=validate, progress=progress)
