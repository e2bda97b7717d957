"""A yes or no, with the safe answer focused and what is lost named."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.widget import Widget
from textual.widgets import Button, Static

from screens.confine import one_line
from screens.dialogs.frame import Dialog
from screens.model import HeaderFacts


class Confirm(Dialog[bool]):
    """True when the operator said yes."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer(True)", "Yes", show=False),
        Binding("n,q", "answer(False)", "No", show=False),
        Binding("left,h,up,k", "app.focus_previous", "Before", show=False),
        Binding("right,l,down,j", "app.focus_next", "Next", show=False),
    ]

    def __init__(self, question: str, consequence: str, *, yes: str, no: str, harmless: bool = False) -> None:
        super().__init__(question, "↵ choose   y yes   n no")
        self._consequence = one_line(consequence)
        self._yes, self._no = yes, no
        self._harmless = harmless

    def compose_dialog(self) -> Iterator[Widget]:
        yield Static(self._consequence, id="consequence", markup=False)
        with Horizontal(id="answers"):
            yield Button(self._no, id="no", classes="-safe")
            yield Button(self._yes, id="yes", classes="-safe" if self._harmless else "-danger")

    def on_mount(self) -> None:
        self.query_one("#no", Button).focus()

    def on_button_pressed(self, event: Button.Pressed) -> None:
        self.dismiss(event.button.id == "yes")

    def action_answer(self, yes: bool) -> None:
        self.dismiss(yes)


def leaving(facts: HeaderFacts) -> Confirm:
    """Asked before the control room closes: says how many agents go on, and who looks after them."""
    agents = "1 agent goes on" if facts.live == 1 else f"{facts.live} agents go on"
    hosted = facts.executor == "here"
    consequence = "Until pam runs again, nothing starts or restarts a run." if hosted else "The executor stays up."
    return Confirm(f"Leave pam? {agents}.", consequence, yes="Leave", no="Stay", harmless=True)
