"""One line to type in: nothing blinks, and what stands there is kept when the keys come to it."""

from __future__ import annotations

from dataclasses import dataclass

from textual import events
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip
from textual.widgets import Input

from screens.widgets.confined_lines import confined_strip


class TextLine(Input):
    """Textual's input with pam's manners."""

    @dataclass
    class Overflowed(Message):
        """Several lines were pasted; the line took the first, ``rest`` has no place in it."""

        line: TextLine
        rest: str

    def __init__(self, value: str = "", *, placeholder: str = "", id: str, compact: bool = False) -> None:  # noqa: A002
        super().__init__(value, placeholder=placeholder, id=id, compact=compact, select_on_focus=False)
        self.cursor_blink = False

    def render_line(self, y: int) -> Strip:
        return confined_strip(super().render_line(y))

    def on_focus(self) -> None:
        self._reveal()

    def on_resize(self) -> None:
        self._reveal()

    def _on_paste(self, event: events.Paste) -> None:
        """Of several lines Textual would take the first and forget the others."""
        event.prevent_default()
        event.stop()
        first, _, rest = event.text.replace("\r\n", "\n").replace("\r", "\n").strip("\n").partition("\n")
        self.insert_text_at_cursor(first.replace("\t", " "))
        if rest.strip():
            self.post_message(self.Overflowed(self, rest.strip()))

    def _reveal(self) -> None:
        """Show the cursor: Textual scrolls to that of a first value before it knows the width."""
        if self.has_focus:
            cursor = Region(self._cursor_offset, 0, width=1, height=1)
            self.scroll_to_region(cursor, force=True, animate=False, immediate=True)
            self.refresh()
