"""A program's cursor, links and underlines on the operator's own terminal, which is another engine; no tmux between."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from executor.terminal.engine import Engine
from executor.terminal.link import available
from tests.support.attach_rig import Seat, terminal_environ
from tests.support.waiting import until

pytestmark = [
    pytest.mark.skipif(not available(), reason="no engine for this machine"),
    pytest.mark.timeout(120),
]

COLUMNS, ROWS = 60, 20
TOP = 1
"""Where the program's terminal begins."""
WRITER = r"""
import os, signal, sys, termios, tty
tty.setraw(0)
signal.signal(signal.SIGUSR1, lambda *_: os.write(1, b"\x1b[H\x1b[2Jat the top\x1b[14;1Hlow down again"))
os.write(1, b"READY")
for line in sys.stdin:
    os.write(1, bytes.fromhex(line))
"""
"""Writes what it is told in hexadecimal, and at a signal by itself."""
LEAVE, BACK, DIALOG, SAY, HAND_OVER, END, BREAK = b"\x1b[24~", b"\x14", b"\x0f", b"\x12", b"\x07", b"\x18", b"\x19"


class Watched:
    """The room on a terminal that understands what is drawn; ``answers``: whether it answers what it is asked."""

    def __init__(self, home: Path, *, answers: bool, term: str = "xterm-256color") -> None:
        environ = {**terminal_environ(home), "TERM": term, "PYTHONPATH": str(Path(__file__).parents[2])}
        argv = [sys.executable, "-m", "tests.support.terminal_room", sys.executable, "-u", "-c", WRITER]
        self.seat = Seat(argv, environ, columns=COLUMNS, rows=ROWS)
        self.screen = Engine(COLUMNS, ROWS, reply=self._answer if answers else lambda _: None)
        self.raw = bytearray()
        """All that was drawn."""

    def _answer(self, answer: bytes) -> None:
        with suppress(OSError):
            os.write(self.seat.child.fd, answer)

    def until(self, holds: Callable[[], object]) -> None:
        """Go on drawing until something holds."""

        def look() -> object:
            self.seat.read(0.0)
            drawn = bytes(self.seat.output)
            self.seat.output.clear()
            self.raw += drawn
            self.screen.feed(drawn)
            return holds()

        until(look, 20.0, lambda: (self.screen.cursor(), self.screen.screen()))

    def until_shown(self, text: str) -> None:
        self.until(lambda: text in "\n".join(self.screen.screen()))

    def until_cursor(self, x: int, y: int, shape: str = "default") -> None:
        """Until it is seen, at a cell of the program's terminal."""
        self.until(lambda: self.screen.cursor() == (x, TOP + y, True, shape))

    def until_hidden(self) -> None:
        self.until(lambda: not self.screen.cursor().visible)

    def writes(self, data: bytes) -> None:
        """Have the program write."""
        self.seat.write(data.hex().encode() + b"\n")

    def program(self) -> int:
        """Its pid."""
        below = psutil.Process(self.seat.child.pid).children(recursive=True)
        (found,) = [process.pid for process in below if process.cmdline()[-1:] == [WRITER]]
        return found

    def close(self) -> None:
        self.seat.close()
        self.screen.close()


@pytest.fixture(params=[True, False], ids=["answering", "silent"])
def room(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Watched]:
    made = Watched(tmp_path, answers=request.param)
    made.until_cursor(5, 0)
    yield made
    made.close()


def test_the_operators_own_cursor_is_where_the_programs_is(room: Watched) -> None:
    room.writes(b"\x1b[H\x1b[2Jone\r\ntwo")
    room.until_cursor(3, 1)
    room.writes(b"\x1b[5;9H")
    room.until_cursor(8, 4)
    drawn = room.screen.screen()[TOP : TOP + 5]
    assert "\x1b[7m" not in "".join(drawn), "and is not drawn besides"
    room.writes(b"\x1b[?25l\x1b[1;1Hx")
    room.until_hidden()
    room.writes(b"\x1b[?25h")
    room.until_cursor(1, 0)


@pytest.mark.parametrize(
    ("asked", "shape"),
    [
        (1, "blinking block"),
        (2, "block"),
        (3, "blinking underline"),
        (4, "underline"),
        (5, "blinking bar"),
        (6, "bar"),
        (0, "default"),
    ],
)
def test_its_shape_is_what_the_program_asked_for(room: Watched, asked: int, shape: str) -> None:
    room.writes(b"\x1b[4 q" if asked != 4 else b"\x1b[6 q")
    room.until_cursor(5, 0, "underline" if asked != 4 else "bar")
    room.writes(b"\x1b[%d q" % asked)
    room.until_cursor(5, 0, shape)


