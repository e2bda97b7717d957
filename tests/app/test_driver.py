"""A terminal that goes away takes no control room hostage."""

from __future__ import annotations

import asyncio
import io
import os
import threading
from collections.abc import Sequence
from contextlib import suppress

import pytest
from textual import constants, events
from textual.drivers._writer_thread import MAX_QUEUED_WRITES, WriterThread

from app.control_room import ControlRoom
from app.driver import RoomDriver, Terminal
from tests.screens.fake_model import FakeModel


@pytest.mark.timeout(20)
def test_what_is_drawn_after_the_terminal_is_gone_blocks_nobody() -> None:
    """Textual queues so many writes for a thread that the first error would end; the next would wait for ever."""
    ours, theirs = os.openpty()
    gone = threading.Event()
    told: list[str] = []

    def when_gone() -> None:
        told.append("gone")
        gone.set()

    file = io.TextIOWrapper(io.FileIO(theirs, "w"), encoding="utf-8", write_through=True)
    writer = WriterThread(Terminal(file, when_gone))
    writer.start()
    writer.write("seen")
    assert os.read(ours, 4) == b"seen"
    os.close(ours)
    for _ in range(3 * MAX_QUEUED_WRITES):
        writer.write("unseen")
    assert gone.wait(10)
    writer.stop()
    assert told == ["gone"]
    file.close()


@pytest.mark.parametrize(
    ("pieces", "kinds"),
    [
        (("\x1b[<0;1", "2;5M"), [events.MouseDown]),
        (("\x1b[<35;", "12;5M\x1b[A"), [events.MouseMove, events.Key]),
        (("x\x1b[1;", "5A"), [events.Key, events.Key]),
        (("\x1b[200", "~one", " two\x1b[20", "1~"), [events.Paste]),
        (("\x1b", "q"), [events.Key, events.Key]),
    ],
)
async def test_a_line_that_stalls_in_the_middle_of_a_sequence_presses_no_keys(
    monkeypatch: pytest.MonkeyPatch, pieces: Sequence[str], kinds: Sequence[type[events.Event]]
) -> None:
    """Read as keys, half a report of the mouse would open places and move cards; Escape alone is a key."""
    driver = RoomDriver(ControlRoom(FakeModel()))
    seen: list[object] = []
    more = asyncio.Event()

    def take(message: object) -> None:
        seen.append(message)
        more.set()

    monkeypatch.setattr(driver, "process_message", take)
    for piece in pieces:
        driver._take(piece.encode())
        more.clear()
        with suppress(TimeoutError):
            await asyncio.wait_for(more.wait(), constants.ESCAPE_DELAY * 4)
    assert [type(message) for message in seen] == list(kinds)


def test_the_control_room_draws_with_it() -> None:
    assert ControlRoom(FakeModel()).driver_class is RoomDriver
