"""What a campaign is made of, and what in it does not fit together: shown with every result."""

from __future__ import annotations

from collections import Counter

import numpy as np

from ringtrue.audit import Cell, Column, Table
from ringtrue.errors import InputError, brief
from ringtrue.subsampling.campaign import DEPTH, Campaign


def check(campaign: Campaign) -> None:
    """Raise where runs and judgments have nothing in common."""
    if not campaign.retrieved_judgments.any():
        docs = campaign.qrels.docs
        raise InputError(
            f"no run retrieves any of the {len(docs):,} judged documents ({docs[0]}, …) for its topic; are these "
            "judgments and runs of the same collection?"
        )


def account(campaign: Campaign) -> Table:
    """Counts of what was given and of what runs and judgments lack, with the first cases."""
    columns = (Column("what", "What"), Column("count", "Count"), Column("which", "Which"))
    rows = (
        ("systems", len(campaign.runs), ""),
        ("groups", len(campaign.group_names), _largest(campaign)),
        ("judged topics", len(campaign.qrels.topics), ""),
        ("documents that a system retrieves", len(campaign.runs.docs), _depths(campaign)),
        *_lacking(campaign),
        *((note.what, note.times, note.first) for note in campaign.notes),
    )
    note = f"Rankings are cut at {DEPTH:,} documents a topic. A topic that a system lacks counts as nothing found."
    return Table("campaign", "What was compared", columns, rows, note)


def _largest(campaign: Campaign) -> str:
    name, count = max(sorted(Counter(campaign.groups).items()), key=lambda pair: pair[1])
    return f"the largest is {name} with {count} systems"


def _depths(campaign: Campaign) -> str:
    lengths = campaign.runs.lengths[campaign.runs.lengths > 0]
    return f"{lengths.min():,} to {lengths.max():,} a topic" if len(lengths) else ""


def _lacking(campaign: Campaign) -> tuple[tuple[Cell, ...], ...]:
    runs, qrels = campaign.runs, campaign.qrels
    judged = np.isin(np.array(runs.topics, dtype=object), np.array(qrels.topics, dtype=object))
    missed = len(qrels.topics) - (runs.lengths[judged] > 0).sum(axis=0)
    poor = [f"{runs.names[place]} ({missed[place]})" for place in np.flatnonzero(missed).tolist()]
    unknown = [topic for topic in qrels.topics if topic not in set(runs.topics)]
    unseen = np.flatnonzero(~campaign.retrieved_judgments.any(axis=0)).tolist()
    pairs = [f"{qrels.topics[qrels.topic[row]]} {qrels.docs[qrels.doc[row]]}" for row in unseen[:5]]
    return (
        ("systems that lack judged topics (how many)", len(poor), brief(poor)),
        ("judged topics that no system has", len(unknown), brief(unknown)),
        ("judgments of documents that no system retrieves", len(unseen), brief(pairs, len(unseen))),
    )
