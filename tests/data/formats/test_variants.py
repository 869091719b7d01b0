from pathlib import Path

import pytest

from ringtrue.data.formats.trec import read_topics
from ringtrue.data.formats.variants import Variant, read_variants, with_variants
from ringtrue.data.notes import Notes
from ringtrue.data.records import Query
from ringtrue.errors import FormatError


@pytest.mark.parametrize(
    "text",
    [
        "301-1-1;red wine\n301-2-1;wine; red\nwt-9-u1-2;sky\n",
        "301\tred wine\n301\twine; red\nwt-9\tsky\n",
        "query_id\tvariant\n301\tred wine\n\n301\twine; red\nwt-9\tsky\n",
    ],
)
def test_both_formats(tmp_path: Path, text):
    path = tmp_path / "variants"
    path.write_text(text)
    assert read_variants(path, Notes()) == (
        Variant("301", "red wine"),
        Variant("301", "wine; red"),
        Variant("wt-9", "sky"),
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("301-1-1;a\nno variant\n", "line 2: neither .* nor"),
        ("301-1-1;\n", "line 1: neither"),
        ("\ta\n", "line 1: neither"),
        ("\n\n", "no query variants"),
    ],
)
def test_broken_variants(tmp_path: Path, text, message):
    path = tmp_path / "variants"
    path.write_text(text)
    with pytest.raises(FormatError, match=message):
        read_variants(path, Notes())


def test_variants_join_their_topics():
    notes = Notes()
    queries = (Query("1", "a", variants=("b",)), Query("2", "c"))
    variants = (Variant("1", "d"), Variant("9", "x"), Variant("1", "d"), Variant("9", "y"))
    assert with_variants(queries, variants, notes) == (Query("1", "a", variants=("b", "d", "d")), Query("2", "c"))
    (note,) = notes
    assert (note.times, note.first) == (2, "topic 9")


def test_real_variants(shared: Path):
    variants = read_variants(shared / "leakage/robust04-query-variants.txt", Notes())
    assert len(variants) == 3_151
    notes = Notes()
    queries = with_variants(read_topics(shared / "leakage/topics.robust04.txt", Notes()), variants, notes)
    assert not len(notes)
    assert sum(len(query.variants) for query in queries) == 3_151
    assert min(len(query.variants) for query in queries) >= 1
