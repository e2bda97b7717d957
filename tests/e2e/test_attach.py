"""Attached inside the control room, by an operator at a real terminal: agents, tmux and helpers are real, and die."""

from __future__ import annotations

import itertools
import os
import random
import re
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from executor.terminal.link import available
from store import items, journal, leases, moves, projects, runs
from store.database import Store, open_store
from store.home import Home
from store.records import Event, Run
from tests.support.attach_rig import PAM, Seat, terminal_environ
from tests.support.tmux_server import SOCKET, TmuxSandbox
from tests.support.waiting import until

pytestmark = [
    pytest.mark.skipif(not available(), reason="no engine for this machine"),
    pytest.mark.timeout(240),
]

LEAVE = b"\x1d"
PROMPT = "agent$ "
SHELL = ("env", f"PS1={PROMPT}", "bash", "--norc", "--noprofile")
RECORDER = r"""
import os, sys, termios, tty
tty.setraw(0)
out = open(sys.argv[1], "wb", buffering=0)
os.write(1, b"\x1b[?1003h\x1b[?1006h\x1b[?2004hREADY")
while data := os.read(0, 65536):
    out.write(data)
"""
"""An agent that asks for the mouse and for pastes in brackets, and writes down every byte it is given."""


class Stage:
    """A home with one running agent, and terminals in front of it."""

    def __init__(self, sandbox: TmuxSandbox, home: Home, store: Store, directory: Path) -> None:
        self.sandbox, self.home, self.store, self.directory = sandbox, home, store, directory
        self.seats: list[Seat] = []

    def start(self, *argv: str) -> Run:
        """A run, as soon as there is an executor."""
        project = projects.add(self.store, "Checkout", cwd=str(self.directory), actor="operator")
        task = items.create(self.store, project.id, "Fix the tests", actor="operator")
        moves.move(self.store, task.id, "doing", actor="operator")
        return runs.start(self.store, task.id, "shell", str(self.directory), args=argv, actor="operator")

    def seat(self, *words: str, columns: int = 100, rows: int = 30) -> Seat:
        """``pam`` with words, on a terminal of its own."""
        seat = Seat([str(PAM), *words], terminal_environ(self.home.path), columns=columns, rows=rows)
        self.seats.append(seat)
        return seat

    def room(self, run: Run) -> Seat:
        """A control room on the board, with the run under its cursor and running."""
        room = self.seat()
        room.until(lambda: self.run(run).status == "running")
        room.until(b"Fix the tests")
        room.settle(0.5)
        return room

    def attached(self, run: Run, ready: bytes = PROMPT.encode()) -> Seat:
        """A control room that types into the run."""
        room = self.room(run)
        room.write(b"a")
        room.until(b"Attached to")
        if ready:
            room.until(ready)
        return room

    def run(self, run: Run) -> Run:
        return runs.get(self.store, run.id)

    def pane(self, run: Run) -> str:
        """What stands on the agent's screen."""
        return self.sandbox.tmux("capture-pane", "-p", "-t", f"={run.session_name}:")

    def size(self, run: Run) -> str:
        return self.sandbox.tmux(
            "display-message", "-p", "-t", f"={run.session_name}:", "#{window_width}x#{window_height}"
        )

    def clients(self, run: Run) -> list[int]:
        """Pids of the tmux clients in front of the agent."""
        listed = self.sandbox.tmux("list-clients", "-t", f"={run.session_name}", "-F", "#{client_pid}")
        return [int(pid) for pid in listed.split()]

    def holder(self, run: Run) -> str:
        held = leases.holder_of(self.store, run.id)
        return held.holder if held else ""

    def until(self, holds: Callable[[], object], timeout: float = 20.0) -> None:
        """Wait, while every terminal goes on being read, as terminals are."""

        def looked() -> object:
            for seat in self.seats:
                seat.read(0.0)
            return holds()

        until(looked, timeout)

    def types(self, seat: Seat, run: Run, word: str) -> None:
        """Type a word into the agent's shell, and see it on the agent's screen."""
        seat.write(f"echo {word[:2]}''{word[2:]}\r".encode())
        self.until(lambda: f"\n{word}" in self.pane(run))


@pytest.fixture
def stage(tmux_sandbox: TmuxSandbox, tmp_path: Path) -> Iterator[Stage]:
    home = Home(tmp_path / "pam")
    home.make()
    home.config.write_text(f'[tmux]\nsocket = "{SOCKET}"\n')
    store = open_store(home.database)
    work = tmp_path / "work"
    work.mkdir()
    made = Stage(tmux_sandbox, home, store, work)
    yield made
    for seat in made.seats:
        seat.close()
    store.close()


