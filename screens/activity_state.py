"""The part of the journal that is in hand: a stretch of it around the cursor, whatever the length of the whole.

The stretch grows at whichever end is looked at and is cut at the other, so that a million events can be walked through
in the memory of a few thousand. The cursor is kept by its event, whatever arrives above it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from typing import Final

from store.history import Page
from store.records import Event

PAGE: Final = 200
"""Events asked for at once."""
MOST: Final = 4000
"""Events in hand, at most."""
NEAR: Final = 60
"""Rows from an end at which the next page is asked for."""


class ActivityState:
    """Events newest first, and where the cursor stands among them."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.names: dict[str, str] = {}
        self.place = 0
        self.top = 0
        """Everything up to this ``seq`` that matches is in hand, above the oldest that is."""
        self.bottom = 0
        """Everything from this ``seq`` on has been looked at."""
        self.above = False
        """Whether there are newer events that are not in hand."""
        self.below = True
        """Whether there may be older ones."""

    @property
    def chosen(self) -> Event | None:
        """The event under the cursor."""
        return self.events[self.place] if self.place < len(self.events) else None

    @property
    def wants_older(self) -> bool:
        """Whether the cursor has come near the end of what is in hand."""
        return self.below and self.place >= len(self.events) - NEAR

    @property
    def wants_newer(self) -> bool:
        """Whether the cursor has come near the beginning of it, and that is not the newest."""
        return self.above and self.place < NEAR

    def begin(self, page: Page, top: int, *, above: bool = False) -> None:
        """Take a first page; ``top`` is the newest ``seq`` it looked at."""
        self.events, self.names = list(page.events), dict(page.names)
        self.place, self.top, self.bottom = 0, top, page.reached
        self.above, self.below = above, page.more

    def go(self, place: int) -> bool:
        """Put the cursor on a row, as near as there is one; whether it moved."""
        place = max(min(place, len(self.events) - 1), 0)
        moved = place != self.place
        self.place = place
        return moved

    def find(self, seq: int) -> None:
        """Put the cursor on an event, or on the next older one."""
        self.go(bisect_left(self.events, -seq, key=lambda event: -event.seq))

    def append(self, page: Page) -> int:
        """Take older events; returns how many rows were cut off at the top."""
        self.events += [event for event in page.events if event.seq < self.bottom]
        self.names |= page.names
        self.bottom, self.below = page.reached, page.more
        return self._cut_top()

    def prepend(self, page: Page) -> int:
        """Take newer events; returns how many rows came on top. The cursor stays on its event."""
        fresh = [event for event in page.events if event.seq > self.top]
        self.events[:0] = fresh
        self.names |= page.names
        self.top, self.above = max(self.top, page.reached), page.more
        if len(self.events) > len(fresh):
            self.place += len(fresh)
        self._cut_bottom()
        return len(fresh)

    def rename(self, names: Iterable[tuple[str, str]]) -> None:
        """Titles have changed."""
        self.names.update(names)

    def _cut_top(self) -> int:
        """Never the cursor's own row."""
        excess = min(max(len(self.events) - MOST, 0), self.place)
        if excess:
            del self.events[:excess]
            self.place -= excess
            self.top, self.above = self.events[0].seq, True
        return excess

    def _cut_bottom(self) -> None:
        keep = max(MOST, self.place + 1)
        if len(self.events) > keep:
            del self.events[keep:]
            self.bottom, self.below = self.events[-1].seq, True
