"""What is known of one event, on the lines below the journal: its topic, its time, its number, and all of its facts."""

from __future__ import annotations

from collections.abc import Sequence

from textual.strip import Strip

from screens.ages import moment
from screens.confine import one_line
from screens.desk import Clock
from screens.facts import plain
from screens.widgets.spans import Span, line, wrap
from screens.widgets.toned import Toned
from store.records import Event


class EventFacts(Toned):
    """A line about the event, and its facts below."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(id="event-facts")
        self._clock = clock
        self._event: Event | None = None
        self._where = ""
        self._lines: Sequence[str] = ()

    def show(self, event: Event | None, where: str) -> None:
        """Take an event; ``where`` says where in the journal it stands."""
        self._event, self._where = event, where
        self._lay_out()

    def on_resize(self) -> None:
        self._lay_out()

    def render_line(self, y: int) -> Strip:
        width, style_of = self.size.width, self.style_of("bar")
        if y:
            return line([Span(f" {self._lines[y - 1] if y <= len(self._lines) else ''}", "soft")], [], width, style_of)
        right = [Span(f"{self._where} ", "soft")]
        if self._event is None:
            return line([], right, width, style_of)
        event = self._event
        left = [
            Span(f" {one_line(event.topic)}", "label", True),
            Span(f"  {moment(event.at, self._clock(), seconds=True)}", "ink"),
            Span(f"  by {one_line(event.actor)}", "soft"),
        ]
        return line(left, right, width, style_of)

    def _lay_out(self) -> None:
        room = max(self.size.height - 1, 1)
        facts = plain(self._event.payload) if self._event else ""
        self._lines = wrap(facts, max(self.size.width - 2, 1), room)
        self.refresh()
