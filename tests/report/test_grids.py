from __future__ import annotations

import io
import itertools

import pytest
from rich.console import Console

from ringtrue.audit import Column, Table
from ringtrue.report.cells import cell_text
from ringtrue.report.grids import grids


def blocks(table: Table, width: int) -> list[list[str]]:
    """The lines of each block, the rule below the head left out."""
    texts = [[cell_text(cell, column) for cell, column in zip(row, table.columns, strict=True)] for row in table.rows]
    printed = []
    for grid in grids(table, texts, width):
        file = io.StringIO()
        Console(file=file, width=width).print(grid)
        printed.append([line.rstrip() for line in file.getvalue().splitlines() if "─" not in line])
    return printed


def table(*keys: str, numbers: int = 8) -> Table:
    """Rows that differ only in all keys together, each of which has two values."""
    columns = [*(Column(key, key) for key in keys), *(Column(f"m{n}", f"Measure{n}", 4) for n in range(numbers))]
    values = itertools.product(*([f"{key}-{side}" for side in "ab"] for key in keys))
    rows = tuple((*names, *([place / 3] * numbers)) for place, names in enumerate(values))
    return Table("t", "T", tuple(columns), rows)


def test_a_table_that_fits_is_one_block():
    assert len(blocks(table("run"), 200)) == 1


@pytest.mark.parametrize(("keys", "width"), [(("run",), 50), (("category", "method"), 70), (("a", "b", "c"), 50)])
def test_every_block_repeats_the_columns_that_tell_rows_apart(keys, width):
    found = blocks(table(*keys), width)
    assert len(found) > 1
    names = [[line.split()[: len(keys)] for line in block] for block in found]
    assert all(block == names[0] for block in names)
    assert [header for block in found for header in block[0].split()[len(keys) :]] == [f"Measure{n}" for n in range(8)]


def test_a_column_that_adds_nothing_is_not_repeated():
    columns = tuple(Column(name, name) for name in ("system", "measure", "category", "method"))
    rows = [(s, "nDCG@10", c, m) for s in "xy" for c, m in (("spelling", "A"), ("spelling", "B"), ("order", "C"))]
    some = table("q")
    wide = Table("t", "T", (*columns, *some.columns[1:]), tuple((*row, *some.rows[0][1:]) for row in rows))
    assert [block[0].split()[:2] for block in blocks(wide, 60)[1:]] == [["system", "method"]] * 2


def test_a_number_in_front_is_not_repeated_alone():
    some = table("run")
    ranked = Table(
        "t", "T", (Column("rank", "Rank"), *some.columns), tuple((n, *row) for n, row in enumerate(some.rows))
    )
    assert [block[0].split()[0] for block in blocks(ranked, 40)] == ["Rank", "run", "run"]


def test_keys_leave_room():
    found = blocks(table("category", "method", "a-very-long-name"), 60)
    assert len(found) > 1 and all(max(map(len, block)) <= 60 for block in found)
    assert all("category" in block[0] and "method" in block[0] for block in found)
    assert sum("a-very-long-name" in block[0] for block in found) == 1


def test_names_stay_whole_and_texts_fold():
    columns = (Column("run", "Run"), Column("text", "Text"), Column("m", "Measure", 4))
    rows = (("lantern_static_desc", "a text of many words " * 4, 0.5),)
    (block,) = blocks(Table("t", "T", columns, rows), 60)
    assert block[1].startswith("lantern_static_desc  a text") and len(block) > 2


def test_a_mark_stays_beside_its_column():
    columns = [Column("run", "Run")]
    for place in range(6):
        columns += [Column(f"m{place}", f"Measure{place}", 4), Column(f"m{place}_mark", "")]
    rows = tuple((f"run{row}", *([0.25, "▼"] * 6)) for row in range(2))
    for width in range(24, 60):
        for block in blocks(Table("t", "T", tuple(columns), rows), width):
            assert block[1].count("0.2500") == block[1].count("▼")
