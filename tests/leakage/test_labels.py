from __future__ import annotations

from pathlib import Path

import pytest

from ringtrue.data.formats.detect import read_queries
from ringtrue.data.notes import Notes
from ringtrue.errors import InputError, UnknownNameError
from ringtrue.leakage.exchange import read_label_files
from ringtrue.leakage.labels import LabelCount, LabelledPair, distinct, is_leak, relation, summarise, type_of, verified

FINAL = ("01-annotated-by-maik-and-cakiki", "02-annotated-by-chris", "03-annotated-by-maik", "04-annotated-by-maik")


def pair(topic: str, query: str, *labels: str) -> LabelledPair:
    return LabelledPair(topic, query, "text", labels=labels)


@pytest.mark.parametrize(
    ("labels", "kind"),
    [
        (("Title-Identical", "Variant-Specialization"), "identical"),
        (("Variant-Identical", "Title-Specialization"), "specialization"),
        (("Different Topic",), "different-topic"),
        (("Title-Identical", "Different Topic"), "different-topic"),
        (("Title-Reformulation", "Title-Generalization"), "reformulation"),
        (("Title-Generalization", "Title-Reformulation"), "generalization"),
        (("Variant-Generalization",), "reformulation"),
        (("title_generalisation",), "generalization"),
        (("specialization",), "specialization"),
        (("different-topic",), "different-topic"),
        ((), None),
    ],
)
def test_the_type_of_a_row(labels: tuple[str, ...], kind: str | None):
    assert type_of(labels) == kind
    assert is_leak(labels) == (None if kind is None else kind != "different-topic")


def test_relation_has_two_readings_of_different_topic():
    labels = ("Title-Identical", "Different Topic", "Variant-Generalization")
    assert relation(labels) == "different-topic"
    assert relation(labels, different_first=False) == "identical"
    assert relation(labels, "variant", different_first=False) == "generalization"
    assert relation(("Different Topic",), "variant", different_first=False) == "different-topic"
    assert relation(("Variant-Identical",)) is None


def test_a_label_that_nobody_knows_lists_the_nearest():
    with pytest.raises(UnknownNameError, match="did you mean Title-Identical"):
        type_of(("Title-Identicl",))
    with pytest.raises(InputError, match=r"^labels, topic 1, query a: unknown label 'Same'"):
        distinct([pair("1", "a", "Same")], Notes())


def test_counting_a_small_set():
    notes = Notes()
    pairs = [
        pair("1", "a", "Title-Identical"),
        pair("1", "b", "Different Topic", "Title-Identical"),
        pair("1", "c", "Variant-Identical"),
        pair("2", "a", "Title-Identical", "Title-Generalization"),
        pair("3", "d", "Different Topic"),
        pair("3", "e"),
    ]
    summary = summarise(pairs, {"one": {"1"}, "both": {"1", "2"}}, notes)
    assert summary.pairs == 5
    assert summary.counts == (
        LabelCount("one", 2, 1, 1, 1),
        LabelCount("both", 3, 2, 1, 1),
        LabelCount("all", 3, 2, 2, 2),
    )
    assert summary.types == {
        "identical": 2, "generalization": 0, "specialization": 0, "reformulation": 1, "different-topic": 2,
    }  # fmt: skip
    assert {note.what: note.times for note in summary.notes} == {
        "pairs without any label left out": 1,
        "pairs with Different Topic and a label for the title, counted as different": 1,
        "pairs without a label for the title, counted as reformulation": 1,
        "pairs with several labels for the title, the first counted": 1,
        "labelled pairs of topics that no given collection has": 1,
    }
    assert sum(row[1] for row in summary.tables()[1].rows) == 5


def test_two_labels_of_one_pair_must_agree():
    first, second = pair("1", "a", "Title-Identical", "Variant-Identical"), pair("1", "a", "Different Topic")
    with pytest.raises(InputError, match="labelled Title-Identical \\+ Variant-Identical and Different Topic"):
        distinct([first, second], Notes())
    notes = Notes()
    assert distinct([first, first._replace(labels=first.labels[::-1])], notes) == (first,)
    assert len(notes) == 1


def test_no_labels_at_all_is_an_error():
    with pytest.raises(InputError, match="no labels"):
        summarise([pair("1", "a")])


def test_verified_says_true_or_false():
    pairs = [pair("1", "a", "Title-Identical"), pair("1", "b", "Different Topic"), pair("1", "c")]
    assert verified(pairs) == {("1", "a"): True, ("1", "b"): False}


def test_the_final_labels_give_the_second_table_of_the_study(shared: Path):
    folder = shared / "leakage"
    name = "query-reformulation-classification-iteration-{}.jsonl"
    pairs = read_label_files(folder / "annotations" / name.format(part) for part in FINAL)
    topics = {
        part: {query.query_id for query in read_queries(folder / f"topics.{part}.txt")}
        for part in ("robust04", "core17", "core18")
    }
    summary = summarise(pairs, topics)
    assert summary.pairs == 827
    assert summary.counts == (
        LabelCount("robust04", 648, 172, 93, 53),
        LabelCount("core17", 138, 37, 21, 11),
        LabelCount("core18", 157, 38, 19, 7),
        LabelCount("all", 721, 190, 106, 58),
    )
    assert tuple(summary.types.values()) == (187, 124, 228, 182, 106)
    odd = {note.what: note.times for note in summary.notes}
    assert odd == {
        "pairs with Different Topic and a label for the title, counted as different": 30,
        "pairs without a label for the title, counted as reformulation": 1,
    }
