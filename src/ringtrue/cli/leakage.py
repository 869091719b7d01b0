"""`ringtrue leakage`: training queries that are (nearly) the test queries, and what that changes."""

from __future__ import annotations

import typer

from ringtrue.cli.leakage_experiment import experiment
from ringtrue.cli.leakage_labels import agreement, calibrate, labels, sample
from ringtrue.cli.leakage_removal import clean, impact
from ringtrue.cli.leakage_search import search
from ringtrue.cli.leakage_trainsets import trainsets
from ringtrue.cli.listing import Listing
from ringtrue.cli.spread import spread

app = typer.Typer(cls=Listing, no_args_is_help=True, help="Did the model see the test queries during training?")
for command in (trainsets, experiment, search, labels, agreement, calibrate, sample, clean, impact):
    app.command()(spread(command))
