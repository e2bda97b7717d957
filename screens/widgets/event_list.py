"""Lines of the journal, newest first; only the visible ones are drawn."""

from __future__ import annotations

from collections.abc import Sequence

from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from screens.ages import moment
from screens.confine import one_line
from screens.desk import Clock
from screens.sentences import sentence
from screens.widgets.spans import Span, line
from screens.widgets.toned import Toned
from store.records import Event


class EventList(Toned, ScrollView, can_focus=False):
    """When, what, by whom."""

    def __init__(self, clock: Clock, *, id: str) -> None:  # noqa: A002
        super().__init__(id=id)
        self._clock = clock
        self._events: Sequence[Event] = ()
        self._cells = 0
        """Width of the times."""

    def show(self, events: Sequence[Event]) -> None:
        """Take new lines."""
        self._events = events
        self._cells = max((len(self._when(event)) for event in events), default=0)
        self.virtual_size = Size(self.size.width, len(events))
        self.refresh()

    def render_line(self, y: int) -> Strip:
        width, index = self.size.width, y + self.scroll_offset.y
        style_of = self.style_of("column")
        if not self._events:
            return line([Span("  Nothing has happened yet." if y == 1 else "", "soft")], [], width, style_of)
        if index >= len(self._events):
            return self.blank(width, "column")
        event = self._events[index]
        attempt = event.payload.get("attempt")
        right = [Span(f"attempt {attempt} ", "soft")] if isinstance(attempt, int) and attempt > 1 else []
        left = [
            Span(f" {self._when(event):<{self._cells}}  ", "soft"),
            Span(f"{one_line(event.topic):<24} ", "label"),
            Span(sentence(event), "ink"),
            Span(f"  by {one_line(event.actor)}", "soft"),
        ]
        return line(left, right, width, style_of)

    def _when(self, event: Event) -> str:
        return moment(event.at, self._clock(), seconds=True)
