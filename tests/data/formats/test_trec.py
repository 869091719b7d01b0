import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ringtrue.data.formats.checks import distinct_documents
from ringtrue.data.formats.trec import columns, read_documents, read_qrels, read_topics, write_qrels
from ringtrue.data.notes import Notes
from ringtrue.data.qrels import Qrels
from ringtrue.data.records import Document, Qrel, Query
from ringtrue.errors import FormatError

ROBUST = """
<top>

<num> Number: 301
<title> International Organized
Crime

<desc> Description:
Identify organizations &amp; R&D.

<narr> Narrative:
A relevant   document <4 mm.
</top>
<top>
<num> Number: 302 <title> Polio <desc> Description of it
<narr> Narrative
Over.
"""
CORE18 = """<top>
<num> Number: 321 </num>
<title>
Women in Parliaments
</title>
<desc> Description:
Pertinent documents.
</desc>
<narr> Narrative
Not <b>these</b> ones.
</narr>
</top>
"""
COVID = """<topics task="COVIDSearch 2020" batch="1">
  <topic number="1">
    <query>coronavirus origin</query>
    <question>what is the origin?</question>
    <narrative/>
  </topic>
</topics>
"""
WEB = """<?xml version="1.0"?><webtrack2009>
<topic number="1" type="faceted">
<query>obama family tree</query>
<description>
    Find information on <![CDATA[Obama's]]> family.<!-- a note -->
</description>
<subtopic number="1" type="nav">Find the photo essay.</subtopic>
<subtopic number="2" type="inf">Where did they come from?</subtopic>
</topic></webtrack2009>
"""
TREC1 = """<top>
<head> Tipster Topic Description
<num> Number:  051
<dom> Domain:  International Economics
<title> Topic:  Airbus Subsidies
<desc> Description:
Document will discuss subsidies.
</top>
"""
CLEF = "<TOP><NUM>C041</NUM><EN-title>Pesticides</EN-title><EN-desc>Find them.</EN-desc></TOP>"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "file"


def topics(file: Path, text: str | bytes, notes: Notes | None = None) -> tuple[Query, ...]:
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_topics(file, Notes() if notes is None else notes)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (CORE18, Query("321", "Women in Parliaments", "Pertinent documents.", "Not these ones.")),
        (COVID, Query("1", "coronavirus origin", "what is the origin?")),
        (WEB, Query("1", "obama family tree", "Find information on Obama's family.")),
        (TREC1, Query("051", "Airbus Subsidies", "Document will discuss subsidies.")),
        (CLEF, Query("C041", "Pesticides", "Find them.")),
        ("<topic number='7'>A patient of 40 years.</topic>", Query("7", "A patient of 40 years.")),
        (
            "<topic number=7><num>7</num><summary>short</summary><description>long</description>",
            Query("7", "short", "long"),
        ),
        (
            "<top>\r\n<num>1</num><title>\r\nNUMBER REPRESENTATION\r\n</title>\r\n</top>",
            Query("1", "NUMBER REPRESENTATION"),
        ),
    ],
    ids=["core18", "covid", "web", "trec1", "clef", "bare", "clinical", "vaswani"],
)
def test_dialects(file: Path, text, expected):
    assert topics(file, text) == (expected,)


def test_robust_dialect_without_end_tags(file: Path):
    assert topics(file, ROBUST) == (
        Query("301", "International Organized Crime", "Identify organizations & R&D.", "A relevant document <4 mm."),
        Query("302", "Polio", "Description of it", "Over."),
    )


def test_what_has_no_place_in_a_query_is_counted(file: Path):
    notes = Notes()
    topics(file, WEB + TREC1, notes)
    assert {note.what for note in notes} == {
        "topic fields <subtopic> left out",
        "topic fields <head> left out",
        "topic fields <dom> left out",
    }


def test_topics_without_a_title_keep_their_other_texts_and_are_counted(file: Path):
    notes = Notes()
    text = "<top><num>1<desc>Description: what is it\n</top>\n<top><num>2<title></top>\n"
    assert topics(file, text, notes) == (Query("1", "", "what is it"), Query("2", ""))
    assert [(note.what, note.times, note.first) for note in notes] == [
        ("queries without a title, with other texts", 1, f"{file}, line 1"),
        ("queries without any text", 1, f"{file}, line 3"),
    ]


