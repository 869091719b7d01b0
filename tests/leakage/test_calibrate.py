from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from ringtrue.data.load import load
from ringtrue.errors import InputError, UnknownNameError
from ringtrue.leakage.calibrate import calibrate
from ringtrue.leakage.exchange import read_label_files
from ringtrue.leakage.labels import LabelledPair
from ringtrue.leakage.thresholds import default_threshold, find_threshold

FINAL = ("01-annotated-by-maik-and-cakiki", "02-annotated-by-chris", "03-annotated-by-maik", "04-annotated-by-maik")
MINILM = Path(__file__).resolve().parents[2] / "benchmarks" / "minilm_similarities.json"


def pair(similarity: float | None, *, true: bool, weight: float = 1.0, topic: str = "1") -> LabelledPair:
    label = "Title-Identical" if true else "Different Topic"
    return LabelledPair(topic, f"{similarity}-{true}-{weight}", "x", "", "", similarity, (label,), weight)


@pytest.fixture
def study(shared: Path) -> tuple[LabelledPair, ...]:
    name = "query-reformulation-classification-iteration-{}.jsonl"
    return read_label_files(shared / "leakage" / "annotations" / name.format(part) for part in FINAL)


def test_a_worked_example():
    pairs = [pair(0.955, true=True), pair(0.945, true=True), pair(0.935, true=False), pair(0.925, true=True)]
    found = calibrate([*pairs, pair(0.915, true=False)])
    rows = [(one.threshold, one.pairs, one.true, one.precision, one.recall) for one in found.points]
    assert rows == [
        (0.91, 5, 3, pytest.approx(3 / 5), 1.0),
        (0.92, 4, 3, pytest.approx(3 / 4), 1.0),
        (0.93, 3, 2, pytest.approx(2 / 3), pytest.approx(2 / 3)),
        (0.94, 2, 2, 1.0, pytest.approx(2 / 3)),
        (0.95, 1, 1, 1.0, pytest.approx(1 / 3)),
    ]
    assert found.lowest(0.75).threshold == 0.92
    assert found.lowest(0.9).threshold == 0.94
    assert found.lowest(0.9, sure=True) is None
    assert found.average_precision == pytest.approx((1 + 1 + 3 / 4) / 3)
    assert found.auc == pytest.approx(5 / 6)


def test_above_means_strictly_greater():
    found = calibrate([pair(0.9, true=True), pair(0.8, true=True)], [0.8, 0.9])
    assert [(one.pairs, one.recall) for one in found.points] == [(1, 0.5), (0, 0.0)]
    assert math.isnan(found.points[1].precision)
    assert found.lowest(0.5).threshold == 0.8


def test_weights_undo_the_sampling():
    # 1 of 1 true at the top, 1 of 2 below, where each label stands for 10 pairs
    pairs = [pair(0.95, true=True), pair(0.85, true=True, weight=10), pair(0.85, true=False, weight=10)]
    found = calibrate(pairs, [0.8, 0.9])
    assert found.points[0].precision == pytest.approx(11 / 21)
    assert found.points[1].recall == pytest.approx(1 / 11)


def test_the_study(study: tuple[LabelledPair, ...]):
    found = calibrate(study, [0.9, 0.91, 0.92, 0.93, 0.95, 0.97])
    assert [one.pairs for one in found.points] == [827, 784, 744, 671, 528, 366]
    assert [round(one.precision, 3) for one in found.points] == [0.872, 0.879, 0.886, 0.917, 0.939, 0.984]
    assert round(found.auc, 3) == 0.764
    assert found.lowest(0.9).threshold == 0.93
    shipped = default_threshold("sbert:sentence-transformers/paraphrase-MiniLM-L6-v2")
    assert (shipped.value, shipped.true, shipped.pairs) == (0.91, found.points[1].true, found.points[1].pairs)
    assert shipped.interval[:2] == pytest.approx(found.points[1].precision_interval[:2], abs=1e-4)


