"""The rules by which leakage is judged; each gives a finding with the figure behind it.

No study says how much leakage is too much: the limits here are a convention of this project.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from scipy import stats

from ringtrue.audit import Finding, Interval, Verdict
from ringtrue.errors import brief
from ringtrue.evaluation.rules import p_words
from ringtrue.leakage.candidates import Candidate
from ringtrue.leakage.impact import FEWEST_TOPICS
from ringtrue.leakage.result import Impact, PairLeakage, Recall, SearchResult
from ringtrue.leakage.table import expected_leaks, expected_topics

ALPHA = 0.05
EXPECTED_PASS = 0.5
SHARE_FAIL = 0.10
_NO_POSITIVES = "the training data names no documents; give its positives (--positives), judgments, pairs or triples."


def leaked_share(search: SearchResult, leaks: Sequence[Candidate], rule_of_choice: str) -> Finding:
    """A topic that is (nearly) in the training log says little of how a model does on new ones."""
    rule = (
        f"no topic has a leak in the log ({rule_of_choice}), or fewer than {EXPECTED_PASS} topics are expected to have "
        f"a true one; above {SHARE_FAIL:.0%} of the topics it fails"
    )
    leaked = {leak.topic_id for leak in leaks}
    topics, searched = len(leaked.intersection(search.topics)), len(search.topics)
    leaks = [leak for leak in leaks if leak.topic_id in frozenset(search.topics)]
    if not searched or search.log_size == 0:
        missing = "topic was searched for" if not searched else "training query was searched"
        return Finding("leaked topics", Verdict.UNKNOWN, rule, f"no {missing}{_unsearched(search)}.")
    expected = expected_topics(leaks)
    harmless = not topics or (expected is not None and expected < EXPECTED_PASS)
    share = topics / searched
    clean = Verdict.UNKNOWN if search.unsearched else Verdict.PASS
    verdict = clean if harmless else Verdict.FAIL if share > SHARE_FAIL else Verdict.WARN
    seen = f"{topics:,} of {searched:,} topics ({share:.0%}) {'has' if topics == 1 else 'have'} a leak"
    seen += "" if search.log_size is None else f" among {search.log_size:,} training queries"
    if topics:
        true = expected_leaks(leaks)
        seen += f", by {len(leaks):,} pair{'s' * (len(leaks) > 1)} of a topic and a query"
        seen += "" if true is None else f"; {true:,.1f} true leaks are expected in {expected:,.1f} topics"
    if len(leaked) > topics:
        seen += f"; {len(leaked) - topics:,} more topics have candidates, but are not among these {searched:,}"
    seen += f"{_unsearched(search)}."
    return Finding("leaked topics", verdict, rule, seen, share, _interval(topics, searched))


def search_recall(recall: Recall) -> Finding:
    """A cascade may miss leaks; what it says of clean topics is worth as much as its recall."""
    rule = f"the lower end of the 95 % interval of the search's recall is at least {recall.target:g}"
    how = f"{recall.encoded:,} of {recall.queries:,} training queries were encoded in full"
    if recall.is_complete:
        return Finding("search recall", Verdict.PASS, rule, f"{how}: the search is exact.", 1.0)
    if recall.estimate is None:
        seen = (
            f"{how}, and none is above the threshold; {recall.missed:.2g} of the others are expected to be, and there "
            "is no share to tell."
        )
        return Finding("search recall", Verdict.UNKNOWN, rule, seen)
    above = f"{recall.found:,} {'is' if recall.found == 1 else 'are'} above the threshold"
    seen = (
        f"{how}, and {above}: an estimated {recall.estimate:.2%} of all that are "
        f"(at least {recall.interval.low:.2%}; {recall.certain:.1%} if nothing is assumed of those not sampled)"
    )
    if recall.refuted:
        seen += "; similarities do not fall off as assumed here, so that only sampled hits count"
    if not recall.is_reached and recall.exhausted:
        seen += "; of so long a log no more was kept that could be encoded: search exactly"
    elif not recall.is_reached:
        seen += "; the effort did not suffice for more: allow more, or search exactly"
    seen += "."
    verdict = Verdict.PASS if recall.is_reached else Verdict.WARN
    return Finding("search recall", verdict, rule, seen, recall.estimate, recall.interval)


def order_of_systems(impact: Impact | None, *, leaks: bool) -> Finding:
    """What a leaderboard claims is the order of its systems; `leaks` says whether any topic leaks."""
    rule = (
        "no two systems change places without the leaked topics whose difference is significantly another on leaked "
        f"than on clean ones (Welch's t-test, p < {ALPHA} after Holm over all pairs); a warning where the order "
        "changes more than without as many random topics"
    )
    if not leaks:
        return Finding("order of systems", Verdict.PASS, rule, "no topic leaks.")
    if impact is None or not impact.systems:
        return Finding("order of systems", Verdict.UNKNOWN, rule, _too_little(impact))
    order = impact.order
    if order is None:
        return Finding("order of systems", Verdict.UNKNOWN, rule, "only one system was given.")
    if math.isnan(order.p_tau_ap_b):
        return Finding(
            "order of systems", Verdict.UNKNOWN, rule, "all systems are tied, with or without leaked topics."
        )
    significant = sum(swap.is_significant(ALPHA) for swap in order.swaps)
    beyond_chance = order.p_tau_ap_b < ALPHA
    verdict = Verdict.FAIL if significant else Verdict.WARN if beyond_chance else Verdict.PASS
    seen = (
        f"without the {len(impact.leaked)} leaked topics {len(order.swaps):,} of {order.pairs:,} pairs of systems "
        f"change places, {significant or 'none'} of them significantly (tau_AP_b {order.tau_ap_b:.3f}; without as many "
        f"random topics {order.random_tau_ap_b:.3f} on average, {p_words(order.p_tau_ap_b)})"
    )
    first = impact.systems[0].run
    new_first = min(impact.systems, key=lambda system: system.rank_clean).run
    seen += f"; the best system is {new_first} then, not {first}." if new_first != first else "."
    return Finding("order of systems", verdict, rule, seen, order.tau_ap_b)


def gain_on_leaked_topics(impact: Impact) -> Finding:
    """A system that has seen the test does better on what it has seen, held against systems that have not."""
    rule = (
        f"no system gains more on leaked topics, relative to {impact.reference}, than on as many random ones "
        f"(permutation test, p < {ALPHA} after Holm over all systems)"
    )
    if not impact.systems:
        return Finding("gain on leaked topics", Verdict.UNKNOWN, rule, _too_little(impact))
    sign = 1 if impact.higher_is_better else -1
    compared = [(system, sign * system.relative) for system in impact.systems if system.relative is not None]
    if not compared:
        return Finding("gain on leaked topics", Verdict.UNKNOWN, rule, "only one system was given.")
    most, _ = max(compared, key=lambda pair: pair[1])
    assert most.p_holm is not None  # as all have that are compared
    gaining = sum(gain > 0 and system.p_holm is not None and system.p_holm < ALPHA for system, gain in compared)
    seen = (
        f"{gaining or 'none'} of {len(compared)} systems {'gain' if gaining > 1 else 'gains'} significantly; the "
        f"largest gain is that of {most.run}, {most.relative:+.4f} in {impact.measure} ({p_words(most.p_holm)})."
    )
    possible = impact.least_p * len(compared) < ALPHA
    verdict = Verdict.WARN if gaining else Verdict.PASS if possible else Verdict.UNKNOWN
    if verdict is Verdict.UNKNOWN:
        seen += " With so few topics or draws for so many systems no gain, however large, would be significant."
    return Finding("gain on leaked topics", verdict, rule, seen, most.relative, most.relative_interval)


def leaked_documents(pairs: PairLeakage, *, leaks: bool) -> Finding:
    """A leaking query trained on a document that is relevant in the test tells the model the answer.

    Where no topic leaks no query can, whatever it was trained on.
    """
    rule = (
        "no training query that leaks a topic has a positive that is relevant for the topic; above "
        f"{SHARE_FAIL:.0%} of the topics it fails"
    )
    if not pairs.positives:
        verdict, seen = (Verdict.UNKNOWN, _NO_POSITIVES) if leaks else (Verdict.PASS, "no topic leaks.")
        return Finding("leaked documents", verdict, rule, seen)
    topics = sum(topic.relevant_leaked > 0 for topic in pairs.topics)
    share = topics / len(pairs.topics)
    answers = sum(pair.relevance > 0 for pair in pairs.pairs)
    seen = (
        f"{answers:,} training pairs tell the answer to {topics:,} of {len(pairs.topics):,} topics; "
        f"{pairs.judged_seen:,} of {pairs.judged:,} judged documents are positives of some training query"
    )
    seen += "." if pairs.judged_seen else "; ids of two corpora never meet, so check that these are of one."
    verdict = Verdict.PASS if not topics else Verdict.FAIL if share > SHARE_FAIL else Verdict.WARN
    if leaks and not pairs.judged_seen:
        return Finding("leaked documents", Verdict.UNKNOWN, rule, seen)
    return Finding("leaked documents", verdict, rule, seen, share, _interval(topics, len(pairs.topics)))


def _too_little(impact: Impact | None) -> str:
    """Why nothing can be compared."""
    if impact is None:
        return "no runs and judgments were given."
    neither = f" ({len(impact.unsearched)} more could not be searched for)" if impact.unsearched else ""
    return (
        f"{len(impact.leaked)} leaked and {len(impact.clean)} clean topics are judged{neither}; at least "
        f"{FEWEST_TOPICS} of each are needed."
    )


def _unsearched(search: SearchResult) -> str:
    """How many topics nothing is known of."""
    if not search.unsearched:
        return ""
    return (
        f"; {len(search.unsearched):,} could not be searched for and may leak ({brief(search.unsearched)}): they have "
        "no text that the encoder knows anything of"
    )


def _interval(count: int, of: int) -> Interval:
    """Wilson's interval of a share of topics."""
    low, high = stats.binomtest(count, of).proportion_ci(method="wilson")
    return Interval(float(low), float(high), 0.95, "Wilson")