def test_topics_that_are_not_utf8(file: Path):
    notes = Notes()
    (query,) = topics(file, b"<top><num>1<title> caf\xe9 society</top>", notes)
    assert query.title == "café society"
    assert [note.times for note in notes] == [1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<top><num>1<title>a</top>\n<top><num>1<title>b</top>", "line 2: query id '1' was used before, in line 1"),
        ("\n<top><title>a</top>", "line 2: a topic without a number"),
        (
            "<top><num>1</num><gene>BRCA</gene></top>",
            "line 1: topic '1' has no <title> or <query>; its fields: <num>, <gene>",
        ),
        ("<top><num>1<title>a\n<num>2<title>b</top>", r"two numbers in one topic \(1, 2\)"),
        ("<top><num>1</top>", "line 1: query '1' has no text"),
        ("<tops></tops>", "no <top> or <topic> in this file"),
    ],
)
def test_broken_topics(file: Path, text, message):
    with pytest.raises(FormatError, match=message):
        topics(file, text)


@pytest.mark.parametrize(
    ("path", "number", "fields"),
    [
        ("leakage/topics.robust04.txt", 250, 3),
        ("leakage/topics.core17.txt", 50, 3),
        ("leakage/topics.core18.txt", 50, 3),
        ("subsampling/trec-covid-round1/topics.xml", 30, 3),
        ("collections/vaswani/query-text.trec", 93, 1),
        ("collections/cranfield/cran.qry.xml", 225, 1),
    ],
)
def test_real_topics_come_out_whole_and_clean(shared: Path, path, number, fields):
    notes = Notes()
    found = read_topics(shared / path, notes)
    assert len(found) == number
    assert not len(notes)
    for query in found:
        texts = query[1:4]
        assert [bool(text) for text in texts] == [True] * fields + [False] * (3 - fields)
        for text in texts:
            assert not re.search(r"</?[a-z]+>|^\W*(Description|Narrative|Number|Topic)\b\s*:?", text), query
            assert text == " ".join(text.split())


def test_shared_topics_have_the_same_titles(shared: Path):
    robust = {query.query_id: query for query in read_topics(shared / "leakage/topics.robust04.txt", Notes())}
    for name, common in (("core17", 50), ("core18", 25)):
        found = [
            query for query in read_topics(shared / f"leakage/topics.{name}.txt", Notes()) if query.query_id in robust
        ]
        assert len(found) == common
        assert [query.title for query in found] == [robust[query.query_id].title for query in found]


def documents(file: Path, text: str, notes: Notes | None = None) -> list[tuple[int, Document]]:
    file.write_text(text)
    return list(read_documents(file, Notes() if notes is None else notes))


LATIMES = """<DOC>
<DOCNO> LA010189-0001 </DOCNO>
<DOCID> 1 </DOCID>
<DATE><P>January 1, 1989</P></DATE>
<HEADLINE>
<P>NEW WAR &amp; PEACE</P>
</HEADLINE>
<TEXT>
<P>First.</P><P>Second <!-- hidden --> <DATE>1989</DATE> third.</P>
</TEXT>
</DOC>
<DOC>
<DOCNO>FT911-3</DOCNO>
<HEADLINE>FT  14 MAY 91</HEADLINE>
<TEXT>
Only.
</TEXT>
</DOC>
"""


def test_documents_with_title_and_text(file: Path):
    notes = Notes()
    assert documents(file, LATIMES, notes) == [
        (1, Document("LA010189-0001", "First. Second 1989 third.", "NEW WAR & PEACE")),
        (12, Document("FT911-3", "Only.", "FT 14 MAY 91")),
    ]
    assert [(note.what, note.times) for note in notes] == [
        ("documents with more than title and text, the rest left out", 1)
    ]


def test_documents_without_fields_and_in_lower_case(file: Path):
    text = "<xml><doc><docno>1</docno>compact\nmemories</doc><DOC ><DOCNO>2</DOCNO><title>only</title>\n</DOC></xml>\n"
    assert documents(file, text) == [(1, Document("1", "compact memories")), (2, Document("2", "", "only"))]


def test_web_pages(file: Path):
    text = (
        "<DOC>\n<DOCNO>G1</DOCNO>\n<DOCHDR>\nhttp://a.b\n</DOCHDR>\n<html><head><title>Home</title>"
        "<script>if (a<b) {}</script></head><body>Wel<br/>come <a href='x'>here</a></body></html></DOC>"
    )
    assert documents(file, text) == [(1, Document("G1", "Wel come here", "Home"))]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<DOC><DOCNO>1</DOCNO>a</DOC>\n\n<DOC><DOCNO>2</DOCNO>cut", "line 3: what begins here has no </DOC>"),
        ("<DOC><DOCNO>1</DOCNO>a\n<DOC><DOCNO>2</DOCNO>b</DOC>", "line 1: .* this one has 2"),
        ("\n<DOC>no number</DOC>", "line 2: .* this one has 0"),
        ("stray words\n<DOC><DOCNO>1</DOCNO></DOC>", "line 1: text outside of <DOC>: 'stray words'"),
        ("just words", "line 1: what begins here has no </DOC>"),
    ],
)
def test_broken_documents(file: Path, text, message):
    with pytest.raises(FormatError, match=message):
        documents(file, text)


