"""The journal with a cursor: a line for each event, of which only the visible ones are ever drawn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

from rich.cells import set_cell_size
from textual import events
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from screens import marks
from screens.activity_state import ActivityState
from screens.ages import age
from screens.confine import one_line
from screens.desk import Clock
from screens.sentences import sentence
from screens.widgets.spans import Span, clip, line
from screens.widgets.toned import Toned
from store.records import Event

TIME: Final = 4
"""Cells of an age: ``now``, ``12m``, ``28d``."""


class _Widths(NamedTuple):
    about: int
    actor: int


class JournalList(Toned, ScrollView, can_focus=True, inherit_bindings=False):
    """Draws an ``ActivityState``: when, what kind, to whom, what, by whom."""

    @dataclass
    class Pressed(Message):
        """A row was clicked: its place, and whether it had the cursor and was clicked again."""

        place: int
        again: bool

    @dataclass
    class Scrolled(Message):
        """Other rows are seen now."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(id="journal")
        self._clock = clock
        self._state: ActivityState | None = None
        self._hint: tuple[str, ...] = ()
        self._end = ""
        self._at = 0

    @property
    def seen(self) -> tuple[int, int]:
        """The first and the last row in the window."""
        first = self.scroll_offset.y
        count = len(self._state.events) if self._state else 0
        return first, max(min(first + self.size.height, count) - 1, 0)

    def show(self, state: ActivityState, *, shift: int = 0, hint: tuple[str, ...] = (), end: str = "") -> None:
        """Draw the state as it is now. ``shift`` rows came on top (or went): what is seen stays where it is.

        ``hint`` is said where there are no events, ``end`` below the last of them.
        """
        self._state, self._hint, self._end, self._at = state, hint, end, state.place
        self.virtual_size = Size(self._width, len(state.events) + 1 if state.events else 0)
        if shift:
            self.scroll_to(y=max(self.scroll_offset.y + shift, 0), animate=False, immediate=True, force=True)
        self._reveal()
        self.refresh()

    def follow(self) -> None:
        """The cursor has moved, and nothing else."""
        if self._state is not None and self._at != self._state.place:
            before, self._at = self._at, self._state.place
            self._refresh_row(before)
            self._refresh_row(self._at)
            self._reveal()

    def render_line(self, y: int) -> Strip:
        state, width, place = self._state, self._width, y + self.scroll_offset.y
        if state is None or not state.events:
            return self._hint_line(y, width)
        if place >= len(state.events):
            said = self._end if place == len(state.events) else ""
            return line([Span(f"   {said}", "soft")], [], width, self.style_of("column"))
        ground = "cursor" if place == self._at else "column"
        left, right = self._spans(state.events[place], state, width)
        bar = Span("▌" if ground == "cursor" else " ", "accent")
        return line([bar, *left], right, width, self.style_of(ground))

    def on_resize(self, _: events.Resize) -> None:
        if self._state is not None:
            self.virtual_size = Size(self._width, len(self._state.events) + 1 if self._state.events else 0)
            self._reveal()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        if round(old_value) != round(new_value):
            self.post_message(self.Scrolled())

    def on_click(self, event: events.Click) -> None:
        event.stop()
        place = event.y - self.gutter.top + self.scroll_offset.y
        if self._state is not None and 0 <= place < len(self._state.events):
            self.post_message(self.Pressed(place, place == self._at and event.chain > 1))

    @property
    def _width(self) -> int:
        return self.scrollable_content_region.width

    def _spans(self, event: Event, state: ActivityState, width: int) -> tuple[list[Span], list[Span]]:
        widths = _widths(width)
        glyph, tone = marks.mark(event)
        subject = clip(marks.about(event, state.names), widths.about)
        left = [
            Span(f"{age(event.at, self._clock()):>{TIME}} ", "soft"),
            Span(f"{glyph} ", tone, True),
            Span(_padded(subject, widths.about), "ink", True),
            Span("  "),
            Span(sentence(event), "bad" if tone == "bad" else "ink"),
        ]
        right = [Span(f" {clip(one_line(event.actor), widths.actor)} ", "soft")] if widths.actor else []
        return left, right

    def _reveal(self) -> None:
        if self._state is not None and self._state.events:
            last = self._at == len(self._state.events) - 1
            region = Region(0, self._at, 1, 2 if last else 1)
            self.scroll_to_region(region, animate=False, immediate=True, force=True)

    def _refresh_row(self, place: int) -> None:
        y = place - self.scroll_offset.y
        if 0 <= y < self.size.height:
            self.refresh(Region(0, y, self.size.width, 1))

    def _hint_line(self, y: int, width: int) -> Strip:
        place = y - max((self.size.height - len(self._hint)) // 2 - 1, 0)
        text = self._hint[place] if 0 <= place < len(self._hint) else ""
        return line([Span(" " * max((width - len(text)) // 2, 1) + text, "soft")], [], width, self.style_of("column"))


def _widths(width: int) -> _Widths:
    return _Widths(about=min(max(width // 4, 16), 44), actor=18 if width >= 76 else 0)


def _padded(text: str, cells: int) -> str:
    return set_cell_size(text, cells)