def test_intervals_hold_the_estimate_and_topics_make_them_wider(study: tuple[LabelledPair, ...]):
    single, grouped = calibrate(study), calibrate(study, method="bootstrap", replicates=500)
    for one, other in zip(single.points, grouped.points, strict=True):
        assert one.precision_interval.low < one.precision < one.precision_interval.high
        assert other.precision_interval.low <= other.precision <= other.precision_interval.high
    one, other = single.points[0].precision_interval, grouped.points[0].precision_interval
    assert other.high - other.low > one.high - one.low
    assert "198 topics" in other.method


def test_the_default_of_minilm_comes_from_here(study: tuple[LabelledPair, ...]):
    again = json.loads(MINILM.read_text())["study"]
    scored = [one._replace(similarity=similarity) for one, (similarity, _) in zip(study, again, strict=True)]
    point = calibrate(scored).lowest(0.9)
    shipped = default_threshold("minilm")
    assert (point.threshold, point.true, point.pairs) == (shipped.value, shipped.true, shipped.pairs)
    assert point.precision_interval[:2] == pytest.approx(shipped.interval[:2], abs=1e-4)
    assert shipped.precision >= 0.9
    assert "another encoder" in shipped.origin


@pytest.mark.parametrize(
    ("encoder", "value"),
    [
        ("minilm", 0.88),
        ("minilm:precision=bf16", 0.88),
        ("minilm:bf16", 0.88),
        ("sbert:/models/all-MiniLM-L6-v2/", 0.88),
        ("sbert:model=paraphrase-MiniLM-L6-v2,precision=bf16", 0.91),
        ("static", 0.89),
        ("static:minilm", 0.89),
        ("static:encoder=minilm,device=cpu", 0.89),
        ("hashing", 0.66),
        ("hashing:dimensions=64", None),
        ("static:sbert", None),
        ("sbert:paraphrase-mpnet", None),
        ("sbert", None),
    ],
)
def test_thresholds_by_name(encoder: str, value: float | None):
    found = find_threshold(encoder)
    assert (found.value if found else None) == value


def test_an_encoder_without_a_threshold_says_what_to_do():
    with pytest.raises(InputError, match="'sbert:mine' has no calibrated threshold; give one"):
        default_threshold("sbert:mine")


def test_labels_that_cannot_calibrate():
    with pytest.raises(InputError, match="no labels to calibrate with"):
        calibrate([])
    with pytest.raises(InputError, match="no labels to calibrate with"):
        calibrate([LabelledPair("1", "q", "x", similarity=0.5)])
    with pytest.raises(InputError, match="no labels to calibrate with"):
        calibrate([pair(None, true=True)])
    with pytest.raises(InputError, match="none of the 1 labelled pairs is a true leak"):
        calibrate([pair(0.5, true=False)])
    with pytest.raises(InputError, match="weights must be above 0"):
        calibrate([pair(0.5, true=True, weight=0)])
    with pytest.raises(UnknownNameError, match="kind of interval"):
        calibrate([pair(0.5, true=True)], method="guess")


def test_rows_for_reports():
    found = calibrate([pair(0.955, true=True), pair(0.9, true=False), pair(None, true=True, topic="2")])
    assert len(found.tables()[0].rows) == len(found.points)
    assert [series.name for series in found.figure().series] == ["precision", "recall"]
    assert [note.what for note in found.notes] == ["labelled pairs without a similarity left out"]


def test_the_default_of_minilm_holds_in_the_built_in_collection():
    planted = (load("builtin:lighthouse").runs_folder.parent / "leaks.jsonl").read_text().splitlines()
    near = [similarity for similarity, _ in json.loads(MINILM.read_text())["lighthouse"]]
    above = [json.loads(line)["type"] for line, one in zip(planted, near, strict=True) if one > 0.88]
    true = sum(kind != "different-topic" for kind in above)
    assert f"{true} of {len(above)} above it are true" in default_threshold("minilm").origin
