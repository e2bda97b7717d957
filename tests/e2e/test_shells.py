"""A shell of one's own inside the control room: a real one, in the right directory, that ends with its page."""

from __future__ import annotations

from pathlib import Path

import psutil
import pytest

from executor.terminal.link import available
from store import items, moves, projects
from tests.e2e.test_attach import LEAVE, Stage, stage
from tests.support.attach_rig import PAM, Seat, terminal_environ

__all__ = ["stage"]

pytestmark = [
    pytest.mark.skipif(not available(), reason="no engine for this machine"),
    pytest.mark.timeout(120),
]


def opened(stage: Stage, directory: Path) -> Seat:
    """A control room on the board, with an item that has no run under its cursor."""
    project = projects.add(stage.store, "Checkout", cwd=str(directory), actor="operator")
    task = items.create(stage.store, project.id, "Fix the tests", actor="operator")
    moves.move(stage.store, task.id, "doing", actor="operator")
    environ = terminal_environ(stage.home.path) | {"SHELL": "/bin/sh", "PS1": "own$ "}
    room = Seat([str(PAM)], environ, columns=100, rows=30)
    stage.seats.append(room)
    room.until(b"Fix the tests")
    room.settle(0.5)
    return room


def at_item(room: Seat) -> None:
    room.write(b"o")
    room.until(b"No run yet.")
    room.settle()


def shells(room: Seat) -> list[psutil.Process]:
    """Shells below the control room; the agents' are tmux's."""
    found = []
    for child in psutil.Process(room.child.pid).children(recursive=True):
        try:
            if child.cmdline() == ["/bin/sh"]:
                found.append(child)
        except psutil.Error:
            continue
    return found


def shell(stage: Stage, room: Seat, where: bytes) -> psutil.Process:
    """Open one; it is in sight and reads."""
    room.write(b"t")
    room.until(where)
    room.until(b"own$")
    (found,) = shells(room)
    return found


def leave(room: Seat) -> None:
    """Back to the item's page."""
    room.output.clear()
    room.write(LEAVE)
    room.until(lambda: b"the shell goes on" in room.output and b"No run yet." in room.output)
    room.settle()


def test_an_items_shell_works_in_its_directory_and_ends_with_its_page(stage: Stage) -> None:
    """Issue 6: left with the keys of an attach, it goes on; nothing of it is left when the page goes."""
    room = opened(stage, stage.directory)
    at_item(room)
    program = shell(stage, room, b"Shell in ")
    assert program.cwd() == str(stage.directory)
    room.write(b"touch made-by-hand; echo in-$((6*7)); sleep 1000\r")
    room.until(b"in-42")
    assert (stage.directory / "made-by-hand").exists()
    stage.until(lambda: program.children())
    (sleeping,) = program.children()
    leave(room)
    assert sleeping.is_running()
    room.write(b"t")
    room.until(b"in-42")
    assert shells(room) == [program]
    leave(room)
    room.write(b"q")
    room.until(b"DOING")
    stage.until(lambda: not program.is_running() and not sleeping.is_running())


def test_the_hosts_shell_starts_at_home_and_its_exit_is_said(stage: Stage, own_home: Path) -> None:
    room = opened(stage, stage.directory)
    room.write(b"4")
    room.until(b"reconcile")
    room.settle()
    program = shell(stage, room, b"Shell on local")
    assert program.cwd() == str(own_home)
    room.write(b"exit\r")
    room.until(lambda: b"The shell has ended." in room.output and b"online" in room.output)
    stage.until(lambda: not shells(room))


def test_a_directory_that_is_gone_is_said_and_nothing_is_started(stage: Stage) -> None:
    gone = stage.directory / "worktree"
    gone.mkdir()
    room = opened(stage, gone)
    at_item(room)
    gone.rmdir()
    room.write(b"t")
    room.until(b"There is no directory")
    assert not shells(room)
    gone.mkdir()
    assert shell(stage, room, b"Shell in ").cwd() == str(gone)
