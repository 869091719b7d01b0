from concurrent.futures import ThreadPoolExecutor

import pytest

from ringtrue.annotate.store import Answered, Store
from ringtrue.errors import FormatError


@pytest.fixture
def store(tmp_path):
    store = Store(tmp_path / "answers.sqlite", "colours")
    store.prepare()
    return store


def test_answers_are_kept_by_person_and_task(store):
    store.save("anna", "1\t2", Answered({"valid": "true"}, "sure"))
    store.save("ben", "1\t2", Answered({"valid": "false"}))
    store.save("anna", "1\t2", Answered({"valid": "false"}, "not so sure"))
    again = Store(store.path, "colours")
    again.prepare()
    assert again.answered("anna") == {"1\t2": Answered({"valid": "false"}, "not so sure")}
    assert again.annotators() == ("anna", "ben")
    assert again.answered("carl") == {}


def test_many_at_once(store):
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: store.save(f"p{n % 4}", str(n), Answered({"n": str(n)})), range(80)))
    assert [len(store.answered(f"p{n}")) for n in range(4)] == [20, 20, 20, 20]


def test_answers_to_other_questions(store):
    with pytest.raises(FormatError, match=r"answers to “colours”, not to “shapes”; name another file by --store"):
        Store(store.path, "shapes").prepare()


def test_a_file_that_holds_no_answers(tmp_path):
    path = tmp_path / "text.sqlite"
    path.write_text("this is no database, and long enough to be seen as none " * 20)
    with pytest.raises(FormatError, match="cannot keep answers there"):
        Store(path, "colours").prepare()
