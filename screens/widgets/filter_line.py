"""The line that narrows the board while one types."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Final

from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input, Label

from screens.widgets.text_line import TextLine

_GRAMMAR: Final = "words  #label  @who  kind:task  status:doing,todo  activity:waiting  -status:done"


class FilterLine(Horizontal):
    """Hidden until asked for; Enter keeps the filter and goes back to the cards, Escape clears it.

    What it understands stands in ``screens.filters``.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "clear", "Clear", show=False),
        Binding("down,up", "keep", "To the cards", show=False),
    ]

    @dataclass
    class Changed(Message):
        """Another text is typed."""

        text: str

    @dataclass
    class Left(Message):
        """The keys go back to the cards."""

    def __init__(self, grammar: str = _GRAMMAR) -> None:
        """``grammar`` stands there while nothing is typed: what can be, by example."""
        super().__init__(id="filter")
        self._line = TextLine(placeholder=grammar, compact=True, id="filter-text")

    @property
    def text(self) -> str:
        """What is typed."""
        return self._line.value

    @property
    def typing(self) -> bool:
        """Whether the keys go here."""
        return self._line.has_focus

    def compose(self) -> Iterator[Widget]:
        yield Label("/")
        yield self._line

    def ask(self) -> None:
        """Show the line and give it the keys."""
        self.display = True
        self._line.focus()

    def put(self, text: str) -> None:
        """Set the filter and show it, without taking the keys."""
        self.display = bool(text)
        self._line.value = text

    def action_keep(self) -> None:
        self.display = bool(self._line.value)
        self.post_message(self.Left())

    def action_clear(self) -> None:
        self._line.value = ""
        self.action_keep()

    def on_mount(self) -> None:
        self.display = False

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self.post_message(self.Changed(event.value))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.action_keep()
