import pytest

from ringtrue.annotate.session import Session
from ringtrue.annotate.variations import Variations
from ringtrue.data.notes import Notes
from ringtrue.errors import InputError
from ringtrue.robustness.labels import read_labels

HEADER = "query_id,category,method,original,variation,seed,reason\n"


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "variations.csv"
    path.write_text(
        HEADER
        + "7,misspelling,NeighbCharSwap,red wine,rde wine,3,\n"
        + '7,ordering,RandOrderSwap,"wine, red","red, wine",3,\n'
        + "8,ordering,RandOrderSwap,wine,,3,one word\n"
    )
    return path


def test_tasks_are_the_variations_that_there_are(file):
    first, second = Variations.read(file).tasks
    assert [shown.text for shown in first.texts] == ["red wine", "rde wine"]
    assert "misspelling" in first.questions[1].title and "ordering" in second.questions[1].title


def test_labels_are_read_back_by_the_pillar(file, tmp_path):
    work = Variations.read(file)
    answers = {work.tasks[1].key: {"valid": "true", "follow_category": "false"}}
    work.write(tmp_path / "labelled.csv", answers, "anna")
    notes = Notes()
    (label,) = read_labels(tmp_path / "labelled.csv", notes)
    assert (label.variation.variation, label.valid, label.follows_category) == ("red, wine", True, False)
    assert [note.times for note in notes] == [2]
    assert "3,,true,false,anna\n" in (tmp_path / "labelled.csv").read_text()


def test_the_studys_file_is_work_too(shared, tmp_path):
    session = Session.open(shared / "robustness/variations_trec2019_labeled.csv", store=tmp_path / "answers.sqlite")
    assert session.work.name == "Is the variation valid?"
    assert len(session.work.tasks) == len({task.key for task in session.work.tasks}) > 400


def test_nothing_to_label(tmp_path):
    path = tmp_path / "variations.csv"
    path.write_text(HEADER + "8,ordering,RandOrderSwap,wine,,3,one word\n")
    with pytest.raises(InputError, match="has no variation"):
        Variations.read(path)
