from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ringtrue.data.qrels import Qrels
from ringtrue.data.records import Document, Qrel
from ringtrue.data.runs import Run, RunSet
from ringtrue.errors import FormatError, InputError
from ringtrue.subsampling.campaign import Campaign
from ringtrue.subsampling.sizes import (
    BudgetPool,
    Size,
    bytes_of_each,
    deepest_pool,
    document_bytes,
    measure_sample,
    pool_curve,
    read_sizes,
)


def campaign(runs: int = 5, topics: int = 3, depth: int = 40, seed: int = 3) -> Campaign:
    rng = np.random.default_rng(seed)
    made = [
        Run.from_results(
            f"r{run}",
            {
                str(topic): [(f"d{doc}", float(depth - rank)) for rank, doc in enumerate(rng.permutation(90)[:depth])]
                for topic in range(topics)
            },
        )
        for run in range(runs)
    ]
    qrels = Qrels.from_records(Qrel(str(topic), "d1", 1) for topic in range(topics))
    return Campaign.from_runs(RunSet.from_runs(made), qrels, [f"g{run}" for run in range(runs)])


def test_bytes_are_counted_in_utf8():
    assert document_bytes(Document("1", "café", "é")) == len("é café".encode()) == 8
    documents = [Document("1", "abc"), Document("2", "défg"), Document("3", "x")]
    assert measure_sample(documents, {"1", "2", "nowhere"}) == Size(2, 8, estimated=False)


def test_an_estimate_says_so_and_stays_one_in_sums():
    estimate = Size.estimate(10, 2.5)
    assert (estimate.bytes, estimate.estimated, estimate.bytes_per_doc) == (25.0, True, 2.5)
    assert Size(2, 8) + estimate == Size(12, 33.0, estimated=True)
    assert Size(2, 8) + Size(1, 4) == Size(3, 12, estimated=False)
    assert Size(2, 8) + Size(1) == Size(3, None)
    assert Size(3).megabytes is None
    assert Size(1, 3e6).megabytes == 3.0


def test_the_curve_is_the_size_of_every_pool():
    one = campaign()
    curve = pool_curve(one)
    assert curve[0] == 0
    assert curve[1:].tolist() == [one.without().pooled(depth).sum() for depth in range(1, 41)]


@pytest.mark.parametrize("most", [14, 15, 40, 77, 89, 90, 1000])
def test_the_deepest_pool_of_documents(most):
    one = campaign()
    found = deepest_pool(one, max_docs=most)
    assert found.size.documents == one.without().pooled(found.depth).sum() <= most
    assert found.depth == 40 or one.without().pooled(found.depth + 1).sum() > most
    assert found.size.bytes is None


def test_the_deepest_pool_of_bytes():
    one = campaign()
    mean = deepest_pool(one, max_bytes=500, bytes_per_doc=10)
    assert mean == BudgetPool(deepest_pool(one, max_docs=50).depth, mean.size)
    assert mean.size.estimated
    each = {doc: 7 + place for place, doc in enumerate(one.runs.docs)}
    found = deepest_pool(one, max_bytes=3000, bytes_per_doc=each)
    chosen = [doc for doc, kept in zip(one.runs.docs, one.without().pooled(found.depth), strict=True) if kept]
    more = [doc for doc, kept in zip(one.runs.docs, one.without().pooled(found.depth + 1), strict=True) if kept]
    assert found.size == Size(len(chosen), sum(each[doc] for doc in chosen), estimated=False)
    assert sum(each[doc] for doc in chosen) <= 3000 < sum(each[doc] for doc in more)


def test_both_budgets_hold():
    one = campaign()
    docs, volume = deepest_pool(one, max_docs=60).depth, deepest_pool(one, max_bytes=450, bytes_per_doc=10).depth
    assert deepest_pool(one, max_docs=60, max_bytes=450, bytes_per_doc=10).depth == min(docs, volume)


def test_budgets_that_cannot_be_met():
    one = campaign()
    with pytest.raises(InputError, match="no budget"):
        deepest_pool(one)
    with pytest.raises(InputError, match="needs the bytes"):
        deepest_pool(one, max_bytes=10)
    with pytest.raises(InputError, match=r"at depth 1 it has \d+ documents; allow as much, or .* loft:100\."):
        deepest_pool(one, max_docs=1)
    with pytest.raises(InputError, match=r"documents and \d+ bytes"):
        deepest_pool(one, max_bytes=1, bytes_per_doc=5)
    with pytest.raises(InputError, match="not known, as of 'd"):
        deepest_pool(one, max_bytes=1000, bytes_per_doc={"d1": 3})


def test_documents_that_the_corpus_lacks_take_no_bytes_and_are_noted():
    one = campaign()
    texts = {doc: "x" * (3 + place) for place, doc in enumerate(one.runs.docs)}
    documents = [Document(doc, text) for doc, text in texts.items()]
    sizes = bytes_of_each(one, iter((*documents[2:], Document("elsewhere", "y"))))
    assert sizes == {doc: 0 if place < 2 else 3 + place for place, doc in enumerate(one.runs.docs)}
    ((_, times, first),) = one.notes
    assert (times, first) == (2, one.runs.docs[0])
    with pytest.raises(InputError, match=r"none of the \d+ documents of the runs, as 'd.*--bytes-per-doc"):
        bytes_of_each(one, [Document("elsewhere", "y")])


def test_a_real_campaign(shared: Path):
    folder = shared / "subsampling" / "trec-covid-round1"
    from ringtrue.data.formats.detect import read_qrels
    from ringtrue.data.runs import run_files

    runs = RunSet.read(run_files(folder / "runs"))
    one = Campaign.from_runs(runs, read_qrels(folder / "qrels.txt"), ["g"] * len(runs))
    found = deepest_pool(one, max_docs=20_000)
    pools = [int(one.without().pooled(depth).sum()) for depth in (found.depth, found.depth + 1)]
    assert pools[0] == found.size.documents <= 20_000 < pools[1]


def test_the_sizes_of_the_study(shared: Path):
    sizes = read_sizes(shared / "subsampling" / "paper" / "dataset-sizes.json")
    assert len(sizes) == 9 * 8
    measured = {one.campaign.rpartition("/")[2] for one in sizes if not one.size.estimated}
    assert measured == {"judged", "trec-robust-2004", "trec-web-2012", "trec-web-2014"}
    pools = [one.size for one in sizes if one.campaign.startswith("clueweb09") and one.sampler == "top-100-run-pool"]
    whole = sum(pools, Size(0, 0))
    assert whole.megabytes is not None
    assert round(whole.megabytes, 1) == 907.2
    assert (whole.documents / 4, round(whole.megabytes / 4, 1), whole.estimated) == (77013, 226.8, True)


def test_broken_sizes(tmp_path: Path):
    path = tmp_path / "sizes.json"
    for text in ('{"a": 1}', "nothing", '{"a": {"b": {"documents": 1}}}'):
        path.write_text(text)
        with pytest.raises(FormatError, match="not sizes"):
            read_sizes(path)
