"""Keys straight to the program: what is its, what is the control room's, and in which order."""

from __future__ import annotations

import asyncio
from collections.abc import Set

import pytest

from screens.terminal.intake import PATIENCE, Intake

CELL = (1.0, 1.0)
ARROW = "\x1b[A"


class FakeDesk:
    """A program's screen of 20 × 10 at column 5, row 3."""

    def __init__(self, *modes: str, kitty: int = 0) -> None:
        self.modes: Set[str] = frozenset(modes)
        self.kitty = kitty
        self.corner = (5, 3, 20, 10)
        self.sent = b""
        self.more = asyncio.Event()
        self.left = 0
        self.pages: list[int] = []
        self.has_past = True

    def send(self, data: bytes) -> None:
        self.sent += data
        self.more.set()

    def page(self, step: int) -> bool:
        self.pages.append(step)
        return self.has_past

    def leave(self) -> None:
        self.left += 1


def intake(desk: FakeDesk) -> Intake:
    return Intake(desk, ["ctrl+right_square_bracket", "f12"])


async def test_keys_go_as_they_come() -> None:
    desk = FakeDesk()
    assert intake(desk).take("aé\r\x03\x1b[1;5C\x1bx\x1bOP", CELL) == ""
    assert desk.sent == "aé\r\x03\x1b[1;5C\x1bx\x1bOP".encode()


async def test_what_is_typed_behind_the_way_out_is_the_rooms() -> None:
    desk = FakeDesk()
    assert intake(desk).take("abc\x1dq\x1b[B", CELL) == "q\x1b[B"
    assert (desk.sent, desk.left) == (b"abc", 1)
    assert intake(desk).take("\x1b[24~\x1b[", CELL) == "\x1b["


async def test_answers_and_the_focus_stay_with_the_room() -> None:
    desk = FakeDesk()
    assert intake(desk).take("\x1b[?2026;2$ya\x1b[I", CELL) == "\x1b[?2026;2$y\x1b[I"
    assert desk.sent == b"a"
    desk = FakeDesk("focus")
    assert intake(desk).take("\x1b[O", CELL) == "\x1b[O"
    assert desk.sent == b"\x1b[O"


async def test_the_mouse_is_the_programs_where_it_asked_and_is() -> None:
    desk = FakeDesk("mouse_drag", "mouse_sgr")
    taken = intake(desk)
    assert taken.take("\x1b[<0;6;4M\x1b[<32;30;4M\x1b[<0;30;4m", CELL) == ""
    assert desk.sent == b"\x1b[<0;1;1M\x1b[<32;20;1M\x1b[<0;20;1m", "a drag that leaves goes on at the edge"
    assert taken.take("\x1b[<0;1;1M", CELL) == "\x1b[<0;1;1M"
    assert taken.take("\x1b[<35;6;4M", CELL) == "\x1b[<35;6;4M", "it did not ask for movements"
    assert intake(FakeDesk()).take("\x1b[<0;6;4M", CELL) == "\x1b[<0;6;4M"


async def test_a_mouse_in_pixels_is_told_in_cells() -> None:
    desk = FakeDesk("mouse_press", "mouse_sgr")
    intake(desk).take("\x1b[<0;61;61M", (10.0, 20.0))
    assert desk.sent == b"\x1b[<0;2;1M"


async def test_the_old_way_of_telling_the_mouse() -> None:
    desk = FakeDesk("mouse_press")
    intake(desk).take("\x1b[<0;6;4M\x1b[<0;6;4m", CELL)
    assert desk.sent == b"\x1b[M !!\x1b[M#!!"


async def test_a_paste_is_one() -> None:
    desk = FakeDesk("paste")
    intake(desk).take("\x1b[200~a\x1db\x1b[201~", CELL)
    assert (desk.sent, desk.left) == (b"\x1b[200~a\x1db\x1b[201~", 0), "no key of it leaves"


async def test_an_escape_by_itself_is_the_key_after_a_moment() -> None:
    desk = FakeDesk()
    taken = intake(desk)
    taken.take("\x1b", CELL)
    assert desk.sent == b""
    async with asyncio.timeout(PATIENCE * 100):
        await desk.more.wait()
    assert desk.sent == b"\x1b"
    taken.take("\x1b", CELL)
    taken.take("[A", CELL)
    assert desk.sent == b"\x1b\x1b[A"


@pytest.mark.parametrize("whole", ["\x1b[<0;7;5M", "\x1b[1;5A", "\x1b[200~text\x1b[201~"])
async def test_a_line_that_stalls_in_the_middle_of_a_sequence_breaks_none(whole: str) -> None:
    """Half a report of the mouse says where nothing was clicked: its numbers count from another corner."""
    desk = FakeDesk("mouse_press", "mouse_sgr", "paste")
    taken = intake(desk)
    taken.take(whole[:4], CELL)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(desk.more.wait(), PATIENCE * 3)
    taken.take(whole[4:], CELL)
    one_piece = FakeDesk("mouse_press", "mouse_sgr", "paste")
    intake(one_piece).take(whole, CELL)
    assert desk.sent == one_piece.sent != b""


async def test_cursor_keys_as_the_program_asked() -> None:
    desk = FakeDesk("app_cursor")
    intake(desk).take(ARROW + "\x1b[1;2A", CELL)
    assert desk.sent == b"\x1bOA\x1b[1;2A"


async def test_a_kitty_terminal_before_a_plain_program_and_the_other_way_round() -> None:
    desk = FakeDesk()
    intake(desk).take("\x1b[97;;97u\x1b[99;5u\x1b[13;2u\x1b[1;65A\x1b[97;1:3u", CELL)
    assert desk.sent == b"a\x03\r\x1b[A"
    desk = FakeDesk(kitty=1)
    intake(desk).take("a\x03\r\x1bx", CELL)
    assert desk.sent == b"a\x1b[99;5u\r\x1b[120;3u"


async def test_shift_and_a_page_key_look_back() -> None:
    desk = FakeDesk()
    intake(desk).take("\x1b[5;2~\x1b[6;2~\x1b[5~", CELL)
    assert (desk.pages, desk.sent) == ([-1, 1], b"\x1b[5~")
    desk.has_past = False
    intake(desk).take("\x1b[5;2~", CELL)
    assert desk.sent == b"\x1b[5~\x1b[5;2~"
