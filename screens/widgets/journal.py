"""The journal with a cursor: a line for each event, of which only the visible ones are ever drawn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

from rich.cells import set_cell_size
from textual import events
from textual.message import Message
from textual.strip import Strip

from screens import marks
from screens.activity_state import ActivityState
from screens.ages import age
from screens.confine import one_line
from screens.desk import Clock
from screens.sentences import sentence
from screens.widgets.cursor_lines import CursorLines
from screens.widgets.hint import centred
from screens.widgets.spans import Span, clip, line
from store.records import Event

TIME: Final = 4
"""Cells of an age: ``now``, ``12m``, ``28d``."""


class _Widths(NamedTuple):
    about: int
    actor: int


class JournalList(CursorLines):
    """Draws an ``ActivityState``: when, what kind, to whom, what, by whom."""

    BELOW = 1

    @dataclass
    class Pressed(Message):
        """A row was clicked: its place, and whether it had the cursor and was clicked again."""

        place: int
        again: bool

    def __init__(self, clock: Clock) -> None:
        super().__init__(id="journal")
        self._clock = clock
        self._state: ActivityState | None = None
        self._end = ""

    @property
    def count(self) -> int:
        return len(self._state.events) if self._state else 0

    @property
    def place(self) -> int:
        return self._state.place if self._state else 0

    @property
    def seen(self) -> tuple[int, int]:
        """The first and the last row in the window."""
        first = self.scroll_offset.y
        return first, max(min(first + self.size.height, self.count) - 1, 0)

    def show(self, state: ActivityState, *, shift: int = 0, hint: tuple[str, ...] = (), end: str = "") -> None:
        """Draw the state as it is now. ``shift`` rows came on top (or went): what is seen stays where it is.

        ``hint`` is said where there are no events, ``end`` below the last of them.
        """
        self._state, self._hint, self._end, self._at = state, hint, end, state.place
        self.measure()
        if shift:
            self.scroll_to(y=max(self.scroll_offset.y + shift, 0), animate=False, immediate=True, force=True)
        self.reveal()
        self.refresh()

    def draw(self, place: int, width: int) -> Strip:
        state = self._state
        if state is None or place >= self.count:
            said = self._end if place == self.count else ""
            return line([Span(f"   {said}", "soft")], [], width, self.style_of("column"))
        ground = "cursor" if place == self._at else "column"
        left, right = self._spans(state.events[place], state, width)
        bar = Span("▌" if ground == "cursor" else " ", "accent")
        return line([bar, *left], right, width, self.style_of(ground))

    def beside_hint(self) -> Strip:
        # Looks as any empty line does; the pictures of the tests also tell of how many pieces it is made.
        return centred("", self.width, self.style_of("column"))

    def press(self, place: int, event: events.Click) -> None:
        self.post_message(self.Pressed(place, place == self._at and event.chain > 1))

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


def _widths(width: int) -> _Widths:
    return _Widths(about=min(max(width // 4, 16), 44), actor=18 if width >= 76 else 0)


def _padded(text: str, cells: int) -> str:
    return set_cell_size(text, cells)