def test_one_types_and_the_others_look_on(stage: Stage) -> None:
    """PAM-TEST-014, PAM-ATT-013: what A types shows in the pane and at the reader; C is refused and types nothing."""
    run = stage.start(*SHELL)
    a = stage.attached(run)
    reader = stage.seat("run", "attach", run.id, "--read-only")
    reader.until(PROMPT.encode())
    stage.types(a, run, "from-A")
    reader.until(b"from-A")
    reader.write(b"echo from-reader\r")
    c = stage.room(run)
    c.write(b"a")
    c.until(b"Take this terminal over?")
    assert re.search(r"\S+@\S+, control room \d+", stage.holder(run))
    c.write(b"n")
    c.settle()
    c.write(b"echo from-C\r")
    shell = stage.seat("run", "attach", run.id)
    shell.until(b"types into this run. Look on with --read-only")
    stage.types(a, run, "again-from-A")
    assert "from-C" not in stage.pane(run)
    assert "from-reader" not in stage.pane(run)
    assert stage.size(run) == "98x26", "the readers have no say in the size"
    a.write(LEAVE)
    a.until(b"the agent goes on")
    stage.until(lambda: stage.size(run) == "220x50" and not stage.holder(run))
    topics = [event.topic for event in _events(stage, run) if "lease" in event.topic]
    assert topics == ["run.lease_acquired", "run.lease_released"]


def test_taken_over_while_typing(stage: Stage) -> None:
    """PAM-ATT-004: from then on A's keys go nowhere, and A is told who has it."""
    run = stage.start(*SHELL)
    a = stage.attached(run)
    stage.types(a, run, "from-A")
    c = stage.room(run)
    c.write(b"a")
    c.until(b"Take this terminal over?")
    c.write(b"y")
    for _ in range(40):
        a.write(b"x")
        c.read(0.01)
    c.until(b"Attached to")
    a.until(b"types into this run now")
    stage.until(lambda: len(stage.clients(run)) == 1)
    c.write(b"\x15")
    a.write(b"echo never\r")
    stage.types(c, run, "from-C")
    assert "never" not in stage.pane(run)
    c.write(LEAVE)
    stage.until(lambda: stage.size(run) == "220x50")


def test_what_is_typed_arrives_exactly(stage: Stage, tmp_path: Path) -> None:
    """Issue 6: 10,000 random keys, pastes and mouse events, byte by byte and in order."""
    record = tmp_path / "record"
    run = stage.start(sys.executable, "-u", "-c", RECORDER, str(record))
    room = stage.attached(run, b"READY")
    room.settle(0.5)
    record.write_bytes(b"")
    sent, expected = bytearray(), bytearray()
    dice = random.Random(6)
    for _ in range(10_000):
        typed, arrives = _something(dice)
        sent += typed
        expected += arrives
    for start in range(0, len(sent), 700):
        room.write(bytes(sent[start : start + 700]))
    arrived = _whole(stage, record, len(expected))
    wrong = next((index for index, (x, y) in enumerate(zip(arrived, expected, strict=False)) if x != y), None)
    assert wrong is None, (arrived[wrong - 40 : wrong + 40], expected[wrong - 40 : wrong + 40])
    assert len(arrived) == len(expected)


def _whole(stage: Stage, record: Path, size: int) -> bytes:
    """What is written down once it is as long as it should be, or grows no more."""
    seen, since = -1, time.monotonic()
    while (now := record.stat().st_size) < size and time.monotonic() < since + 5:
        if now != seen:
            seen, since = now, time.monotonic()
        stage.seats[0].read(0.02)
    return record.read_bytes()


def _something(dice: random.Random) -> tuple[bytes, bytes]:
    """What is sent by the operator's terminal, and what an agent gets of it through tmux."""
    kind = dice.random()
    if kind < 0.6:
        text = "".join(dice.choice("abcXYZ 019äß€日本🙂;:'\"\\") for _ in range(dice.randint(1, 6))).encode()
        return text, text
    if kind < 0.8:
        plain = dice.choice(_KEYS)
        return plain, _AS_TMUX_HAS_THEM.get(plain, plain)
    if kind < 0.85:
        inside = "".join(dice.choice("paste me\t[31m~é") for _ in range(dice.randint(1, 80)))
        return (both := f"\x1b[200~{inside}\x1b[201~".encode()), both
    # No presses: of two within 300 ms tmux never tells the second, as it may be a double click.
    x, y, button = dice.randint(3, 90), dice.randint(4, 26), dice.choice((35, 64, 65))
    return _mouse(button, x, y, "M"), _mouse(button, x - 1, y - 2, "M")


def _mouse(button: int, x: int, y: int, final: str) -> bytes:
    return f"\x1b[<{button};{x};{y}{final}".encode()


