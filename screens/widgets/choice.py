"""One of a few, on one line: left and right choose, a click too; what is not chosen stays in sight."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.cells import cell_len
from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip

from screens.confine import one_line
from screens.widgets.spans import Span, line
from screens.widgets.toned import Toned


class Choice(Toned, can_focus=True):
    """A row of options, one of them chosen."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left,h", "choose(-1)", "Before", show=False),
        Binding("right,l,space", "choose(1)", "Next", show=False),
    ]

    @dataclass
    class Changed(Message):
        """Another option was chosen."""

        choice: Choice
        value: str

    chosen: reactive[int] = reactive(0)

    def __init__(self, options: Sequence[tuple[str, str]], value: str = "", *, id: str) -> None:  # noqa: A002
        """``options`` are (value, what is shown)."""
        super().__init__(id=id)
        self._options = list(options)
        values = [option for option, _ in self._options]
        self.set_reactive(Choice.chosen, values.index(value) if value in values else 0)

    @property
    def value(self) -> str:
        """The chosen value; empty when there is nothing to choose from."""
        return self._options[self.chosen][0] if self._options else ""

    def offer(self, options: Sequence[tuple[str, str]], value: str = "") -> None:
        """Take other options; ``value`` is chosen where it is among them, else the first."""
        self._options = list(options)
        values = [option for option, _ in self._options]
        self.set_reactive(Choice.chosen, values.index(value) if value in values else 0)
        self.refresh()

    def watch_chosen(self) -> None:
        self.post_message(self.Changed(self, self.value))

    def render_line(self, y: int) -> Strip:
        width = self.size.width
        if y:
            return self.blank(width, "card")
        spans: list[Span] = []
        for index, text in self._window(width):
            picked = index == self.chosen
            tone = ("on-accent" if self.has_focus else "ink") if picked else "soft"
            ground = ("accent" if self.has_focus else "cursor") if picked else "card"
            spans += [Span(f" {text} ", tone, picked, ground=ground), Span(" ")]
        return line(spans, [], width, self.style_of("card"))

    def on_focus(self) -> None:
        self.refresh()

    def on_blur(self) -> None:
        self.refresh()

    def on_click(self, event: events.Click) -> None:
        left = 0
        for index, text in self._window(self.size.width):
            left += cell_len(text) + 3
            if event.x < left:
                self.chosen = index
                return

    def action_choose(self, step: int) -> None:
        if self._options:
            self.chosen = (self.chosen + step) % len(self._options)

    def _window(self, width: int) -> list[tuple[int, str]]:
        """The options that fit, among them the chosen one."""
        shown = [(index, one_line(text)) for index, (_, text) in enumerate(self._options)]
        first = 0
        while first < self.chosen and sum(cell_len(text) + 3 for _, text in shown[first : self.chosen + 1]) > width:
            first += 1
        return shown[first:]
