"""A description to read: Markdown of any length, of which only the visible lines are drawn."""

from __future__ import annotations

from collections.abc import Sequence

from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from screens.prose import Line, laid_out
from screens.widgets.spans import Span, line
from screens.widgets.toned import Toned


class Prose(Toned, ScrollView, can_focus=False):
    """Shows what it is given; the place scrolls it."""

    def __init__(self, *, id: str, nothing: str) -> None:  # noqa: A002  the name Textual gives it
        """``nothing`` is said where there is no text."""
        super().__init__(id=id)
        self._nothing = nothing
        self._text = ""
        self._lines: Sequence[Line] = ()
        self._for = -1

    def show(self, text: str) -> None:
        """Take a text, from its first line on; the same again changes nothing."""
        if text != self._text:
            self._text, self._for = text, -1
            self._lay_out()
            self.scroll_to(y=0, animate=False, immediate=True, force=True)

    def on_resize(self) -> None:
        self._lay_out()

    def render_line(self, y: int) -> Strip:
        width, index = self.scrollable_content_region.width, y + int(self.scroll_offset.y)
        style_of = self.style_of("column")
        if not self._lines and y == 0:
            return line([Span(self._nothing, "soft")], [], width, style_of)
        if index >= len(self._lines):
            return self.blank(width, "column")
        return line(self._lines[index], [], width, style_of)

    def _lay_out(self) -> None:
        width = self.scrollable_content_region.width
        if width == self._for or width < 4:
            return
        self._for = width
        self._lines = laid_out(self._text, width)
        self.virtual_size = Size(width, len(self._lines))
        self.refresh()
