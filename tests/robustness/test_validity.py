"""Valid or not: rules, labels and the shipped models."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ringtrue.data.notes import Notes
from ringtrue.retrieval.encoders import ENCODERS, Encoder
from ringtrue.robustness.calibration import cross_validate, examples, fingerprint, fit, judged_by_people
from ringtrue.robustness.labels import Label, read_labels
from ringtrue.robustness.similarity import default_encoder
from ringtrue.robustness.validity import Basis, check, probabilities, shipped
from ringtrue.robustness.variations import Variation

ROW = Variation("1", "paraphrasing", "T5QQP", "cost of red foxes", "price of red foxes", 42)
HASHING = ENCODERS.parse("hashing")


@pytest.fixture(scope="module")
def minilm() -> Encoder:
    encoder = default_encoder()
    if encoder is None:
        pytest.skip("the packages of the extra `neural` are not installed")
    return encoder


@pytest.fixture(scope="module")
def labels(shared: Path) -> tuple[Label, ...]:
    return read_labels(shared / "robustness" / "variations_trec2019_labeled.csv", Notes())


@pytest.mark.parametrize(
    ("variation", "valid", "basis"),
    [
        (ROW._replace(variation=None), False, Basis.MISSING),
        (ROW._replace(variation=" ?! "), False, Basis.MISSING),
        (ROW._replace(variation="Cost of  red foxes?"), False, Basis.COPY),
        (ROW._replace(category="misspelling", variation="cost of red foxxes"), True, Basis.CONSTRUCTION),
        (ROW._replace(category="naturality", method="RmvStopWords", variation="cost red"), True, Basis.CONSTRUCTION),
        (ROW._replace(category="recorded", variation="what"), True, Basis.CONSTRUCTION),
    ],
)
def test_what_needs_no_model(variation, valid, basis):
    (found,) = check([variation])
    assert (found.valid, found.basis, found.probability) == (valid, basis, None)


def test_a_label_decides_but_not_for_a_copy():
    copy = ROW._replace(variation=ROW.original)
    labels = [Label(ROW, False, False), Label(copy, True, True)]
    found = check([ROW, copy, ROW._replace(method="Other")], labels=labels)
    assert [(one.valid, one.basis) for one in found[:2]] == [(False, Basis.LABEL), (False, Basis.COPY)]
    assert found[2].basis is Basis.STRINGS


def test_without_the_packaged_encoder_the_model_of_words_decides_and_says_so():
    for encoder in (None, HASHING):
        (found,) = check([ROW], encoder=encoder)
        assert found.basis is Basis.STRINGS
        assert found.probability == probabilities([ROW], "strings")[0]
        assert (found.similarity is None) == (encoder is None)


def test_the_names_of_the_study_code_are_known():
    (found,) = check([ROW._replace(category="mispelling", method="WordSwapQWERTY")])
    assert found.basis is Basis.CONSTRUCTION
    assert found.variation.method == "QWERTYCharSub"


def test_the_threshold_can_be_moved():
    chance = probabilities([ROW], "strings")[0]
    assert check([ROW], threshold=chance)[0].valid
    assert not check([ROW], threshold=chance + 0.001)[0].valid


def test_meaning_is_seen_with_an_encoder(minilm):
    good = ROW._replace(original="how old is the moon", variation="what is the age of the moon")
    bad = good._replace(variation="how old is the microchip")
    near, far = check([good, bad], encoder=minilm)
    assert near.basis is far.basis is Basis.SEMANTIC
    assert near.probability is not None and far.probability is not None
    assert near.probability > 0.7 > far.probability


@given(st.lists(st.tuples(st.text(), st.text()), max_size=4))
def test_any_text_is_decided(pairs):
    rows = [ROW._replace(original=original, variation=variation) for original, variation in pairs]
    found = check(rows)
    assert [one.variation for one in found] == rows
    assert all(one.probability is None or 0 <= one.probability <= 1 for one in found)


def test_the_shipped_models_are_those_of_the_study_labels(labels):
    people = judged_by_people(labels)
    assert len(people) == 187
    assert shipped("strings").fingerprint == fingerprint(people)
    again, known = fit(examples(people, None), "strings"), shipped("strings").model
    assert known.features == again.features
    assert known.weights == pytest.approx(again.weights, abs=1e-4)
    assert dict(known.methods) == pytest.approx(dict(again.methods), abs=1e-4)


def test_the_area_under_the_curve_is_at_least_three_quarters_on_unseen_queries(labels, minilm):
    data = examples(judged_by_people(labels), minilm)
    found = cross_validate(data, "semantic", repeats=5)
    assert found.auc - 2 * found.auc_spread > 0.75
    assert shipped("semantic").quality.auc == pytest.approx(found.auc, abs=0.01)
    assert cross_validate(examples(judged_by_people(labels), None), "strings", repeats=5).auc < found.auc


def test_rules_alone_are_right_wherever_they_decide(labels):
    found = check([label.variation for label in labels])
    ruled = [(one.valid, label.valid) for one, label in zip(found, labels, strict=True) if one.probability is None]
    assert len(ruled) == 242
    assert all(ours == theirs for ours, theirs in ruled)