def test_documents_stream_over_blocks(file: Path):
    many = "".join(f"<DOC>\n<DOCNO>{number}</DOCNO>\n{'word ' * 30}\n</DOC>\n" for number in range(5000))
    found = documents(file, many)
    assert [document.doc_id for _, document in found] == [str(number) for number in range(5000)]
    assert found[-1][0] == 4 * 4999 + 1


@pytest.mark.parametrize(
    ("path", "number", "first"),
    [
        ("collections/vaswani/doc-text.trec", 11_429, "compact memories have flexible capacities"),
        ("collections/cranfield/cran.all.1400.xml", 1_400, "experimental investigation of the aerodynamics"),
    ],
)
def test_real_documents(shared: Path, path, number, first):
    notes = Notes()
    found = list(distinct_documents(read_documents(shared / path, notes), path, notes))
    assert len(found) == number
    assert found[0].text.startswith(first)
    assert not any(re.search(r"</?[a-z]+>", document.body) for document in found)
    assert all(bool(document.title) == ("cran" in path) or not document.text for document in found)


QRELS = "1 0 b 1\n1\t0.5\ta\t-2\n2  Q0  a  0 \r\n\n 2 0 no\u00a0break 3"


def test_qrels(file: Path):
    file.write_text(QRELS)
    notes = Notes()
    assert list(read_qrels(file, notes)) == [
        Qrel("1", "a", -2),
        Qrel("1", "b", 1),
        Qrel("2", "a", 0),
        Qrel("2", "no\u00a0break", 3),
    ]
    assert [(note.what, note.times) for note in notes] == [("blank lines skipped", 1)]


def test_repeated_judgments_are_counted(file: Path):
    file.write_text("1 0 a 1\n1 0 a 1\n1 0 b 0\n1 1 a 1\n")
    notes = Notes()
    assert len(read_qrels(file, notes)) == 2
    (note,) = notes
    assert (note.what, note.times) == ("repeated judgments counted once", 2)
    assert note.first.endswith("line 2")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 0 a 1\n2 0 b 1\n1 0 a 2\n", "line 3: topic '1', document 'a' is judged 2 here and 1 in line 1"),
        ("1 0 a 1\n1 a 1\n", "line 2: 3 columns where judgments have 4 .*needs a header line"),
        ("1 Q0 a 1 2.5 tag\n", "line 1: 6 columns .*a run"),
        ("1 0 a b 1\n", "line 1: 5 columns .*blanks inside ids"),
        ("1 0 a x\n", "line 1: the grade should be a whole number, not 'x'"),
        ("1 0 a 1.5\n", "not '1.5'"),
        ("1 0 a 1_0\n", "not '1_0'"),
        ("1 0 a 99999999999\n", "not '99999999999'"),
        ("1 0 a -\n", "not '-'"),
        ("\n \n", "no judgments in this file"),
    ],
)
def test_broken_qrels(file: Path, text, message):
    file.write_text(text)
    with pytest.raises(FormatError, match=message):
        read_qrels(file, Notes())


@pytest.mark.parametrize(
    ("path", "judgments", "topics_judged"),
    [
        ("leakage/qrels.core17.txt", 30_030, 50),
        ("leakage/qrels.core18.txt", 26_233, 50),
        ("subsampling/trec-covid-round1/qrels.txt", 8_691, 30),
        ("collections/dl19-judged/qrels.dl19-passage.txt", 9_260, 43),
        ("collections/cranfield/cranqrel.trec.txt", 1_837, 225),
    ],
)
def test_real_qrels(shared: Path, path, judgments, topics_judged):
    notes = Notes()
    found = read_qrels(shared / path, notes)
    assert (len(found), len(found.topics), len(notes)) == (judgments, topics_judged, 0)


def test_columns_split_at_blanks_and_tabs_only():
    assert columns(" 1\t0  a\u00a0b\t 2 ") == ["1", "0", "a\u00a0b", "2"]
    assert columns("1 0 a 2") == ["1", "0", "a", "2"]


ids = st.text(st.characters(exclude_categories=["Z", "C"]), min_size=1, max_size=8).filter(
    lambda text: "\ufeff" not in text
)
grades = st.dictionaries(st.tuples(ids, ids), st.integers(-3, 5), min_size=1, max_size=20)


@settings(deadline=None)
@given(grades=grades)
def test_qrels_that_were_written_are_read_back(tmp_path_factory, grades):
    file = tmp_path_factory.mktemp("qrels") / "file"
    qrels = Qrels.from_records(Qrel(*pair, grade) for pair, grade in grades.items())
    write_qrels(file, qrels)
    assert list(read_qrels(file, Notes())) == list(qrels)