_KEYS = [
    *(bytes([code]) for code in (0, *range(1, 27), 28, 30, 31, 127)),
    *(b"\x1b[" + bytes([letter]) for letter in b"ABCD"),
    *(f"\x1b[1;{modifier}{letter}".encode() for modifier in range(2, 9) for letter in "ABCD"),
    *(f"\x1bO{letter}".encode() for letter in "PQRS"),
    *(f"\x1b[{number}~".encode() for number in (2, 3, 5, 6, 15, 17, 18, 19, 20, 21, 23)),
    *(b"\x1b" + bytes([letter]) for letter in b"abcxyz019"),
    b"\x1b[H",
    b"\x1b[F",
]
_AS_TMUX_HAS_THEM = {b"\x1b[H": b"\x1b[1~", b"\x1b[F": b"\x1b[4~"}


@pytest.mark.parametrize("key", [b"\x1d", b"\x1b[93;5u", b"\x1b[93;133u", b"\x1b[27;5;93~", b"\x1b[24~", b"\x1b[24;1~"])
def test_the_way_back_is_known_in_every_encoding(stage: Stage, key: bytes) -> None:
    """FR-49; and what is typed right behind it is the control room's."""
    run = stage.start(*SHELL)
    room = stage.attached(run)
    room.write(key + b"]")
    room.until(b"Back here")
    stage.until(lambda: not stage.clients(run))
    assert "]" not in stage.pane(run)


def test_keys_of_a_kitty_terminal_reach_a_program_that_knows_none(stage: Stage, tmp_path: Path) -> None:
    record = tmp_path / "record"
    run = stage.start(sys.executable, "-u", "-c", RECORDER, str(record))
    room = stage.attached(run, b"READY")
    room.settle(0.5)
    record.write_bytes(b"")
    room.write(
        b"\x1b[97;;97u\x1b[65;2;65u\x1b[99;5u\x1b[120;3u\x1b[13u\x1b[9u\x1b[127u\x1b[1;129A\x1b[0;;26085:26412u\x1b[57441;2u"
    )
    assert _whole(stage, record, 18) == b"aA\x03\x1bx\r\t\x7f\x1b[A" + "日本".encode()


def test_many_attaches_leave_nothing_behind(stage: Stage) -> None:
    """Issue 6: 200 times; threads, descriptors, children and clients are back where they were, and so is the size."""
    run = stage.start(*SHELL)
    room = stage.attached(run)
    us = psutil.Process(room.child.pid)
    _leave(stage, room, run)
    stage.until(lambda: len(us.children()) == _steady(us))
    before = _held(us)
    for _ in range(199):
        room.output.clear()
        room.write(b"a")
        room.until(b"Attached to")
        stage.until(lambda: stage.clients(run))
        _leave(stage, room, run)
    stage.until(lambda: _held(us) == before)
    assert stage.clients(run) == []
    assert stage.size(run) == "220x50"


def _leave(stage: Stage, room: Seat, run: Run) -> None:
    room.write(LEAVE)
    stage.until(lambda: not stage.holder(run) and not stage.clients(run))
    room.until(b"Back here")


def _steady(us: psutil.Process) -> int:
    """Children of a room that is not attached: two control clients of tmux, and the spare helper."""
    return 3


def _held(us: psutil.Process) -> tuple[int, int, int]:
    return us.num_fds(), us.num_threads(), len(us.children())


def test_the_agent_ends_while_attached(stage: Stage) -> None:
    """PAM-ATT-007."""
    run = stage.start(*SHELL)
    room = stage.attached(run)
    room.write(b"exit\r")
    room.until(b"The run is over: exited.")
    stage.until(lambda: not stage.holder(run) and not stage.clients(run))


def test_tmux_goes_away_while_attached(stage: Stage) -> None:
    run = stage.start(*SHELL)
    room = stage.attached(run)
    os.kill(stage.sandbox.server_pid(), signal.SIGKILL)
    room.until(b"let go of the terminal")
    stage.until(lambda: not stage.holder(run))
    room.write(b"1")
    room.until(b"DOING")


def test_the_client_is_killed_while_attached(stage: Stage) -> None:
    run = stage.start(*SHELL)
    room = stage.attached(run)
    (client,) = stage.clients(run)
    os.kill(client, signal.SIGKILL)
    room.until(b"let go of the terminal")
    stage.until(lambda: not stage.holder(run) and stage.size(run) == "220x50")
    assert stage.run(run).status == "running"


def test_the_terminal_shrinks_to_one_cell_and_back(stage: Stage) -> None:
    run = stage.start(*SHELL)
    room = stage.attached(run)
    for rows, columns in ((1, 1), (2, 5), (30, 100)):
        room.child.setwinsize(rows, columns)
        room.settle(0.4, 2)
    stage.until(lambda: stage.size(run) == "98x26")
    stage.types(room, run, "still-here")
    room.until(b"still-here")


