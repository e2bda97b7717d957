"""A table with a cursor: its head stands still, its rows scroll, and only the visible ones are drawn.

Columns are as wide as what is in them. Where they don't fit, the least important ones are left out, and last of all the
one that grows is cut.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from rich.cells import cell_len
from textual import events
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from screens.widgets.spans import Span, clip, line
from screens.widgets.toned import Toned

GAP: Final = 2
"""Cells between two columns."""
LEAST: Final = 12
"""Cells that the growing column keeps as long as another can be left out."""


class Heading(NamedTuple):
    """A column: what stands above it, and how long it stays while the table gets narrower."""

    title: str
    rank: int = 0
    """0 is never left out; of the others the highest goes first."""
    grows: bool = False
    """Takes what room is left."""


class Line(NamedTuple):
    """A row: what it is about, and one cell a column."""

    key: str
    cells: tuple[Span, ...]


class Rows(Toned, ScrollView, can_focus=True, inherit_bindings=False):
    """The cursor stays on its row's key, wherever that moves."""

    @dataclass
    class Chosen(Message):
        """The cursor is on another row."""

        rows: Rows

        @property
        def control(self) -> Rows:
            return self.rows

    @dataclass
    class Opened(Message):
        """A row was clicked that had the cursor already."""

        rows: Rows

        @property
        def control(self) -> Rows:
            return self.rows

    def __init__(self, headings: Sequence[Heading], *, id: str, nothing: str = "") -> None:  # noqa: A002
        """``nothing`` is said where there is no row."""
        super().__init__(id=id)
        self.cursor = 0
        self._headings = headings
        self._nothing = nothing
        self._lines: Sequence[Line] = ()
        self._widths: list[int] = []
        self._for = -1
        """The width that the columns were laid out for."""

    @property
    def key(self) -> str:
        """Whose row the cursor is on; empty where there is none."""
        return self._lines[self.cursor].key if self._lines else ""

    @property
    def count(self) -> int:
        """How many rows there are."""
        return len(self._lines)

    def show(self, lines: Sequence[Line], nothing: str | None = None) -> None:
        """Take new rows."""
        key = self.key
        grown = len(lines) != len(self._lines)
        self._lines, self._for = lines, -1
        self._nothing = self._nothing if nothing is None else nothing
        keys = [each.key for each in lines]
        self.cursor = keys.index(key) if key in keys else max(min(self.cursor, len(keys) - 1), 0)
        self.virtual_size = Size(self.size.width, max(len(lines), 1) + 1)
        self._reveal()
        self.refresh(layout=grown)

    def find(self, key: str) -> None:
        """Put the cursor on a row."""
        found = next((at for at, each in enumerate(self._lines) if each.key == key), None)
        if found is not None:
            self.go(found)

    def go(self, place: int) -> bool:
        """Put the cursor on a row by number, as near as there is one; whether it moved."""
        place = max(min(place, len(self._lines) - 1), 0)
        if place == self.cursor or not self._lines:
            return False
        self.cursor = place
        self._reveal()
        self.refresh()
        self.post_message(self.Chosen(self))
        return True

    def page(self, step: int) -> None:
        """Go a page."""
        self.go(self.cursor + step * max(self.size.height - 2, 1))

    def edge(self, step: int) -> None:
        """Go to the first or the last row."""
        self.go(0 if step < 0 else len(self._lines) - 1)

    def forget_styles(self) -> None:
        super().forget_styles()
        self._for = -1

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        if width != self._for:
            self._widths, self._for = self._fit(width - 2), width
        if y == 0:
            titles = tuple(Span(heading.title, "soft") for heading in self._headings)
            return line([Span(" "), *self._placed(titles)], [], width, self.style_of("column"))
        index = y - 1 + self.scroll_offset.y
        if not self._lines and y == 1:
            return line([Span(f" {self._nothing}", "soft")], [], width, self.style_of("column"))
        if index >= len(self._lines):
            return self.blank(width, "column")
        chosen = index == self.cursor
        ground = "cursor" if chosen and self.has_class("-active") else "column"
        bar = Span("▌" if chosen else " ", "accent" if self.has_class("-active") else "soft")
        return line([bar, *self._placed(self._lines[index].cells)], [], width, self.style_of(ground))

    def on_click(self, event: events.Click) -> None:
        index = event.y - self.gutter.top - 1 + self.scroll_offset.y
        if event.y - self.gutter.top < 1 or not 0 <= index < len(self._lines):
            return
        if index == self.cursor and self.has_class("-active"):
            self.post_message(self.Opened(self))
        elif not self.go(index):
            self.post_message(self.Chosen(self))

    def _reveal(self) -> None:
        seen = self.size.height - 1
        top = int(self.scroll_offset.y)
        if seen > 0 and not top <= self.cursor < top + seen:
            y = self.cursor if self.cursor < top else self.cursor - seen + 1
            self.scroll_to(y=y, animate=False, immediate=True, force=True)

    def _placed(self, cells: Sequence[Span]) -> list[Span]:
        """The cells that have room, each filled up to its column."""
        placed = []
        last = max((at for at, width in enumerate(self._widths) if width), default=0)
        for at, (cell, width) in enumerate(zip(cells, self._widths, strict=True)):
            if width:
                text = clip(cell.text, width)
                gap = GAP if at < last else 0
                placed.append(cell._replace(text=text + " " * (width - cell_len(text) + gap)))
        return placed

    def _fit(self, room: int) -> list[int]:
        """How wide each column is; 0 for one that is left out."""
        widths = [
            max([len(heading.title), *(cell_len(each.cells[at].text) for each in self._lines)])
            for at, heading in enumerate(self._headings)
        ]
        empty = [all(not each.cells[at].text for each in self._lines) for at in range(len(widths))]
        widths = [0 if empty[at] and self._lines else width for at, width in enumerate(widths)]
        for at in sorted(range(len(widths)), key=lambda at: -self._headings[at].rank):
            if self._needed(widths) <= room or not self._headings[at].rank:
                break
            widths[at] = 0
        grows = next((at for at, heading in enumerate(self._headings) if heading.grows and widths[at]), None)
        if grows is not None:
            others = sum(width + GAP for at, width in enumerate(widths) if width and at != grows)
            widths[grows] = max(room - others, 1)
        return widths

    def _needed(self, widths: Sequence[int]) -> int:
        """Cells that these columns take at the least."""
        least = [min(width, LEAST) if self._headings[at].grows else width for at, width in enumerate(widths)]
        return sum(width + GAP for width in least if width) - GAP
