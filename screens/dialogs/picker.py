"""What the dialogs have that choose one of a list by its name: a line that narrows it, and arrows that go over it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.widget import Widget
from textual.widgets import Input, OptionList
from textual.widgets.option_list import Option

from screens.dialogs.frame import Dialog, T
from screens.widgets.text_line import TextLine


class Picker(Dialog[T]):
    """Typing narrows the list to names with all the words in them; Enter takes the one that is lit."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,ctrl+n", "step(1)", "Next", show=False),
        Binding("up,ctrl+p", "step(-1)", "Before", show=False),
    ]
    WIDE = True

    LIST: ClassVar[str]
    """The id of the list."""
    PLACEHOLDER: ClassVar[str]
    """What can be typed."""

    def named(self) -> Iterator[tuple[str, Option]]:
        """All that there is to choose from, each with the name that is looked in."""
        raise NotImplementedError

    def besides(self, typed: str) -> Sequence[Option]:  # noqa: ARG002
        """What is listed below what was found, whatever that is."""
        return ()

    def compose_dialog(self) -> Iterator[Widget]:
        yield TextLine(placeholder=self.PLACEHOLDER, id="line")
        yield OptionList(id=self.LIST)

    def on_mount(self) -> None:
        self.query_one("#line").focus()
        self.narrow()

    def on_input_changed(self) -> None:
        self.narrow()

    def on_input_submitted(self) -> None:
        self.take()

    def action_step(self, step: int) -> None:
        options = self.query_one(OptionList)
        if step > 0:
            options.action_cursor_down()
        else:
            options.action_cursor_up()

    def take(self) -> None:
        """Choose what is lit."""
        self.query_one(OptionList).action_select()

    @property
    def typed(self) -> str:
        """What stands in the line."""
        return self.query_one("#line", Input).value

    def narrow(self) -> None:
        """List what has the words that are typed."""
        words = self.typed.casefold().split()
        found = [option for name, option in self.named() if all(word in name.casefold() for word in words)]
        shown = self.query_one(OptionList)
        shown.clear_options()
        shown.add_options([*found, *self.besides(self.typed)])
        shown.highlighted = 0 if shown.option_count else None
