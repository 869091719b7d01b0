"""How people sort changes between queries, how far they agree, and how far the rules agree with them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ringtrue.audit import Cell, Column, Finding, Section, Table, Text, Verdict
from ringtrue.provenance import Provenance, stamp
from ringtrue.retrieval.encoders import Encoder
from ringtrue.robustness.annotations import Annotator, TaxonomyAgreement, agreement

CLOSE = 0.1


@dataclass(frozen=True, eq=False)
class TaxonomyAudit:
    """Annotated pairs of queries."""

    agreement: TaxonomyAgreement
    provenance: Provenance

    name = "taxonomy"
    title = "What kinds of change lie between the queries of one need?"

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Whether the rules agree with people about as well as people do among themselves."""
        found = self.agreement
        rule = (
            "on pairs that the rules were not made on, their mean kappa with people is at most "
            f"{CLOSE} below that of people with each other"
        )
        if not found.common or not found.tested_pairs:
            seen = "no pair was annotated by all, or none is left to test the rules on."
            return (Finding("rules and people", Verdict.UNKNOWN, rule, seen),)
        if math.isnan(found.people) or math.isnan(found.rules_tested_on):
            seen = (
                "one person alone annotated, or all labels are the same, so that there is no kappa: "
                f"{found.common} pairs in common, {found.tested_pairs} that the rules were not made on."
            )
            return (Finding("rules and people", Verdict.UNKNOWN, rule, seen),)
        verdict = Verdict.PASS if found.rules_tested_on >= found.people - CLOSE else Verdict.WARN
        seen = (
            f"people agree with a mean kappa of {found.people:.4f} on {found.common} pairs; the rules agree with them "
            f"with {found.rules_tested_on:.3f} on {found.tested_pairs} pairs that they were not made on "
            f"({found.rules_made_on:.3f} on the others), {_with(found.encoder)}."
        )
        return (Finding("rules and people", verdict, rule, seen, found.rules_tested_on),)

    def sections(self) -> tuple[Section, ...]:
        """Counts and coefficients by kind."""
        return _kinds_table(self.agreement), _definitions(self.agreement)


def audit_taxonomy(annotators: Sequence[Annotator], encoder: Encoder | None = None) -> TaxonomyAudit:
    """Count, and compare people and rules."""
    found = agreement(annotators, encoder)
    settings: dict[str, str | int | float | bool | None] = {"annotators": len(annotators), "rows": found.rows}
    return TaxonomyAudit(found, stamp(() if encoder is None else (encoder,), settings=settings))


def _with(encoder: str) -> str:
    return f"with {encoder}" if encoder else "without an encoder"


def _kinds_table(found: TaxonomyAgreement) -> Table:
    columns = (
        Column("kind", "Kind of change"),
        Column("stacked", "Rows", None, f"of all {found.rows} rows, pairs that several people saw counted as often"),
        Column("distinct", "Pairs", None, f"of {found.pairs} distinct pairs, by the first person's labels"),
        Column("people", "People", 4, f"mean of the pairwise Cohen's kappas on {found.common} common pairs"),
        Column("people_fleiss", "People (Fleiss)", 4, "Fleiss' kappa on the same pairs"),
        Column("rules_made_on", "Rules, made on", 3, "Cohen's kappa of rules and people where the rules were made"),
        Column("rules_tested_on", "Rules, tested on", 3, "Cohen's kappa of rules and people elsewhere"),
    )
    rows: list[tuple[Cell, ...]] = [(one.kind.value, *one[1:]) for one in found.kinds]
    rows.append(("several kinds", found.several, found.several_distinct, None, None, None, None))
    rows.append(("none", found.none, None, None, None, None, None))
    rows.append(("mean over kinds", None, None, found.people, None, found.rules_made_on, found.rules_tested_on))
    return Table("kinds", "Kinds of change", columns, tuple(rows))


def _definitions(found: TaxonomyAgreement) -> Text:
    body = (
        "The rules compare words and, with an encoder, meaning. Their thresholds were set on the pairs of one half of "
        f"the stories; {found.tested_pairs} distinct pairs are of the other half. Misspellings were no category of the "
        "annotation."
    )
    return Text("definitions", "How to read this", body)
