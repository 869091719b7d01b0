"""What is a leak worth: the findings of an experiment."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ringtrue.audit import Finding, Section
from ringtrue.leakage.experiment import rules
from ringtrue.leakage.experiment.collect import collect
from ringtrue.leakage.experiment.result import ExperimentResult
from ringtrue.leakage.experiment.sections import all_sections
from ringtrue.leakage.trainsets.account import account_of
from ringtrue.provenance import Provenance, stamp


@dataclass(frozen=True, eq=False)
class ExperimentAudit:
    """An experiment with its verdict."""

    result: ExperimentResult
    provenance: Provenance

    name = "experiment"
    title = "What is a leak worth?"

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Whether leakage helps, whether it turns the order, and whether models remember."""
        return (
            rules.effect_of_leakage(self.result),
            rules.order_of_models(self.result),
            rules.memorization(self.result),
            rules.complete(self.result),
        )

    def sections(self) -> tuple[Section, ...]:
        """The study's tables, then the sets."""
        return (*all_sections(self.result), account_of(self.result.trainsets).parts[0])


def audit_experiment(folder: Path) -> ExperimentAudit:
    """Evaluate the experiment of a folder; the folds are those of its plan, so that all who ask get the same tables."""
    result = collect(folder)
    plan = result.plan
    settings: dict[str, str | int | float | bool | None] = {
        "depth": plan.depth,
        "first_stage": plan.first_stage,
        "folds": plan.folds,
        "seed": plan.seed,
        "seeds": ", ".join(map(str, plan.seeds)),
        "sizes": ", ".join(map(str, plan.sizes)),
        **{f"training_{name}": value for name, value in plan.training.items()},
        **{f"precision_{one.model}": one.precision for one in result.costs},
    }
    inputs = {**result.trainsets.inputs, "trainsets": plan.fingerprint}
    return ExperimentAudit(result, stamp(plan.models, inputs, settings))
