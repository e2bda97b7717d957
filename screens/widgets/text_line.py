"""One line to type in: nothing blinks, and what stands there is kept when the keys come to it."""

from __future__ import annotations

from textual.widgets import Input


class TextLine(Input):
    """Textual's input with pam's manners."""

    def __init__(self, value: str = "", *, placeholder: str = "", id: str, compact: bool = False) -> None:  # noqa: A002
        super().__init__(value, placeholder=placeholder, id=id, compact=compact, select_on_focus=False)
        self.cursor_blink = False
