"""Tables for a paper: booktabs, numbers with their column's digits, everything escaped.

Greek letters and common signs become commands, so that pdflatex takes them; other scripts need xelatex or lualatex.
A table that no page could hold becomes a longtable.
"""

from __future__ import annotations

from ringtrue.audit import Cell, Table
from ringtrue.report.cells import cell_text, numeric_columns

_PAGE = 50
_GREEK = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi . pi rho . "
    "sigma tau upsilon phi chi psi omega"
)
_MARKS = {"▲": r"$\blacktriangle$", "▼": r"$\blacktriangledown$"}
_ESCAPES = str.maketrans(
    {
        "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "%": r"\%", "#": r"\#", "_": r"\_",
        "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
        "|": r"\textbar{}", "`": r"\textasciigrave{}", "[": "{[}", "]": "{]}", "*": "{*}",
        "\N{MINUS SIGN}": "$-$", "\N{EN DASH}": "--", "—": "---", "…": r"\dots{}", "∞": r"$\infty$",
        "\N{MULTIPLICATION SIGN}": r"$\times$",
        "±": r"$\pm$", "≤": r"$\leq$", "≥": r"$\geq$", "≠": r"$\neq$", "≈": r"$\approx$", "→": r"$\rightarrow$",
        "†": r"$\dagger$", "⇅": r"$\uparrow\downarrow$", "Δ": r"$\Delta$", "√": r"$\surd$", "·": r"$\cdot$", **_MARKS,
        **{chr(0x3B1 + place): rf"$\{name}$" for place, name in enumerate(_GREEK.split()) if name != "."},
    }
)  # fmt: skip


def as_latex(table: Table, label: str | None = None) -> str:
    """A table as LaTeX source; `label` is `tab:` and the table's name unless given."""
    numeric = numeric_columns(table)
    shape = "".join("r" if number else "l" for number in numeric)
    caption = rf"\caption{{{escape(_caption(table))}}}\label{{{label or _label(table.name)}}}"
    head = " & ".join(escape(column.header) for column in table.columns) + r" \\"
    rows = [_row(table, row, numeric) for row in table.rows]
    lines = _long(shape, caption, head, rows) if len(rows) > _PAGE else _short(shape, caption, head, rows)
    return "\n".join((_packages(lines), *lines)) + "\n"


def escape(text: str) -> str:
    """Text that LaTeX prints as it stands, on one line."""
    printable = "".join(character for character in " ".join(text.split()) if character.isprintable())
    return printable.replace("--", "-\0-").translate(_ESCAPES).replace("\0", "{}")


def _short(shape: str, caption: str, head: str, rows: list[str]) -> list[str]:
    """A table that floats."""
    return [
        r"\begin{table}", r"\centering", caption, rf"\begin{{tabular}}{{{shape}}}",
        r"\toprule", head, r"\midrule", *rows, r"\bottomrule",
        r"\end{tabular}", r"\end{table}",
    ]  # fmt: skip


def _long(shape: str, caption: str, head: str, rows: list[str]) -> list[str]:
    """A table that runs over pages and repeats its head."""
    return [
        rf"\begin{{longtable}}{{{shape}}}", caption + r" \\",
        r"\toprule", head, r"\midrule", r"\endfirsthead",
        r"\toprule", head, r"\midrule", r"\endhead",
        r"\bottomrule", r"\endfoot",
        *rows, r"\end{longtable}",
    ]  # fmt: skip


def _packages(lines: list[str]) -> str:
    """What the document's preamble must load for these lines."""
    marked = any(mark in line for line in lines for mark in _MARKS.values())
    needed = (("amssymb", marked), ("booktabs", True), ("longtable", r"\endhead" in lines))
    return rf"% \usepackage{{{','.join(name for name, needs in needed if needs)}}}"


def _row(table: Table, row: tuple[Cell, ...], numeric: tuple[bool, ...]) -> str:
    """A row; numbers get a true minus sign."""
    cells = []
    for cell, column, number in zip(row, table.columns, numeric, strict=True):
        text = escape(cell_text(cell, column))
        cells.append(f"$-${text[1:]}" if number and text.startswith("-") and text != "--" else text)
    return " & ".join(cells) + r" \\"


def _caption(table: Table) -> str:
    """Title and note in one."""
    return f"{table.title}. {table.note}" if table.note else table.title


def _label(name: str) -> str:
    """A label of letters, digits and hyphens: it is not text and cannot be escaped."""
    return "tab:" + "".join(character if character.isascii() and character.isalnum() else "-" for character in name)
