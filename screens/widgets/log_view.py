"""A raw log as lines of text: however many there are, only the visible ones are drawn; it follows its end.

What is looked for is marked where it stands; going from one to the next brings its line, and its column, into sight.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from rich.cells import cell_len, get_character_cell_size
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from screens.confine import confined
from screens.widgets.spans import Span, line
from screens.widgets.toned import Toned

MOST: Final = 100_000
"""Lines that are kept; of a longer log the first ones are let go."""
SPARE: Final = 5_000
"""Lines that may be too many before some are let go."""
PAN: Final = 20
"""Cells of one step to the side."""


class LogView(Toned, ScrollView, can_focus=False):
    """Lines are numbered from the first that came, whether or not it is still kept."""

    @dataclass
    class Moved(Message):
        """Other lines are seen now, or there are more of them."""

    def __init__(self, *, id: str) -> None:  # noqa: A002  the name Textual gives it
        super().__init__(id=id)
        self.following = True
        """Whether its end is kept in sight."""
        self.pan = 0
        """Cells that are hidden on the left."""
        self._lines: list[str] = []
        self._gone = 0
        """Lines that were let go."""
        self.rest = ""
        """The last line, which nothing has ended yet."""
        self._pattern: re.Pattern[str] | None = None
        self._at = -1
        """The line whose find is the present one."""
        self._says: Sequence[str] = ()

    @property
    def count(self) -> int:
        """How many lines there are, the unfinished one among them."""
        return self._gone + len(self._lines) + bool(self.rest)

    @property
    def gone(self) -> int:
        """Lines that were let go, because there are too many."""
        return self._gone

    @property
    def seen(self) -> tuple[int, int]:
        """Numbers of the first and the last line in the window, from 1 on."""
        first = self._gone + int(self.scroll_offset.y)
        return first + 1, min(first + self.size.height, self.count)

    @property
    def lines(self) -> list[str]:
        """Those that are kept; for a search on another thread, which goes on while more come."""
        return self._lines

    def add(self, lines: Sequence[str], rest: str) -> None:
        """Take more."""
        self._lines += lines
        self.rest = rest
        lost = len(self._lines) - MOST if len(self._lines) > MOST + SPARE else 0
        if lost:
            self._lines = self._lines[lost:]  # a new list: a search may be under way in the old one
            self._gone += lost
        self._measure()
        if self.following:
            self._to(self.count)
        elif lost:
            self._to(self.scroll_offset.y - lost)
        self.refresh()
        self.post_message(self.Moved())

    def say(self, *sentences: str) -> None:
        """What stands there while there are no lines."""
        self._says = sentences
        self.refresh()

    def clear(self) -> None:
        """Forget every line."""
        self._lines, self.rest, self._gone, self._at, self.pan = [], "", 0, -1, 0
        self.following = True
        self._measure()
        self.refresh()

    def mark(self, pattern: re.Pattern[str] | None) -> None:
        """Mark what matches wherever it stands; None marks nothing."""
        self._pattern, self._at = pattern, -1
        self.refresh()

    def show(self, number: int) -> None:
        """Bring the line of this number into sight, and what is marked in it; 0 is the first that came."""
        self._at, self.following = number, False
        self._reveal(number - self._gone)
        self.refresh()
        self.post_message(self.Moved())

    def go(self, lines: int) -> None:
        """Scroll down, or up; at its end it follows again."""
        self._to(self.scroll_offset.y + lines)
        self.following = self.scroll_offset.y >= self.max_scroll_y
        self.post_message(self.Moved())

    def aside(self, step: int) -> None:
        """Show what is further to the right, or to the left."""
        top = int(self.scroll_offset.y)
        widest = max((cell_len(text) for text in self._lines[top : top + self.size.height]), default=0)
        self.pan = max(min(self.pan + step * PAN, widest - PAN), 0)
        self.refresh()
        self.post_message(self.Moved())

    def on_resize(self) -> None:
        self._measure()
        if self.following:
            self._to(self.count)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        if round(old_value) != round(new_value):
            self.following = new_value >= self.max_scroll_y
            self.post_message(self.Moved())

    def render_line(self, y: int) -> Strip:
        width, index = self.scrollable_content_region.width, y + int(self.scroll_offset.y)
        style_of = self.style_of("column")
        if not self._lines and not self.rest:
            said = self._says[y - 1] if 0 < y <= len(self._says) else ""
            return line([Span(f"  {said}", "soft")], [], width, style_of)
        if index > len(self._lines) or (index == len(self._lines) and not self.rest):
            return self.blank(width, "column")
        text = self._lines[index] if index < len(self._lines) else self.rest
        present = self._gone + index == self._at
        edge = Span("▌", "accent") if present else Span("‹" if self.pan else " ", "soft")
        return line([edge, *self._marked(_shown(text, self.pan, width), present)], [], width, style_of)

    def _marked(self, text: str, present: bool) -> Iterator[Span]:
        past = 0
        for match in self._pattern.finditer(text) if self._pattern else ():
            yield Span(text[past : match.start()])
            yield Span(match[0], "on-accent" if present else "waiting", True, ground="accent" if present else "cursor")
            past = match.end()
        yield Span(text[past:])

    def _reveal(self, row: int) -> None:
        height, room = max(self.size.height, 1), self.scrollable_content_region.width - 2
        if not self.scroll_offset.y <= row < self.scroll_offset.y + height:
            self._to(row - height // 2)
        match = self._pattern.search(self._lines[row]) if self._pattern and 0 <= row < len(self._lines) else None
        if match is not None:
            begin, end = (cell_len(self._lines[row][:place]) for place in match.span())
            if not self.pan <= begin <= end <= self.pan + room:
                self.pan = 0 if end <= room else end - room // 2

    def _measure(self) -> None:
        self.virtual_size = Size(self.scrollable_content_region.width, self.count - self._gone)

    def _to(self, y: float) -> None:
        following = self.following
        self.scroll_to(y=max(y, 0), animate=False, immediate=True, force=True)
        self.following = following


def _shown(text: str, pan: int, width: int) -> str:
    """What of a line is in the window; its end is cut by whoever draws it."""
    text = confined(text.expandtabs(4))
    if text.isascii():
        return text[pan : pan + width + 1]
    at = 0
    while pan > 0 and at < len(text):
        pan -= get_character_cell_size(text[at])
        at += 1
    return text[at : at + width + 1]
