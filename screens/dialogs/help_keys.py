"""Every key of where you are, out of the one list of actions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from screens import actions
from screens.actions import Place
from screens.dialogs.frame import Dialog

_HEADINGS: Mapping[str, str] = {"board": "Board", "run": "Run", "item": "Item", "everywhere": "Everywhere"}


class HelpKeys(Dialog[bool]):
    """Closes on any of the keys that open or leave."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("question_mark,q,enter", "leave", "Close", show=False),
        Binding("ctrl+p", "commands", "Commands", show=False),
        Binding("j,down", "scroll(1)", "Down", show=False),
        Binding("k,up", "scroll(-1)", "Up", show=False),
    ]
    WIDE = True

    def __init__(self, place: Place, keymap: Mapping[str, str]) -> None:
        super().__init__("Help", "esc close   ↑↓ scroll   ^p find a command")
        self._place = place
        self._keymap = keymap

    def compose_dialog(self) -> Iterator[Widget]:
        with VerticalScroll(id="help", can_focus=False):
            yield Static(self._table())

    def action_commands(self) -> None:
        self.dismiss(None)
        self.app.call_later(self.app.action_command_palette)

    def action_scroll(self, step: int) -> None:
        self.query_one(VerticalScroll).scroll_relative(y=step * 2, animate=False)

    def _table(self) -> Content:
        parts: list[str | tuple[str, str]] = []
        heading = ""
        for action in actions.at(self._place):
            if action.place != heading:
                heading = action.place
                parts.append((("\n" if parts else "") + _HEADINGS[heading] + "\n", "bold $soft"))
            keys = "  ".join(actions.keys_of(action, self._keymap))
            parts += [
                (f"  {keys:<11}", "bold $accent"),
                (f"{action.title:<17}", "$ink"),
                (f" {action.tooltip}\n", "$soft"),
            ]
        return Content.assemble(*parts)
