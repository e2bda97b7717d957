"""Attached on a machine that has no terminal engine: ``pam run attach`` has the room's whole terminal meanwhile."""

from __future__ import annotations

import os
import signal
import sys

import psutil
import pytest

from store import journal
from store.records import Run
from tests.e2e.test_attach import LEAVE, PROMPT, SHELL, Stage, stage
from tests.support.attach_rig import Seat, terminal_environ

__all__ = ["stage"]

pytestmark = pytest.mark.timeout(120)

PAM_WITHOUT = "import sys; sys.modules['pyghostty'] = None; sys.argv[0] = 'pam'; from app.start import start; start()"
"""As where pip could not install it: the import finds nothing."""
IN_TERMINAL = ", terminal "


def room_of(stage: Stage, run: Run) -> Seat:
    """A control room without an engine, on the board, with the run under its cursor and running."""
    argv = [sys.executable, "-P", "-c", PAM_WITHOUT]
    room = Seat(argv, terminal_environ(stage.home.path), columns=100, rows=30)
    stage.seats.append(room)
    room.until(lambda: stage.run(run).status == "running")
    room.until(b"Fix the tests")
    room.settle(0.5)
    return room


def attached(stage: Stage, run: Run) -> Seat:
    """A control room whose terminal is the agent's now."""
    room = room_of(stage, run)
    room.write(b"a")
    room.until(lambda: stage.clients(run))
    room.until(PROMPT.encode())
    return room


def back(stage: Stage, room: Seat, run: Run) -> None:
    """The room is drawn again, has its keys, and nothing of the attach is left."""
    room.until(b"Signals")
    stage.until(lambda: not stage.clients(run) and stage.size(run) == "220x50")
    room.settle()
    room.write(b"y")
    room.until(b"Copied the run's id")


def test_typing_holds_the_lease_and_the_room_comes_back(stage: Stage) -> None:
    """PAM-ATT-002, 005, 009: as in the room's own terminal."""
    run = stage.start(*SHELL)
    room = attached(stage, run)
    assert IN_TERMINAL in stage.holder(run)
    stage.types(room, run, "from-the-room")
    assert stage.size(run) == "100x30"
    room.write(LEAVE)
    back(stage, room, run)
    assert stage.holder(run) == ""
    topics = [event.topic for event in journal.of_run(stage.store, run.id) if "lease" in event.topic]
    assert topics == ["run.lease_acquired", "run.lease_released"]
    assert stage.run(run).status == "running"


def test_while_another_types_one_looks_on_or_takes_over(stage: Stage) -> None:
    """PAM-ATT-003, 004: the safe answer has no way in for keys."""
    run = stage.start(*SHELL)
    room = room_of(stage, run)
    other = stage.seat("run", "attach", run.id)
    other.until(PROMPT.encode())
    holder = stage.holder(run)
    assert IN_TERMINAL in holder
    room.write(b"a")
    room.until(b"Take this terminal over?")
    room.settle()
    room.write(b"\r")
    stage.until(lambda: len(stage.clients(run)) == 2)
    room.until(PROMPT.encode())
    room.write(b"echo from-the-room\r")
    stage.types(other, run, "from-the-other")
    room.until(b"from-the-other")
    assert "from-the-room" not in stage.pane(run)
    assert stage.holder(run) == holder
    room.write(LEAVE)
    room.until(b"Signals")
    room.settle()
    room.write(b"a")
    room.until(b"Take this terminal over?")
    room.settle()
    room.write(b"y")
    other.until(b"types into this run now")
    stage.until(lambda: stage.holder(run) not in ("", holder))
    room.until(PROMPT.encode())
    stage.types(room, run, "taken-over")
    room.write(LEAVE)
    back(stage, room, run)


def test_who_is_left_out_hears_why_in_the_room(stage: Stage) -> None:
    """Once the room is drawn again: what was written on the terminal before is gone by then."""
    run = stage.start(*SHELL)
    room = attached(stage, run)
    other = stage.seat("run", "attach", run.id, "--force")
    other.until(PROMPT.encode())
    room.until(b"Signals")
    room.until(b"types into this run now")
    stage.until(lambda: len(stage.clients(run)) == 1)
    stage.types(other, run, "from-the-other")


def test_a_client_that_is_killed_leaves_the_room_as_it_was(stage: Stage) -> None:
    run = stage.start(*SHELL)
    room = attached(stage, run)
    (client,) = stage.clients(run)
    os.kill(client, signal.SIGKILL)
    back(stage, room, run)
    assert stage.holder(run) == ""
    assert not psutil.pid_exists(client)


def test_the_agents_end_gives_the_terminal_back(stage: Stage) -> None:
    """PAM-ATT-007: once its last words have been seen."""
    run = stage.start(*SHELL)
    room = attached(stage, run)
    room.write(b"exit 3\r")
    stage.until(lambda: stage.run(run).status == "failed")
    room.write(LEAVE)
    room.until(b"Signals")
    stage.until(lambda: not stage.clients(run) and not stage.holder(run))
