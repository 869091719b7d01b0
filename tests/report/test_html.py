from __future__ import annotations

import base64
import hashlib
import re
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise

import pytest

from ringtrue.audit import Column, Table, Verdict
from ringtrue.report.html import LONG, as_html

VOID = {"meta", "link", "br", "hr", "img", "input"}


class Strict(HTMLParser):
    """Reads a page and complains about what is not closed, not known or named twice."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.open, self.elements, self.texts = [], [], []

    def handle_starttag(self, tag, attrs):
        names = [name for name, _ in attrs]
        assert len(set(names)) == len(names), f"{tag} has an attribute twice: {names}"
        self.elements.append((tag, dict(attrs), tuple(self.open)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        assert "svg" in self.open, f"<{tag}/> outside of a drawing"
        self.elements.append((tag, dict(attrs), tuple(self.open)))

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, f"</{tag}> closes {self.open[-3:]}"
        self.open.pop()

    def handle_data(self, data):
        self.texts.append((self.open[-1] if self.open else "", data))

    def all(self, tag):
        return [attributes for name, attributes, _ in self.elements if name == tag]


def read(page):
    parser = Strict()
    parser.feed(page)
    parser.close()
    assert parser.open == []
    return parser


@pytest.fixture(scope="module")
def page(audits):
    return as_html(audits, title="All <questions>", linked=True)


def test_page_is_well_formed(page):
    parser = read(page)
    assert page.startswith('<!doctype html>\n<html lang="en">')
    assert parser.all("h1") and len(parser.all("h1")) == 1
    assert len(parser.all("main")) == 1


def test_ids_are_unique_and_links_lead_somewhere(page):
    parser = read(page)
    ids = Counter(found["id"] for _, found, _ in parser.elements if "id" in found)
    assert max(ids.values()) == 1
    for link in parser.all("a"):
        if link["href"].startswith("#"):
            assert link["href"][1:] in ids
    for _, found, _ in parser.elements:
        for name in found.get("aria-labelledby", "").split():
            assert name in ids


def test_nothing_is_loaded(page):
    parser = read(page)
    assert not re.search(r"https?:|//[a-z]|@import|url\(", page)
    assert not any("src" in found or "srcset" in found for _, found, _ in parser.elements)
    assert [link["href"] for link in parser.all("link")] == ["data:,"]
    policy = next(meta["content"] for meta in parser.all("meta") if meta.get("http-equiv"))
    assert policy.startswith("default-src 'none';")


def test_policy_allows_the_one_script(page):
    parser = read(page)
    scripts = [text for tag, text in parser.texts if tag == "script"]
    digest = base64.b64encode(hashlib.sha256("".join(scripts).encode()).digest()).decode()
    assert len(parser.all("script")) == 1
    assert f"script-src 'sha256-{digest}'" in page.replace("&#39;", "'")


def test_hostile_text_stays_text(page):
    parser = read(page)
    assert page.count("<script") == 1
    assert "\x00" not in page
    assert sum("<script>alert('x')</script>" in text for _, text in parser.texts) > 20
    assert not any(name.startswith("on") for _, found, _ in parser.elements for name in found)


def test_headings_do_not_skip(page):
    levels = [int(tag[1]) for tag, _, _ in read(page).elements if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert all(b <= a + 1 for a, b in pairwise(levels))


def test_tables_are_announced(page):
    parser = read(page)
    assert parser.all("table")
    assert len(parser.all("caption")) == len(parser.all("table"))
    assert all(head["scope"] == "col" for head in parser.all("th"))
    for tag, found, _ in parser.elements:
        if found.get("class", "").split()[:1] == ["scroll"]:
            assert found["tabindex"] == "0" and found["role"] == "region" and found["aria-label"], tag


def test_long_tables_are_folded_and_whole(audits):
    page = as_html(audits[:1])
    rows = next(part for part in audits[0].sections() if part.name == "candidates").rows
    assert len(rows) > LONG
    assert "Show all 150 rows" in page
    assert all(f">{row[3]}</td>" in page for row in rows)


def test_short_tables_are_not_folded(audits):
    table = Table("t", "T", (Column("a", "A"),), tuple((place,) for place in range(LONG)))
    page = as_html([replace(audits[0], parts=(table,))])
    assert page.count("<tr>") == LONG + 1
    assert 'class="long"' not in page


def test_cells(audits):
    columns = (Column("a", "A", 2, "help for A"), Column("b", "B"), Column("c", "C"))
    table = Table("t", "T", columns, ((-0.5, "x", Verdict.WARN), (None, "", True)), "the note")
    page = as_html([replace(audits[0], parts=(table,))])
    assert '<td class="n" data-v="-0.5">\N{MINUS SIGN}0.50</td>' in page
    assert '<td class="n none">\N{EN DASH}</td>' in page
    assert '<td class="verdict warn">WARN</td>' in page
    assert "<td>yes</td>" in page
    assert '<th scope="col" class="n" title="help for A">A</th>' in page
    assert "<dt>A</dt><dd>help for A</dd>" in page
    assert "the note" in page


def test_overview_names_each_question_with_its_verdict(page, audits):
    assert "<title>FAIL: All &lt;questions&gt;</title>" in page
    assert "Findings: 2 fail, 2 warn, 1 unknown, 4 pass." in page
    for audit in audits[:3]:
        assert f'<a href="#{audit.name}"' in page
        assert f'<article id="{audit.name}"' in page


def test_finding(page):
    assert '<span class="value">0.277</span> <span class="interval">95 % interval 0.222 to 0.337, Wilson</span>' in page
    assert "69 of 249 topics have at least one near copy" in page
    assert "FAIL where more than 5 % of the topics" in page
    assert '<span class="value">\N{MINUS SIGN}0.0041</span>' in page


def test_links_to_files_only_where_they_are(page, audits):
    assert 'href="leakage-candidates.csv"' in page
    assert 'href="subsampling-scores.svg"' in page
    assert ".csv" not in as_html(audits)


def test_provenance(page):
    assert "ringtrue 0.1.0, Python 3.11.7, ir_measures 0.4.3, numpy 2.4.6" in page
    assert "<code>Pool(depth=100, topic_free=False)</code>" in page
    assert "<span>threshold <code>0.91</code></span>" in page


def test_same_bytes(page, audits):
    assert as_html(audits, title="All <questions>", linked=True) == page


def test_no_audits_and_no_findings(audits):
    assert "UNKNOWN" in as_html([])
    read(as_html([]))
    bare = replace(audits[0], findings=(), parts=())
    assert "No rule was applied" in as_html([bare])
    read(as_html([bare]))