def test_it_is_hidden_while_another_has_the_keys(room: Watched) -> None:
    room.writes(b"\x1b[6 q")
    room.until_cursor(5, 0, "bar")
    room.seat.write(LEAVE)
    room.until(lambda: room.screen.cursor()[2:] == (False, "default"))
    room.seat.write(BACK)
    room.until_cursor(5, 0, "bar")


def test_it_is_hidden_under_a_dialog_and_comes_back(room: Watched) -> None:
    room.writes(b"\r\n" * 14 + b"low down")
    room.until_cursor(8, 14)
    room.seat.write(LEAVE + DIALOG)
    room.until_shown("over it all")
    room.until_hidden()
    os.kill(room.program(), signal.SIGUSR1)
    room.until_shown("low down again")
    assert "at the top" not in "".join(room.screen.screen()), "nothing is painted over the dialog"
    assert not room.screen.cursor().visible
    room.seat.write(b"\x1b")
    room.until_shown("at the top")
    room.until_cursor(14, 13)


def test_it_does_not_shine_through_what_is_said_over_it(room: Watched) -> None:
    room.writes(b"\x1b[16;50H")
    room.until_cursor(49, 15)
    room.seat.write(LEAVE + SAY)
    room.until_shown("said over it")
    room.until_hidden()
    room.writes(b"\x1b[1;1H")
    room.until_cursor(0, 0)


def test_another_program_that_has_the_terminal_finds_it_as_it_was(room: Watched) -> None:
    room.writes(b"\x1b[5 q")
    room.until_cursor(5, 0, "blinking bar")
    room.seat.write(LEAVE + HAND_OVER)
    room.until_shown("handed over")
    assert room.screen.cursor()[2:] == (True, "default")
    room.seat.write(b"\r")
    room.until_cursor(5, 0, "blinking bar")


@pytest.mark.parametrize("way", [END, BREAK])
def test_it_is_given_back_on_every_way_out(room: Watched, way: bytes) -> None:
    room.writes(b"\x1b[?25h\x1b[5 q")
    room.until_cursor(5, 0, "blinking bar")
    room.seat.write(LEAVE + way)
    room.until(lambda: not room.seat.child.isalive() and not room.seat.read(0.0))
    assert room.screen.cursor()[2:] == (True, "default")


def test_a_painting_never_shows_it_elsewhere(room: Watched) -> None:
    """It is hidden while it is moved about: byte by byte, it is seen only where the program has it."""
    room.writes(b"\x1b[H\x1b[2J")
    room.until_cursor(0, 0)
    start = len(room.raw)
    room.writes(b"".join(b"\x1b[%d;1Hrow\x1b[K" % (y + 1) for y in range(15)) + b"\x1b[8;4H")
    room.until_cursor(3, 7)
    again = Engine(COLUMNS, ROWS, reply=lambda _: None)
    again.feed(bytes(room.raw[:start]))
    seen = set()
    for byte in room.raw[start:]:
        again.feed(bytes([byte]))
        if again.cursor().visible:
            seen.add(again.cursor()[:2])
    again.close()
    assert seen == {(0, TOP), (3, TOP + 7)}


def test_a_terminal_of_one_shape_is_not_asked_for_another(tmp_path: Path) -> None:
    """The console of Linux would show a part of what it does not know."""
    room = Watched(tmp_path, answers=False, term="linux")
    room.until_cursor(5, 0)
    room.writes(b"\x1b[6 q\x1b[1;1H")
    room.until_cursor(0, 0)
    assert b" q" not in room.raw
    room.close()


def test_links_and_underlines_reach_the_operators_terminal(room: Watched) -> None:
    room.writes(
        b"\x1b[H\x1b[2J\x1b]8;id=7;https://example.com/a\x1b\\link\x1b]8;;\x1b\\ rest\r\n"
        b"\x1b]8;;javascript:alert(1)\x1b\\bad\x1b]8;;\x1b\\\r\n"
        b"\x1b[4:3;58:2::255:0:0mcurly\x1b[0m \x1b[4:4mdots\x1b[0m \x1b[4:5mdash\x1b[0m"
        b" \x1b[21mtwo\x1b[0m \x1b[53mover\x1b[0m"
    )
    room.until_shown("over")
    link, bad, lines = room.screen.screen()[TOP : TOP + 3]
    assert link.startswith("\x1b]8;;https://example.com/a\x1b\\")
    assert "mlink\x1b]8;;\x1b\\ rest" in link
    assert "bad" in bad and "\x1b]8" not in bad
    for codes, word in (("4:3", "curly"), ("4:4", "dots"), ("4:5", "dash"), ("4:2", "two"), ("53", "over")):
        style = lines[: lines.index(word)].rpartition("\x1b[0m")[2]
        assert f"\x1b[{codes}m" in style, word
        assert ("\x1b[58;2;255;0;0m" in style) == (word == "curly")
