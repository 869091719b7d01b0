"""The rules by which robustness is judged; each gives a finding with the figure behind it."""

from __future__ import annotations

from collections.abc import Sequence

from ringtrue.audit import Finding, Verdict
from ringtrue.robustness.ranking import Failure
from ringtrue.robustness.result import ALPHA, CategoryDrop, Swap

# Our convention: the study gives losses (about a fifth on average) but no line between good and bad.
DROP_WARN = 0.10
DROP_FAIL = 0.25
FEWEST_QUERIES = 10
JUDGED_WARN = 0.1  # so few are not judged by chance: topics are numbered otherwise, or the corpus is another one


def survives(drops: Sequence[CategoryDrop]) -> Finding:
    """What the worst category costs one system."""
    system, measure = drops[0].system, drops[0].measure
    rule = (
        f"no category of valid variations costs more than {DROP_WARN:.0%} of {measure}; above {DROP_FAIL:.0%} it "
        f"fails; categories with fewer than {FEWEST_QUERIES} queries do not count"
    )
    enough = [one for one in drops if one.queries >= FEWEST_QUERIES]
    counted = [one for one in enough if one.original > 0]
    if not counted:
        most = max(one.queries for one in drops)
        seen = f"no category has enough queries with a valid variation: {most} at most."
        if enough:
            seen = f"{measure} is 0 for the original queries already, over {most} queries: there is nothing to lose."
        return Finding(f"loss of {system}", Verdict.UNKNOWN, rule, seen)
    worst = max(counted, key=lambda one: one.drop)
    verdict = Verdict.PASS if worst.drop <= DROP_WARN else Verdict.WARN if worst.drop <= DROP_FAIL else Verdict.FAIL
    seen = (
        f"{worst.category} takes {measure} from {worst.original:.4f} to {worst.varied:.4f} "
        f"over {worst.pairs} valid variations of {worst.queries} queries: {_change(worst.drop)}."
    )
    return Finding(f"loss of {system}", verdict, rule, seen, worst.drop, worst.interval)


def _change(drop: float) -> str:
    return f"{drop:.1%} lost" if drop >= 0 else f"{-drop:.1%} gained, and no category loses more"


def same_order(found: Sequence[Swap], systems: int, methods: int, queries: int) -> tuple[Finding, ...]:
    """Whether variations change which system is better; nothing with one system.

    `queries` is how many have a valid variation by the method that has most: that few keep their order tells little.
    """
    if systems < 2:
        return ()
    rule = (
        "no two systems change places under any method; it fails where what the method changes between the two is "
        f"significant (p < {ALPHA} after correction over all pairs and methods); that nothing changes says nothing of "
        f"fewer than {FEWEST_QUERIES} queries"
    )
    sure = [swap for swap in found if swap.p_corrected < ALPHA]
    pairs = systems * (systems - 1) // 2 * methods
    seen = f"{len(found)} of {pairs} comparisons of two systems under a method come out the other way round"
    seen += f", {len(sure)} of them significantly." if found else "."
    unmoved = Verdict.PASS if queries >= FEWEST_QUERIES else Verdict.UNKNOWN
    verdict = Verdict.FAIL if sure else Verdict.WARN if found else unmoved
    if verdict is Verdict.UNKNOWN:
        seen += f" A method has valid variations of {queries} queries at most."
    return (Finding("order of systems", verdict, rule, seen, len(found) / pairs if pairs else None),)


def judged(rows: Sequence[tuple[str, float]]) -> tuple[Finding, ...]:
    """Whether judgments fit the rankings, by each system's share of judged documents; nothing where all do."""
    strange = [(system, share) for system, share in rows if share < JUDGED_WARN]
    if not strange:
        return ()
    system, least = min(strange, key=lambda row: row[1])
    seen = (
        f"of the ten best documents that {system} finds by the original queries {least:.1%} are judged: are queries "
        "and judgments numbered alike, and are these the documents that were judged? What is lost means little then."
    )
    rule = f"of the ten best documents of each system at least {JUDGED_WARN:.0%} are judged"
    return (Finding("judged", Verdict.WARN, rule, seen, least),)


def all_ranked(failures: Sequence[Failure]) -> tuple[Finding, ...]:
    """Queries that a ranker could not do; nothing where there are none."""
    if not failures:
        return ()
    first = failures[0]
    method = first.slot.method if first.slot else "the original"
    seen = (
        f"{len(failures)} queries failed and are left out, the first of them {first.query_id!r} ({method}) in "
        f"{first.ranker}: {first.error}"
    )
    rule = "every ranker ranks every query and every variation"
    return (Finding("failures", Verdict.WARN, rule, seen, float(len(failures))),)
