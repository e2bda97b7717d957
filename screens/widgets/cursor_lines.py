"""Any number of lines with a cursor, of which only the visible ones are ever drawn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from screens.widgets.hint import hint_line
from screens.widgets.toned import Toned


class CursorLines(Toned, ScrollView, can_focus=True, inherit_bindings=False):
    """What the lines are, and where the cursor stands among them, is a state's that each of these widgets draws."""

    BELOW: ClassVar[int] = 0
    """Lines below the last one, which are no place for the cursor."""

    @dataclass
    class Scrolled(Message):
        """Other lines are seen now."""

    def __init__(self, *, id: str) -> None:  # noqa: A002
        super().__init__(id=id)
        self._hint: tuple[str, ...] = ()
        self._at = 0
        """Where the cursor is drawn; the state may have moved on already."""

    @property
    def count(self) -> int:
        """How many lines the cursor can stand on."""
        raise NotImplementedError

    @property
    def place(self) -> int:
        """Where the state has the cursor."""
        raise NotImplementedError

    def draw(self, place: int, width: int) -> Strip:
        """A line as it is seen; there are some, but maybe not as many."""
        raise NotImplementedError

    def press(self, place: int, event: events.Click) -> None:
        """A line was clicked."""
        raise NotImplementedError

    def follow(self) -> None:
        """The cursor has moved, and nothing else: only the two lines that it concerns are drawn."""
        if self._at != self.place:
            before, self._at = self._at, self.place
            self._refresh_line(before)
            self._refresh_line(self._at)
            self.reveal()

    def render_line(self, y: int) -> Strip:
        if self.count:
            return self.draw(y + self.scroll_offset.y, self.width)
        size = Size(self.width, self.size.height)
        hint = hint_line(self._hint, y, size, self.style_of("column"))
        return self.beside_hint() if hint is None else hint

    def beside_hint(self) -> Strip:
        """A line above or below the hint."""
        return self.blank(self.width, "column")

    def on_resize(self, _: events.Resize) -> None:
        self.measure()
        self.reveal()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        if round(old_value) != round(new_value):
            self.post_message(self.Scrolled())

    def on_click(self, event: events.Click) -> None:
        event.stop()
        place = event.y - self.gutter.top + self.scroll_offset.y
        if 0 <= place < self.count:
            self.press(place, event)

    @property
    def width(self) -> int:
        """Cells of a line."""
        return self.scrollable_content_region.width

    def measure(self) -> None:
        """Have as much to scroll over as there are lines."""
        self.virtual_size = Size(self.width, self.count + self.BELOW if self.count else 0)

    def reveal(self) -> None:
        """Bring the cursor into sight; the last line with what is below it."""
        if self.count:
            tall = 1 + self.BELOW if self._at == self.count - 1 else 1
            self.scroll_to_region(Region(0, self._at, 1, tall), animate=False, immediate=True, force=True)

    def _refresh_line(self, place: int) -> None:
        y = place - self.scroll_offset.y
        if 0 <= y < self.size.height:
            self.refresh(Region(0, y, self.size.width, 1))
