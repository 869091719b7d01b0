"""Annotated pairs: the study's counts and agreement."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from ringtrue.audit import Verdict
from ringtrue.data.notes import Notes
from ringtrue.errors import FormatError, InputError
from ringtrue.robustness.annotations import agreement, is_development, read_annotations
from ringtrue.robustness.similarity import default_encoder
from ringtrue.robustness.taxonomy import Kind
from ringtrue.robustness.taxonomy_audit import audit_taxonomy

HEADER = (
    "id,UQV story,query 1,query 2,Generalization/Specialization,Aspect Change,Paraphrasing,Naturality,Word ordering\n"
)


def write(path: Path, rows: str, header: str = HEADER) -> Path:
    path.write_text(header + rows, encoding="utf-8")
    return path


def test_counts_and_kappa_of_the_study(shared: Path):
    people = [read_annotations(shared / "robustness" / f"uqv_annotation_{n}.csv", Notes()) for n in range(3)]
    found = agreement(people)
    stacked = {one.kind: (one.stacked, one.distinct) for one in found.kinds}
    assert stacked == {
        Kind.SPECIALISATION: (172, 149),
        Kind.ASPECT: (111, 102),
        Kind.NATURALITY: (118, 111),
        Kind.ORDERING: (37, 33),
        Kind.PARAPHRASING: (215, 200),
    }
    assert (found.rows, found.pairs, found.common, found.several, found.none) == (600, 550, 25, 56, 3)
    assert round(found.people, 4) == 0.4215
    kappas = {one.kind: round(one.people, 3) for one in found.kinds}
    assert kappas == {
        Kind.SPECIALISATION: 0.454,
        Kind.ASPECT: 0.506,
        Kind.NATURALITY: 0.320,
        Kind.ORDERING: 0.645,
        Kind.PARAPHRASING: 0.182,
    }
    assert round(sum(one.people_fleiss for one in found.kinds) / 5, 3) == 0.402


def test_rules_agree_with_people_on_pairs_they_were_not_made_on(shared: Path):
    encoder = default_encoder()
    if encoder is None:
        pytest.skip("the packages of the extra `neural` are not installed")
    people = [read_annotations(shared / "robustness" / f"uqv_annotation_{n}.csv", Notes()) for n in range(3)]
    audit = audit_taxonomy(people, encoder)
    assert audit.agreement.tested_pairs == 242
    assert audit.agreement.rules_tested_on > 0.28
    assert audit.agreement.rules_tested_on > agreement(people).rules_tested_on
    assert "0.4215 on 25 pairs" in audit.findings[0].seen
    table = audit.sections()[0]
    assert [row[1] for row in table.rows[:5]] == [172, 111, 118, 37, 215]


def test_one_person_alone_agrees_with_nobody(tmp_path):
    stories = [story for story in "abcdefgh" if not is_development(story)]
    rows = [f"{story},{story},red fox,fox red,FALSE,FALSE,FALSE,FALSE,TRUE\n" for story in stories]
    audit = audit_taxonomy([read_annotations(write(tmp_path / "a.csv", "".join(rows)), Notes())])
    assert math.isnan(audit.agreement.people) and audit.agreement.common == audit.agreement.tested_pairs > 0
    assert audit.findings[0].verdict is Verdict.UNKNOWN and "one person alone" in audit.findings[0].seen


@pytest.mark.parametrize(
    ("rows", "header", "message"),
    [
        ("1,s,a,b,TRUE,FALSE,FALSE,FALSE,perhaps\n", HEADER, "line 2: word ordering should be TRUE or FALSE"),
        ("1,s,a,b,TRUE,TRUE,TRUE,TRUE,TRUE\n" * 2, HEADER, "line 3: the pair '1' was annotated before"),
        ("1,a,b\n", "id,query 1,query 2\n", "line 2: no column 'generalization/specialization'"),
        ("", HEADER, "no annotated pairs"),
    ],
)
def test_what_is_broken_is_said_with_its_line(tmp_path, rows, header, message):
    with pytest.raises(FormatError, match=message):
        read_annotations(write(tmp_path / "a.csv", rows, header), Notes())


def test_no_annotations_at_all_are_an_error():
    with pytest.raises(InputError, match="no annotations"):
        agreement([])
