"""A tmux that is frozen or gone, a database that is locked: keys answer as ever, and the screen says what is wrong.

``pam`` stands on a real terminal over a real tmux server and a real database (PAM-UI-008, issue: 50 ms for a key).
"""

from __future__ import annotations

import os
import re
import signal
import sqlite3
import statistics
import sys
from collections.abc import Iterator

import pytest

from store import items, moves, runs
from store.records import Run
from tests.support.attach_rig import Seat, terminal_environ
from tests.support.stage import Stage
from tests.support.tmux_server import SOCKET

KEYS = 30
ANSWER_MS = 50.0
ROOM = """
from store import database
database.PRAGMAS["busy_timeout"] = 4000
from app._launch import main
main()
"""
"""``pam``, but for how long it waits for a lock."""


@pytest.fixture
def cards(stage: Stage) -> Run:
    """Forty cards under way, the first with an agent that is asked to start."""
    titles = [stage.task.title, *(f"Card {number:02}" for number in range(1, 40))]
    made = [stage.task, *(items.create(stage.store, stage.task.project_id, t, actor="operator") for t in titles[1:])]
    for item in made:
        moves.move(stage.store, item.id, "doing", actor="operator")
    loop = "while :; do echo at work; sleep 0.2; done"
    return runs.start(stage.store, stage.task.id, "shell", "/", args=("sh", "-c", loop), actor="operator")


@pytest.fixture
def seat(stage: Stage, cards: Run) -> Iterator[Seat]:
    """The control room, with the agent's screen beside its card."""
    stage.home.config.write_text(f'[tmux]\nsocket = "{SOCKET}"\n[executor]\nheartbeat_s = 1\noffline_after_s = 3\n')
    made = Seat([sys.executable, "-c", ROOM], terminal_environ(stage.home.path))
    try:
        made.until(b"at work")
        yield made
    finally:
        made.close()


def answers_ms(seat: Seat) -> list[float]:
    """How long each of some keys takes until the card under the cursor is another one."""
    taken = []
    for number in range(KEYS):
        seat.read(0.02)
        taken.append(seat.pressed(b"k" if number % 2 else b"j", re.compile(rb"\xe2\x96\x8c")) * 1000)
    return taken


def test_a_frozen_tmux_holds_up_no_key_and_is_told(stage: Stage, seat: Seat) -> None:
    pid = stage.sandbox.stop_server()
    try:
        assert statistics.median(answers_ms(seat)) <= ANSWER_MS
        seat.until(b"0/1")
        assert statistics.median(answers_ms(seat)) <= ANSWER_MS
    finally:
        stage.sandbox.continue_server(pid)
    seat.until(b"1/1")


def test_a_locked_database_holds_up_no_key_and_is_told(stage: Stage, seat: Seat) -> None:
    seat.write(b"j")
    with sqlite3.connect(stage.home.database) as other:
        other.execute("BEGIN EXCLUSIVE")
        assert statistics.median(answers_ms(seat)) <= ANSWER_MS
        seat.write(b"Lh")
        assert statistics.median(answers_ms(seat)) <= ANSWER_MS
        seat.until(b"write lock")
        other.rollback()
    seat.settle(0.5)
    seat.write(b"L")
    seat.until(lambda: any(item.status == "done" for item in items.list_all(stage.store, stage.task.project_id)))


def test_a_server_that_is_gone_holds_up_no_key_and_is_told(stage: Stage, seat: Seat) -> None:
    os.kill(stage.sandbox.server_pid(), signal.SIGKILL)
    assert statistics.median(answers_ms(seat)) <= ANSWER_MS
    seat.until(lambda: b"failed" in seat.output or b"lost" in seat.output)
