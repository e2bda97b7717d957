"""One line of text to change."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator

from textual.widget import Widget
from textual.widgets import Input

from screens.dialogs.frame import Dialog
from screens.widgets.text_line import TextLine


class EditLine(Dialog[str]):
    """The new text; ``save`` stores it first, and what it refuses is said with the text still there."""

    WIDE = True

    def __init__(
        self, question: str, value: str, save: Callable[[str], Awaitable[None]], *, as_is: bool = False
    ) -> None:
        """``as_is``: what stands there at first may be the answer, too."""
        super().__init__(question, "↵ save   esc leave")
        self._value = value
        self._as_is = as_is
        self._save = save

    def compose_dialog(self) -> Iterator[Widget]:
        yield TextLine(self._value, id="line")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        value = event.value.strip()
        if not value:
            self.complain("It needs a text; Escape leaves it as it was.")
        elif value == self._value and not self._as_is:
            self.dismiss(None)
        elif self.begin():
            self.submit(self._saved(value))

    async def _saved(self, value: str) -> str:
        await self._save(value)
        return value
