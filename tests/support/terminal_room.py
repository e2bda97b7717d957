"""A window with a program's terminal in it and nothing else of ours, for a terminal of the test: no tmux between.

``python -m tests.support.terminal_room PROGRAM…``. F12 leaves the terminal for a field below it; there ctrl+t goes
back, ctrl+o lays a dialog over the terminal that has the keys, escape takes it away, ctrl+r says something over it,
ctrl+g hands the terminal to another program, ctrl+x ends this one and ctrl+y breaks it.
"""

from __future__ import annotations

import os
import subprocess
import sys
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.driver import Driver
from textual.screen import ModalScreen
from textual.widgets import Input, Label

from app.driver import RoomDriver
from executor.terminal.link import Program, Terminals
from screens.keys_in_order import KeysInOrder
from screens.terminal.line import Line, Viewer
from screens.widgets.terminal import TerminalWidget


class Dialog(ModalScreen[None]):
    """Has the keys, and stands over half of the terminal."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss", priority=True)]
    CSS = "Dialog { align: left top; } Dialog Label { height: 50%; width: 100%; background: red; }"

    def compose(self) -> ComposeResult:
        yield Label("over it all")


class TerminalRoom(KeysInOrder):
    """The application."""

    CSS = "TerminalWidget { height: 1fr; }"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+t", "back", priority=True),
        Binding("ctrl+o", "dialog", priority=True),
        Binding("ctrl+r", "say", priority=True),
        Binding("ctrl+g", "hand_over", priority=True),
        Binding("ctrl+x", "quit", priority=True),
        Binding("ctrl+y", "break_down", priority=True),
    ]

    def __init__(self, argv: list[str]) -> None:
        super().__init__()
        self.terminals = Terminals()
        self.program = Program(tuple(argv), dict(os.environ))

    def get_driver_class(self) -> type[Driver]:
        return RoomDriver

    def compose(self) -> ComposeResult:
        yield Label("above it")
        yield TerminalWidget()
        yield Input()

    async def on_mount(self) -> None:
        terminal = self.query_one(TerminalWidget)
        terminal.connect(self._dial)
        terminal.focus()

    async def action_quit(self) -> None:
        await self.terminals.close()
        self.exit()

    def _dial(self, columns: int, rows: int, viewer: Viewer) -> Line:
        return self.terminals.open(self.program, columns, rows, viewer)

    def on_terminal_widget_left(self) -> None:
        self.query_one(Input).focus()

    async def action_back(self) -> None:
        self.query_one(TerminalWidget).focus()

    async def action_dialog(self) -> None:
        await self.action_back()
        await self.push_screen(Dialog())

    async def action_say(self) -> None:
        await self.action_back()
        self.notify("said over it\n" * 12, timeout=60)

    async def action_hand_over(self) -> None:
        with self.suspend():
            subprocess.run(["sh", "-c", "echo handed over; read word"], check=False)
        await self.action_back()

    def action_break_down(self) -> None:
        raise RuntimeError("broken on purpose")


if __name__ == "__main__":
    TerminalRoom(sys.argv[1:]).run()
