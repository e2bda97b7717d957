"""Who is the executor of a home, seen from a control room: taken when it is free, said when it changes (FR-34)."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path

import pytest

from app import seat
from app.seat import Seat
from executor import lock
from executor.background import LoopThread
from executor.lock import ExecutorBusy
from store.errors import TmuxUnavailable
from store.home import Home

HOLD = """
import sys
from pathlib import Path
from executor import lock
from store.home import Home
held = lock.acquire(Home(Path(sys.argv[1])), "headless")
print(bool(held), flush=True)
sys.stdin.read()
"""


@pytest.fixture
def home(tmp_path: Path) -> Home:
    made = Home(tmp_path / "home")
    made.make()
    return made


@contextmanager
def other(home: Home) -> Iterator[int]:
    """Another process that is the executor; its pid."""
    root = str(Path(__file__).parents[2])
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(home.path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": root},
    ) as process:
        assert process.stdout and process.stdout.readline() == b"True\n"
        yield process.pid
        process.communicate()


class Lasting(LoopThread):
    """One that does not end by itself."""

    def wait(self, timeout: float | None = None) -> bool:
        return False


@contextmanager
def executor(home: Home, kind: type[LoopThread] = Lasting) -> Iterator[LoopThread]:
    """As ``host_executor``, with nothing to do."""
    held = lock.acquire(home, "control-room")
    if held is None:
        raise ExecutorBusy("Another process is the executor.")

    async def serve(started: Future[None]) -> None:
        started.set_result(None)

    thread = kind("idle", serve)
    try:
        thread.start()
        yield thread
    finally:
        thread.stop()
        held.release()


def test_a_free_seat_is_taken_and_given_back(home: Home) -> None:
    mine = Seat(home, lambda: executor(home))
    mine.open()
    assert lock.state(home).pid == os.getpid()
    assert [mine.look(), mine.trouble] == [None, ""]
    mine.close()
    assert not lock.state(home).running


def test_a_seat_that_stays_free_is_taken_and_that_is_said(home: Home) -> None:
    """What is asked for in a second control room does not wait for ever once the first has gone."""
    mine = Seat(home, lambda: executor(home))
    with other(home) as pid:
        mine.open()
        assert lock.state(home).pid == pid
        assert mine.look() is None
    assert mine.look() == f"The executor is gone (pid {pid}); agents go on."
    assert [mine.look() for _ in range(seat.FREE_LOOKS - 2)] == [None] * (seat.FREE_LOOKS - 2)
    assert mine.look() == "The executor was gone; this control room is it now."
    assert lock.state(home).pid == os.getpid()
    mine.close()


def test_one_that_comes_back_at_once_keeps_its_seat(home: Home) -> None:
    """``pam down`` and ``pam up`` beside an open control room."""
    mine = Seat(home, lambda: executor(home))
    with other(home):
        mine.open()
    assert mine.look() is not None
    with other(home) as again:
        assert mine.look() == f"Process {again} is the executor now."
        assert [mine.look() for _ in range(5)] == [None] * 5
    mine.close()


def test_without_tmux_the_reason_is_said_once_and_it_is_tried_again_later(home: Home) -> None:
    now = [100.0]
    missing = [True]

    @contextmanager
    def host() -> Iterator[LoopThread]:
        if missing[0]:
            raise TmuxUnavailable("tmux is not installed.")
        with executor(home) as thread:
            yield thread

    mine = Seat(home, host, clock=lambda: now[0])
    mine.open()
    assert mine.trouble == "No agent can be started: tmux is not installed."
    missing[0] = False
    assert [mine.look() for _ in range(5)] == [None] * 5
    now[0] += seat.RETRY_S
    assert mine.look() == "The executor was gone; this control room is it now."
    assert mine.trouble == ""
    mine.close()


def test_an_executor_that_ends_by_itself_gives_its_seat_up_and_says_so(home: Home) -> None:
    mine = Seat(home, lambda: executor(home, LoopThread))
    mine.open()
    said = next(sentence for sentence in iter(mine.look, "") if sentence)
    assert "has stopped by itself" in said
    assert said == mine.trouble
    assert not lock.state(home).running
    mine.close()


def test_a_seat_that_is_to_be_opened_says_so_until_it_was_tried(home: Home) -> None:
    mine = Seat(home, lambda: executor(home))
    mine.opening = True
    mine.open()
    assert not mine.opening
    assert lock.state(home).running
    mine.close()


def test_a_seat_that_was_given_up_for_good_is_not_taken_again(home: Home) -> None:
    """The control room leaves while its executor is still being started."""
    mine = Seat(home, lambda: executor(home))
    mine.close()
    mine.open()
    assert not lock.state(home).running
