from __future__ import annotations

from ringtrue.data.notes import Notes, notes_tables


def test_notes_are_a_table_and_clean_input_is_none():
    notes = Notes()
    assert notes_tables(notes) == ()
    notes.add("blank lines skipped", "a.tsv line 3")
    notes.add("blank lines skipped", "b.tsv line 1", 2)
    (table,) = notes_tables(notes, "Left out")
    assert (table.name, table.title) == ("tolerated", "Left out")
    assert table.rows == (("blank lines skipped", 3, "a.tsv line 3"),)
