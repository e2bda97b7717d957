"""What every dialog has: a frame with its question, a line for what is wrong, Escape as the way out."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from typing import ClassVar, TypeVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Static

from screens.confine import one_line
from screens.keys_in_order import room_of
from screens.layouts import keep_told
from screens.widgets.text_line import TextLine
from store.errors import PamError

T = TypeVar("T")


class Dialog(ModalScreen[T | None]):
    """A question with a typed answer; None when it was left."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "Leave", show=False)]
    WIDE: ClassVar[bool] = False

    def __init__(self, question: str, keys: str) -> None:
        """``keys`` is the dialog's own footer: ``↵ start   esc leave``."""
        super().__init__()
        keep_told(self)
        self._question = question
        self._keys = keys
        self._busy = False

    def compose(self) -> ComposeResult:
        with Vertical(id="dialog", classes="-wide-dialog" if self.WIDE else "") as frame:
            frame.border_title = Content(one_line(self._question))
            yield from self.compose_dialog()
            yield Static(id="trouble", markup=False)
            yield Static(keys_line(self._keys), id="dialog-keys")

    def compose_dialog(self) -> Iterator[Widget]:
        """The dialog's own widgets."""
        raise NotImplementedError

    def complain(self, sentence: str) -> None:
        """Say what is wrong; nothing that was typed is lost. An empty sentence takes it back."""
        trouble = self.query_one("#trouble", Static)
        trouble.update(f"✗ {one_line(sentence)}" if sentence else "")
        trouble.set_class(bool(sentence), "-said")

    def submit(self, verb: Awaitable[T]) -> None:
        """Carry out the answer; the dialog closes with its result, or stays and says why not."""
        self.run_worker(self._submit(verb), group="submit")

    def submit_slowly(self, verb: Callable[[], Awaitable[T]]) -> None:
        """As ``submit``, for what may take a while, one at a time: that is said, and Escape leaves it to itself."""
        if not self._busy:
            self._busy = True
            self.complain("")
            self.add_class("-under-way")
            self.submit(verb())

    def on_text_line_overflowed(self, event: TextLine.Overflowed) -> None:
        event.stop()
        self.complain("Only the first line of what was pasted is taken: there is room for one.")

    def action_leave(self) -> None:
        self.dismiss(None)

    async def _submit(self, verb: Awaitable[T]) -> None:
        try:
            result = await verb
        except PamError as error:
            self.complain(str(error))
            room_of(self).release_keys()
        else:
            self.dismiss(result)
        finally:
            self._busy = False
            self.remove_class("-under-way")

    def begin(self) -> bool:
        """Whether an answer may be carried out now: one at a time, so that Enter twice does it once.

        What is typed after it is meant for what comes after the dialog.
        """
        if self._busy:
            return False
        self._busy = True
        room_of(self).hold_keys()
        return True


def keys_line(keys: str) -> Content:
    """``↵ start   esc leave`` with the keys bright; pairs are set apart by three spaces."""
    parts: list[str | tuple[str, str]] = []
    for pair in keys.split("   "):
        key, _, word = pair.partition(" ")
        parts += [(key, "bold $accent"), (f" {word}   ", "$soft")]
    return Content.assemble(*parts)
