"""The few SVG elements that charts need, written the same way each time.

Without a browser the width of a text can only be estimated: the estimate is on the wide side, so that labels
which fit here fit everywhere.
"""

from __future__ import annotations

import html
import re
import unicodedata
from typing import NamedTuple

FONT = 12.0

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_WIDTHS = {
    **dict.fromkeys("ijl'|", 0.28),
    **dict.fromkeys("ftIr.,:;!/\\ ()[]-", 0.38),
    **dict.fromkeys("mMW@%—", 0.98),
    **dict.fromkeys("wABCDGHKNOQRUVXYÄÖÜ&", 0.8),
}


class Drawing(NamedTuple):
    """A finished body: its height, its elements, and how many points had no value to draw."""

    height: float
    body: tuple[str, ...]
    left_out: int = 0


def decimal(value: float) -> str:
    """A coordinate with two digits at most; never `-0`."""
    return f"{value:z.2f}".rstrip("0").rstrip(".")


def legal(text: str) -> str:
    """Text in which characters that XML and HTML forbid have become the replacement sign."""
    return _NOT_XML.sub("\ufffd", text)


def escape(text: str) -> str:
    """Text for an element or attribute."""
    return html.escape(legal(text))


def tag(name: str, *children: str, **attributes: str | float) -> str:
    """An element; `children` are finished markup, `class_` is written `class` and `_` inside a name as `-`."""
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escape(value) if isinstance(value, str) else decimal(value)}"'
        for key, value in attributes.items()
    )
    return f"<{name}{written}>{''.join(children)}</{name}>" if children else f"<{name}{written}/>"


def label(x: float, y: float, text: str, anchor: str = "start", class_: str = "t") -> str:
    """A text whose middle line is at `y`."""
    return tag("text", escape(text), x=x, y=y + FONT * 0.35, text_anchor=anchor, class_=class_)


def line(x1: float, y1: float, x2: float, y2: float, class_: str) -> str:
    """A straight line."""
    return tag("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=class_)


def tooltip(text: str) -> str:
    """What a browser shows when the pointer rests on the element around it."""
    return tag("title", escape(text))


def text_width(text: str, size: float = FONT) -> float:
    """About how wide a text will be."""
    return size * sum(_character_width(character) for character in text)


def clipped(text: str, width: float, size: float = FONT) -> str:
    """A text cut in its middle to fit: the ends of run names tell more than their middles."""
    if text_width(text, size) <= width:
        return text
    for kept in range(len(text) - 1, 1, -1):
        head = (kept + 1) // 2
        short = f"{text[:head]}…{text[len(text) - (kept - head) :]}"
        if text_width(short, size) <= width:
            return short
    return "…"


def _character_width(character: str) -> float:
    """A character's width as a part of the font's size."""
    if unicodedata.combining(character):
        return 0.0
    if unicodedata.east_asian_width(character) in "WF":
        return 1.05
    return _WIDTHS.get(character, 0.63)
