import json
import re

import pytest

pytest.importorskip("starlette")
from starlette.testclient import TestClient

from ringtrue.annotate.app import make_app
from ringtrue.annotate.session import Session

PAIRS = [
    ("1", "q1", "bear attack", "Bear attacks", "bears that attack"),
    ("1", "q2", "honey", "Bear attacks", "bear attacks"),
    ("2", "q1", "<script>alert(1)</script>", "Script & <b>", "größe 日本"),
]


@pytest.fixture
def session(tmp_path):
    path = tmp_path / "pairs.jsonl"
    names = ("topic_id", "query_id", "text", "title", "variant")
    path.write_text("".join(json.dumps(dict(zip(names, row, strict=True)) | {"label": []}) + "\n" for row in PAIRS))
    return Session.open(path)


@pytest.fixture
def client(session):
    return TestClient(make_app(session), base_url="http://127.0.0.1:8360", follow_redirects=False)


def test_a_person_labels_everything(client, session):
    assert client.post("/", data={"annotator": "anna"}).headers["location"] == "/by/anna"
    assert client.get("/by/anna").headers["location"] == "/by/anna/1"
    page = client.get("/by/anna/1").text
    assert "0 of 3 done" in page and "<mark>Bear</mark> attacks" in page
    answers = {"title": "specialization", "variant": "identical", "comment": "hm"}
    assert client.post("/by/anna/1", data=answers).headers["location"] == "/by/anna/2"
    assert client.post("/by/anna/2", data={"title": "different-topic"}).headers["location"] == "/by/anna/3"
    assert client.post("/by/anna/3", data={"title": "different-topic"}).headers["location"] == "/"
    assert client.get("/by/anna").headers["location"] == "/"
    assert "3 of 3" in client.get("/").text
    again = client.get("/by/anna/1").text
    assert re.search(r'value="specialization" data-key="3"\s+checked', again) and ">hm</textarea>" in again
    rows = [json.loads(line) for line in client.get("/labels/anna.jsonl").text.splitlines()]
    assert [row["label"] for row in rows] == [
        ["Title-Specialization", "Variant-Identical"],
        ["Different Topic"],
        ["Different Topic"],
    ]


def test_what_is_missing_is_asked_again_and_nothing_is_kept(client, session):
    page = client.post("/by/anna/1", data={"title": "identical", "comment": "kept on the page"})
    assert page.status_code == 422
    assert "an answer is missing: And to the nearest text of the topic?" in page.text
    assert "kept on the page" in page.text
    assert session.store.annotators() == ()


def test_the_next_task_is_one_without_an_answer(client):
    client.post("/by/anna/2", data={"title": "identical"})
    assert client.post("/by/anna/3", data={"title": "different-topic"}).headers["location"] == "/by/anna/1"


def test_texts_are_never_markup(client):
    page = client.get("/by/anna/3").text
    assert "<script>alert" not in page and "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "<mark>Script</mark> &amp; &lt;b&gt;" in page and "größe 日本" in page


def test_other_sites_and_other_hosts_are_refused(client, session):
    headers = {"Origin": "http://evil.example"}
    assert client.post("/by/anna/2", data={"title": "identical"}, headers=headers).status_code == 403
    assert client.get("/", headers={"Host": "evil.example"}).status_code == 400
    assert session.store.annotators() == ()
    own = {"Origin": "http://127.0.0.1:8360"}
    assert client.post("/by/anna/2", data={"title": "identical"}, headers=own).status_code == 303


def test_pages_load_nothing_from_elsewhere(client):
    for address in ("/", "/by/anna/1"):
        answer = client.get(address)
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        places = re.findall(r'(?:src|href|action)="([^"]+)"', answer.text)
        assert places and all(place.startswith(("/", "data:")) for place in places)
        for place in places:
            if place.startswith("/static/"):
                assert client.get(place).status_code == 200


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("/by/anna/4", "there is no task 4; there are 3"),
        ("/by/..%20x/1", "should be letters"),
        ("/labels/nobody.jsonl", "nobody called nobody has answered anything yet"),
    ],
)
def test_wrong_addresses_are_told_in_words(client, address, message):
    answer = client.get(address)
    assert answer.status_code == 400
    assert message in answer.text


def test_a_name_that_cannot_be_a_files(client):
    answer = client.post("/", data={"annotator": "../etc"})
    assert (answer.status_code, "letters, digits" in answer.text) == (400, True)


def test_labels_in_a_format_that_there_is_not(client):
    client.post("/by/anna/2", data={"title": "identical"})
    assert "labels are written as .jsonl, .json, .csv" in client.get("/labels/anna.xml").text


def test_a_form_that_is_far_too_long(client, session):
    answer = client.post("/by/anna/2", data={"title": "identical", "comment": "x" * 200_000})
    assert (answer.status_code, session.store.annotators()) == (400, ())
