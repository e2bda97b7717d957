"""A terminal that goes away takes no control room hostage."""

from __future__ import annotations

import io
import os
import threading

import pytest
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


def test_the_control_room_draws_with_it() -> None:
    assert ControlRoom(FakeModel()).driver_class is RoomDriver
