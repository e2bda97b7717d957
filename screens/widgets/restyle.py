"""Cells of a row that stand out: the cursor, and what is marked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip


def restyled(strip: Strip, start: int, end: int, how: Callable[[Style], Style]) -> Strip:
    """The strip with the cells from ``start`` to before ``end`` in styles made of their own."""
    marked = Strip(
        [Segment(text, how(style or Style.null())) for text, style, _ in strip.crop(start, end)], end - start
    )
    return Strip.join([strip.crop(0, start), marked, strip.crop(end)])


def inverted(style: Style) -> Style:
    """Its colours the other way round."""
    return style + Style(reverse=not style.reverse)


def with_cursor(style: Style, shape: str) -> Style:
    """A cell that the cursor is drawn in, where the terminal's own can't be had."""
    return _CURSORS.get(shape.removeprefix("blinking "), inverted)(style)


_CURSORS: Final[Mapping[str, Callable[[Style], Style]]] = {
    "underline": lambda style: style + Style(underline=not style.underline),
    "bar": lambda style: style + Style(underline2=True),
}
"""A bar has no cell of its own; a double underline tells it from the rest."""