def test_the_control_room_is_killed_while_attached(stage: Stage) -> None:
    """The agent lives, its size is as before, and whoever comes next types without asking."""
    run = stage.start(*SHELL)
    room = stage.attached(run)
    stage.types(room, run, "before")
    os.kill(room.child.pid, signal.SIGKILL)
    stage.until(lambda: not stage.clients(run) and stage.size(run) == "220x50")
    assert stage.holder(run)
    stage.types(stage.attached(run), run, "after")


def test_the_helper_is_killed_while_attached(stage: Stage) -> None:
    """Issue 6: twenty times, and each time the same screen is back within 300 ms."""
    run = stage.start(*SHELL)
    room = stage.attached(run)
    stage.types(room, run, "the-same-screen")
    taken = []
    for number in range(20):
        (client,) = stage.clients(run)
        helper = psutil.Process(client).parent()
        assert helper is not None
        room.settle(0.3)
        start = time.monotonic()
        helper.kill()
        room.write(b"\x15" + b"q" * 3 + str(number).encode())
        while f"qqq{number}".encode() not in room.output:
            assert time.monotonic() < start + 10
            room.write(b"") if time.monotonic() < start + 0.2 else room.write(b"\x15qqq" + str(number).encode())
            room.read(0.1)
        taken.append(time.monotonic() - start)
        stage.until(lambda client=client: stage.clients(run) not in ([], [client]))  # type: ignore[misc]
    assert stage.size(run) == "98x26"
    assert len(taken) == 20


def test_noise_does_no_harm(stage: Stage, tmp_path: Path) -> None:
    """Issue 6: 100 MB of random bytes, with resizes: the room stays, and so does the agent."""
    done = tmp_path / "done"
    run = stage.start(sys.executable, "-u", "-c", NOISE, str(done))
    room = stage.attached(run, b"READY")
    room.write(b"go")
    shapes = itertools.cycle([(20, 60), (1, 1), (30, 100), (45, 160), (30, 100)])
    while not done.exists():
        rows, columns = next(shapes)
        room.child.setwinsize(rows, columns)
        for _ in range(50):
            room.read(0.005)
        room.output.clear()
    room.child.setwinsize(30, 100)
    stage.until(lambda: stage.size(run) == "98x26")
    room.write(b"!")
    room.until(b"still here")
    assert room.child.isalive()


NOISE = r"""
import os, random, sys, tty
tty.setraw(0)
os.write(1, b"READY")
os.read(0, 2)
dice = random.Random(1)
for _ in range(1000):
    os.write(1, dice.randbytes(100_000))
os.write(1, b"\x18\x1b\\\x1bc\x0f\x1b(B")
open(sys.argv[1], "w")
while b"!" not in os.read(0, 65536):
    pass
os.write(1, b"\x1bcstill here")
os.read(0, 1)
"""


def _events(stage: Stage, run: Run) -> list[Event]:
    return list(journal.of_run(stage.store, run.id))


def test_what_scrolled_away_is_looked_at_while_attached(stage: Stage) -> None:
    """The agent's pane knows nothing of it: no copy mode that would swallow what is typed into it."""
    run = stage.start(*SHELL)
    room = stage.attached(run)
    room.write(b"seq 1000 1200\r")
    room.until(b"1200")
    room.settle()
    room.write(b"\x1b[5;2~")
    room.until(b"1160")
    room.write(b"\x1b[<64;10;10M")
    room.until(b"1148")
    assert stage.sandbox.tmux("display-message", "-p", "-t", f"={run.session_name}:", "#{pane_in_mode}") == "0"
    stage.types(room, run, "here-again")
    room.until(b"here-again")


def test_a_tile_of_the_wall_is_typed_into_in_its_place(stage: Stage) -> None:
    """Issue: attach in place in a Wall tile; the agent has the tile's size meanwhile, and its own again afterwards."""
    run = stage.start(*SHELL)
    room = stage.room(run)
    before = stage.size(run)
    room.write(b"3")
    room.until(b"who needs you first")
    room.until(PROMPT.encode())
    room.write(b"a")
    room.until(lambda: stage.holder(run))
    room.until(lambda: stage.size(run) != before)
    columns, rows = map(int, stage.size(run).split("x"))
    assert 40 <= columns < 100 and 6 <= rows < 30, "as large as the tile's screen"
    room.write(b"echo tile-$((6*7))\r")
    room.until(lambda: "tile-42" in stage.pane(run))
    room.until(b"tile-42")
    room.write(LEAVE)
    room.until(lambda: not stage.holder(run))
    room.until(lambda: stage.size(run) == before)
    assert stage.run(run).status == "running"
