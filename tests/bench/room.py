"""A control room as the operator has it, ``pam`` on a terminal, for benchmarks of what is pressed and what is drawn."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from store import moves, runs
from tests.bench.board import Quiet, quiet_home
from tests.support.attach_rig import PAM, Seat, terminal_environ

COLUMNS, ROWS = 160, 45

PLAIN = """
from textual.app import App
from textual.widgets import Static
class Plain(App):
    count = 0
    def compose(self):
        yield Static("count 0 of nothing")
    def on_key(self):
        self.count += 1
        self.query_one(Static).update(f"count {self.count} of nothing")
Plain().run()
"""
COUNTING = (sys.executable, "-c", PLAIN)
"""The least that Textual can do: one line of text, which counts the keys."""


@dataclass
class Room:
    """A home, and the terminal of the control room on it."""

    quiet: Quiet
    seat: Seat


@contextmanager
def open_room(quiet: Quiet, ready: bytes = b"Task 0", argv: Sequence[str] = (str(PAM),)) -> Iterator[Room]:
    """The control room once it has drawn ``ready``; ``argv`` opens it on ``quiet``."""
    quiet.home.config.write_text(f'[tmux]\nsocket = "{quiet.settings.tmux_socket}"\n')
    with on_terminal(argv, quiet) as seat:
        seat.until(ready, 60)
        yield Room(quiet, seat)


@contextmanager
def on_terminal(argv: Sequence[str], quiet: Quiet) -> Iterator[Seat]:
    """A program on a terminal of this size, ended afterwards."""
    seat = Seat(argv, terminal_environ(quiet.home.path), columns=COLUMNS, rows=ROWS)
    try:
        yield seat
    finally:
        seat.close()


@contextmanager
def agents_home(agents: int, script: str) -> Iterator[Quiet]:
    """A home with so many agents in the column ``doing``, asked to start; who executes there starts them."""
    with quiet_home(agents) as quiet:
        for task in quiet.tasks:
            moves.move(quiet.store, task.id, "doing", actor="operator")
            runs.start(quiet.store, task.id, "shell", "/", args=("bash", "-c", script), actor="operator")
        yield quiet


def until_running(room: Room, agents: int) -> None:
    """Read what is drawn until they all run and the screen has come to rest."""
    room.seat.until(lambda: runs.counts(room.quiet.store).get("running") == agents, 120)
    room.seat.settle(1.0, 10.0)


def rest(seat: Seat, seconds: float) -> None:
    """Read what is drawn for so long."""
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        seat.read(left)
