"""Three invented audits with everything a report has to bear: all verdicts, long and empty tables, odd characters."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass, replace

import pytest

from ringtrue.audit import (
    Audit,
    Column,
    Figure,
    Finding,
    Interval,
    Point,
    Section,
    Series,
    Table,
    Text,
    Verdict,
)
from ringtrue.provenance import Provenance

GROUPS = ("anserini", "covidex", "CSIRO", "IRIT-marked", "Universität Halle", "sab", "uogTr", "清華大學")


@dataclass(frozen=True)
class FakeAudit:
    name: str
    title: str
    findings: tuple[Finding, ...]
    parts: tuple[Section, ...]
    provenance: Provenance

    def sections(self) -> tuple[Section, ...]:
        return self.parts


MADE = Provenance(
    ringtrue="0.1.0",
    python="3.11.7",
    packages={"numpy": "2.4.6", "ir_measures": "0.4.3"},
    components=("MiniLM(max_length=128)", "Pool(depth=100, topic_free=False)"),
    inputs={"qrels": "7f9c2ba4e88f827d616045507605853e", "runs": "d73b80cc1a2e4a5d8f3b6c0e9a7d1f42"},
    settings={"seed": 7, "threshold": 0.91, "ties": "score, then document", "top": None},
)


def leakage() -> FakeAudit:
    draw = random.Random(1)
    findings = (
        Finding(
            "leaked topics",
            Verdict.FAIL,
            "FAIL where more than 5 % of the topics have a training query above the threshold 0.91.",
            "69 of 249 topics have at least one near copy among 367,013 training queries.",
            69 / 249,
            Interval(0.222, 0.337, 0.95, "Wilson"),
        ),
        Finding(
            "order of the systems",
            Verdict.WARN,
            "WARN where τ_AP,b between all topics and those without leaks is below 0.95.",
            "Two pairs of systems change places when leaked topics are left out.",
            0.931,
            Interval(0.884, 0.972, 0.95, "bootstrap over topics"),
        ),
        Finding(
            "precision of the candidates",
            Verdict.UNKNOWN,
            "PASS where at least 90 % of the labelled candidates are true; UNKNOWN below 50 labels.",
            "No labels were given: run the annotation page, then give its file.",
        ),
    )
    fields = ("title", "description", "variant")
    rows = tuple(
        (
            301 + place,
            fields[place % 3],
            f"how do international organised crime groups {draw.choice(('move', 'launder', 'hide'))} money",
            f"q{draw.randrange(10**6)}",
            "what is <b>organised</b> crime & how does it move money across borders in practice?",
            1 - draw.random() * 0.09,
            None if place % 7 == 0 else draw.choice(("identical", "generalisation", "different topic")),
            place % 4 == 0,
        )
        for place in range(150)
    )
    columns = (
        Column("topic_id", "Topic"),
        Column("field", "Field", help="The text of the topic that was nearest."),
        Column("text", "Text"),
        Column("query_id", "Query"),
        Column("query", "Training query"),
        Column("similarity", "Similarity", 3, "Cosine of the two vectors; strictly above the threshold."),
        Column("type", "Type of reformulation"),
        Column("judged", "Judged"),
    )
    similarity = tuple(Point(0.5 + place * 0.02, float(round(900 * math.exp(-place / 5)))) for place in range(25))
    curve = tuple(Point(0.80 + place * 0.01, 1 - 0.9 * math.exp(-place / 4)) for place in range(20))
    recall = tuple(
        Point(x, 1 - y * 0.6, 1 - y * 0.7, 1 - y * 0.5, "calibrated" if i == 11 else "")
        for i, (x, y, *_) in enumerate(curve)
    )
    return FakeAudit(
        "leakage",
        "Did the model see the test queries during training?",
        findings,
        (
            Text(
                "reading",
                "How to read this",
                "A topic leaks when a training query says nearly the same as one of its texts. Similarity is the "
                "cosine of two sentence vectors; what counts as near was calibrated on labelled pairs.\n\n"
                "Leaks inflate a score only where the training pairs also carry the judged documents.",
            ),
            Table("candidates", "Training queries that are nearly test topics", columns, rows, "Best text per pair."),
            Figure(
                "histogram",
                "Similarity of the nearest training query",
                "bars",
                (Series("", similarity),),
                "similarity",
                "topics",
            ),
            Figure(
                "calibration",
                "Precision and recall over the threshold",
                "lines",
                (Series("precision", curve), Series("recall", recall)),
                "threshold",
                "share of pairs",
                "The band is a 95 % bootstrap interval.",
            ),
            Table(
                "types",
                "Types of reformulation",
                (Column("type", "Type"), Column("pairs", "Pairs"), Column("share", "Share", 3)),
                (("identical", 58, 0.0703), ("generalisation", 12_345, 0.41), ("different topic", 0, math.nan)),
            ),
        ),
        MADE,
    )


def subsampling() -> FakeAudit:
    draw = random.Random(2)
    findings = (
        Finding(
            "reliability of pool:depth=100",
            Verdict.PASS,
            "PASS where the lower end of the interval of τ_AP,b over left-out groups is at least 0.90.",
            "26 systems of 8 groups keep their order on 12 % of the corpus.",
            0.961,
            Interval(0.934, 0.983, 0.95, "bootstrap over groups"),
        ),
        Finding(
            "change of the mean score",
            Verdict.PASS,
            "PASS where the mean difference of nDCG@10 stays within 0.02.",
            "Scores are lower by 0.004 on average.",
            -0.0041,
            Interval(-0.0112, 0.0034, 0.9, "paired t"),
        ),
    )
    systems = []
    for place in range(26):
        group = GROUPS[place % 8]
        score = 0.25 + draw.random() * 0.5
        systems.append(
            (
                f"{group}.run{place // 8 + 1}-" + ("a-very-long-name-of-a-neural-reranker" if place == 5 else "t5"),
                group,
                score,
                score - 0.004,
                place + 1,
                Verdict.PASS if place % 5 else Verdict.WARN,
            )
        )
    by_group = tuple(
        Series(
            group, tuple(Point(name, score, score - 0.03, score + 0.04) for name, g, score, *_ in systems if g == group)
        )
        for group in GROUPS
    )
    many = tuple(
        Series(
            f"team {team:02d}",
            tuple(
                Point(f"team{team:02d}.run{run}", value := draw.random() * 0.6 + 0.1, value - 0.05, value + 0.05)
                for run in range(1, 4 if team < 41 else 2)
            ),
        )
        for team in range(61)
    )
    sizes = (100, 316, 1000, 3162, 10_000, 100_000, 1_000_000)
    learning = tuple(
        Series(
            name,
            tuple(
                Point(size, y := 1 - start / (i + 1.5), y - 0.03, min(1.0, y + 0.03)) for i, size in enumerate(sizes)
            ),
        )
        for name, start in (("pool", 0.3), ("BM25 top 1,000", 0.5), ("random", 0.9), ("LOFT", 0.7))
    )
    methods = (
        "pool:depth=100",
        "pool:depth=50",
        "bm25:depth=1000",
        "judged",
        "judged+random:ratio=10",
        "loft:size=10000",
    )
    shared = tuple(
        Series(
            name,
            tuple(Point(method, v := 0.95 - i * 0.06 - shift, v - 0.04, v + 0.03) for i, method in enumerate(methods)),
        )
        for name, shift in (("TREC-COVID", 0.0), ("Robust04", 0.05), ("ClueWeb09", 0.12))
    )
    return FakeAudit(
        "subsampling",
        "Does a smaller corpus still rank the systems as the full one does?",
        findings,
        (
            Figure("correlation", "Agreement by sampler and campaign", "dots", shared, "sampler", "τ_AP,b"),
            Figure("size", "Agreement over the size of the sample", "lines", learning, "documents", "τ_AP,b"),
            Table(
                "systems",
                "All systems on the full and the small corpus",
                (
                    Column("run", "Run"),
                    Column("group", "Group"),
                    Column("full", "nDCG@10, full", 3),
                    Column("small", "nDCG@10, small", 3),
                    Column("rank", "Rank"),
                    Column("verdict", "Verdict"),
                ),
                tuple(systems),
                "nDCG@10 is the mean over all topics of the judgments.",
            ),
            Figure("scores", "nDCG@10 by group", "dots", by_group, "run", "nDCG@10"),
            Figure("everyone", "All 143 runs of 61 teams", "dots", many, "run", "nDCG@10"),
        ),
        MADE,
    )


def robustness() -> FakeAudit:
    findings = (
        Finding(
            "typing errors",
            Verdict.WARN,
            "WARN where a category of variations costs more than 10 % of nDCG@10, Holm-corrected p < 0.05.",
            "nDCG@10 falls from 0.512 to 0.437 when one letter is wrong.",
            -0.146,
            Interval(-0.188, -0.102),
        ),
        Finding("naturality", Verdict.PASS, "WARN where more than 10 % is lost.", "Nothing is lost.", 0.0),
        Finding("queries tried", Verdict.PASS, "PASS where at least 25 queries have variations.", "43 queries.", 43),
    )
    categories = ("misspelling", "naturality", "order of words", "paraphrase by back-translation", "synonyms")
    drops = tuple(
        Series(
            ranker,
            tuple(
                Point(
                    category,
                    math.nan if (i, ranker) == (3, "BM25") else -0.2 + 0.05 * i + s,
                    -0.24 + 0.05 * i + s,
                    -0.16 + 0.05 * i + s,
                )
                for i, category in enumerate(categories)
            ),
        )
        for ranker, s in (("BM25", 0.0), ("monoBERT", 0.04))
    )
    broken = Series("BM25", tuple(Point(k, math.nan if k == 4 else 0.4 + k / 50) for k in range(1, 9)))
    counts = tuple(Point(name, float(count)) for name, count in (("valid", 201), ("odd", 38), ("wrong", 12)))
    return FakeAudit(
        "robustness",
        "Does the system survive the ways in which people write the same query?",
        findings,
        (
            Figure(
                "drops",
                "Change of nDCG@10 by kind of variation",
                "bars",
                drops,
                "kind",
                "change of nDCG@10",
                "Whiskers are 95 % intervals over queries.",
            ),
            Figure("counts", "How variations were judged", "bars", (Series("", counts),), "", "variations"),
            Figure("edits", "nDCG@10 over the number of edits", "lines", (broken,), "edits", "nDCG@10"),
            Figure("empty", "Fusion of variations", "lines", (), note="No fusion was asked for."),
            Table(
                "failed",
                "Variations that could not be made",
                (Column("query_id", "Query"), Column("reason", "Why")),
                (),
            ),
            Table(
                "drops",
                "Scores by ranker",
                (
                    Column("ranker", "Ranker"),
                    Column("method", "Method"),
                    Column("queries", "Queries"),
                    Column("ndcg", "nDCG@10", 3),
                    Column("change", "Change", 3),
                    Column("low", "Low", 3),
                    Column("high", "High", 3),
                    Column("p", "p, corrected", 4),
                    Column("significant", "Significant"),
                ),
                tuple(
                    (
                        ranker,
                        f"{method}-swap:seed=7",
                        43,
                        0.512 - i * 0.03,
                        None if i == 2 else -0.03 * i,
                        -0.03 * i - 0.02,
                        -0.03 * i + 0.02,
                        0.0001 * 9**i,
                        i > 1,
                    )
                    for ranker in ("bm25", "bm25 >> monobert:model=large")
                    for i, method in enumerate(("qwerty", "inner", "μ-shift"))
                ),
            ),
        ),
        replace(MADE, components=("Bm25(k1=0.9, b=0.4)",), inputs={}),
    )


def hostile() -> FakeAudit:
    nasty = "</script><script>alert('x')</script> \x00 & \"quoted\" [red]_%$#{}~^\\"
    return FakeAudit(
        nasty,
        nasty,
        (Finding(nasty, Verdict.FAIL, nasty, nasty, 1.0, Interval(-math.inf, math.inf, method=nasty)),),
        (
            Table(
                nasty,
                nasty,
                (Column("a", nasty, help=nasty), Column("b", nasty)),
                ((nasty, nasty), (nasty, None)),
                nasty,
            ),
            Figure(
                nasty, nasty, "dots", (Series(nasty, (Point(nasty, 1.0, 0.0, math.inf, nasty),)),), nasty, nasty, nasty
            ),
            Figure(nasty, nasty, "bars", (Series(nasty, (Point(nasty, 1.0, label=nasty),)),), nasty, nasty, nasty),
            Figure("l", nasty, "lines", (Series(nasty, (Point(1, 1.0, label=nasty),)),), nasty, nasty, nasty),
            Text(nasty, nasty, nasty),
        ),
        replace(MADE, components=(nasty,), settings={nasty: nasty}),
    )


@pytest.fixture(scope="session")
def audits() -> tuple[Audit, ...]:
    """One audit per question, and one whose every text attacks the report."""
    return leakage(), subsampling(), robustness(), hostile()
