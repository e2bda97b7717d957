"""Programs on real helpers: typed into, resized, ended, flooded, killed."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
import pytest_asyncio

from executor.terminal.link import Frame, Program, Terminal, Terminals, available

pytestmark = pytest.mark.skipif(not available(), reason="no engine for this machine")

PATIENCE = 10.0


class Eyes:
    """A viewer that keeps what it is told."""

    def __init__(self) -> None:
        self.rows: dict[int, str] = {}
        self.frame: Frame | None = None
        self.frames = 0
        self.bells = 0
        self.copies: list[str] = []
        self.restarts = 0
        self.end: tuple[int | None, str] | None = None
        self._news = asyncio.Event()

    def drawn(self, frame: Frame) -> None:
        self.frame, self.frames = frame, self.frames + 1
        self.rows.update(frame.rows)
        self._news.set()

    def rang(self) -> None:
        self.bells += 1
        self._news.set()

    def copied(self, text: str) -> None:
        self.copies.append(text)
        self._news.set()

    def restarted(self) -> None:
        self.restarts += 1
        self.rows.clear()
        self._news.set()

    def ended(self, status: int | None, why: str) -> None:
        self.end = (status, why)
        self._news.set()

    @property
    def text(self) -> str:
        return "\n".join(self.rows[y] for y in sorted(self.rows))

    async def until(self, holds: Callable[[], object]) -> None:
        async with asyncio.timeout(PATIENCE):
            while not holds():
                self._news.clear()
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._news.wait(), 0.05)


@pytest_asyncio.fixture
async def terminals() -> AsyncIterator[Terminals]:
    made = Terminals()
    yield made
    await made.close()
    assert not made._all


@pytest.fixture
def eyes() -> Eyes:
    return Eyes()


def program(*argv: str, cwd: Path | None = None, **env: str) -> Program:
    return Program(argv, {"PATH": os.environ["PATH"], "TERM": "xterm-256color", **env}, str(cwd) if cwd else None)


def python(code: str) -> Program:
    return program(sys.executable, "-u", "-c", code)


async def test_what_is_typed_reaches_the_program_and_its_screen_comes_back(terminals: Terminals, eyes: Eyes) -> None:
    terminal = terminals.open(program("sh", PS1="> "), 40, 5, eyes)
    await eyes.until(lambda: ">" in eyes.text)
    terminal.write(b"echo $((40 + 2)); stty size\r")
    await eyes.until(lambda: "\n42\n5 40" in eyes.text)
    assert eyes.frame is not None
    assert eyes.frame.size == (40, 5)


async def test_resizing_reaches_the_program(terminals: Terminals, eyes: Eyes) -> None:
    terminal = terminals.open(program("sh", PS1="> "), 40, 5, eyes)
    await eyes.until(lambda: ">" in eyes.text)
    for columns, rows in ((1, 1), (77, 9)):
        terminal.resize(columns, rows)
        await eyes.until(lambda size=(columns, rows): eyes.frame and eyes.frame.size == size)  # type: ignore[misc]
    terminal.write(b"clear; stty size\r")
    await eyes.until(lambda: "9 77" in eyes.text)


async def test_the_end_is_told_with_its_code(terminals: Terminals, eyes: Eyes) -> None:
    terminals.open(program("sh", "-c", "echo last words; exit 3"), 40, 5, eyes)
    await eyes.until(lambda: eyes.end)
    assert eyes.end == (3, "")
    assert "last words" in eyes.text


async def test_a_program_that_is_killed_ends_by_its_signal(terminals: Terminals, eyes: Eyes) -> None:
    """Issue 6: PTY child killed."""
    terminal = terminals.open(program("cat"), 40, 5, eyes)
    await eyes.until(lambda: terminal.program_pid)
    os.kill(terminal.program_pid, signal.SIGKILL)
    await eyes.until(lambda: eyes.end)
    assert eyes.end == (-9, "")


async def test_a_program_that_is_not_there_says_so(terminals: Terminals, eyes: Eyes) -> None:
    terminals.open(program("no-such-program"), 40, 5, eyes)
    await eyes.until(lambda: eyes.end)
    assert eyes.end is not None
    assert "no-such-program" in eyes.end[1]


async def test_closing_ends_even_a_stubborn_program(terminals: Terminals, eyes: Eyes) -> None:
    terminal = terminals.open(program("sh", "-c", "trap '' HUP TERM; echo up; while :; do sleep 1; done"), 40, 5, eyes)
    await eyes.until(lambda: "up" in eyes.text)
    pids = (terminal.helper_pid, terminal.program_pid)
    await terminal.close()
    assert [pid for pid in pids if psutil.pid_exists(pid)] == []


async def test_a_helper_that_is_killed_is_followed_by_another(terminals: Terminals, eyes: Eyes) -> None:
    """Issue 6: twenty times, each within 300 ms, with the same screen; the program of before is hung up on."""
    screen = "import sys, time\nprint('the same screen', end='')\nsys.stdin.read()"
    terminals.warm()
    terminal = terminals.open(python(screen), 40, 5, eyes)
    await eyes.until(lambda: "the same screen" in eyes.text)
    taken = []
    for number in range(20):
        helper, child = terminal.helper_pid, terminal.program_pid
        start = time.monotonic()
        os.kill(helper, signal.SIGKILL)
        await eyes.until(lambda number=number: eyes.restarts > number and "the same screen" in eyes.text)  # type: ignore[misc]
        taken.append(time.monotonic() - start)
        assert terminal.helper_pid != helper
        await eyes.until(lambda child=child: terminal.program_pid not in (0, child))  # type: ignore[misc]
    assert eyes.end is None
    # The program's own start is part of it here: a Python, some 50 ms.
    assert sorted(taken)[-2] < 0.5, taken


async def test_helpers_that_keep_dying_are_given_up(eyes: Eyes) -> None:
    terminals = Terminals([sys.executable, "-c", "raise SystemExit"])
    terminals.open(program("cat"), 40, 5, eyes)
    await eyes.until(lambda: eyes.end)
    assert eyes.end is not None
    assert "keeps dying" in eyes.end[1]
    await terminals.close()


async def test_a_flood_is_skipped_to_its_latest(terminals: Terminals, eyes: Eyes) -> None:
    """At most some 60 frames a second, and the last one is the end of it."""
    start = time.monotonic()
    terminals.open(program("sh", "-c", "seq 1 300000; echo over"), 80, 24, eyes)
    await eyes.until(lambda: eyes.end)
    assert "300000\nover" in eyes.text
    assert eyes.frames < 75 * (time.monotonic() - start) + 10


async def test_noise_does_no_harm(terminals: Terminals, eyes: Eyes) -> None:
    """Issue 6: random bytes, with resizes; a crash of the engine is one restart."""
    noise = "import os\nfor _ in range(200): os.write(1, os.urandom(50_000))\n"
    noise += "os.write(1, b'\\x1bc\\x1b[!pstill here')\ninput()"
    terminal = terminals.open(python(noise), 80, 24, eyes)
    for size in ((1, 1), (200, 60), (3, 40), (80, 24)):
        terminal.resize(*size)
        await asyncio.sleep(0.05)
    await eyes.until(lambda: "still here" in eyes.text or eyes.end)
    assert eyes.end is None


async def test_a_long_paste_arrives_whole_while_nobody_reads_it(terminals: Terminals, eyes: Eyes) -> None:
    count = (
        "import os, sys, time, tty\ntty.setraw(0)\nos.write(1, b'ready')\ntime.sleep(0.3)\nn = 0\n"
        "while n < 1_000_000: n += len(os.read(0, 65536))\nos.write(1, b'\\r\\n%d' % n)\nos.read(0, 1)"
    )
    terminal = terminals.open(python(count), 40, 5, eyes)
    await eyes.until(lambda: "ready" in eyes.text)
    terminal.write(b"x" * 1_000_000)
    await eyes.until(lambda: "1000000" in eyes.text)


async def test_the_helper_ends_with_whoever_started_it(tmp_path: Path) -> None:
    """Killed, so that it cannot say anything; what it ran is hung up on."""
    code = (
        "import asyncio, os, sys\nfrom executor.terminal.link import Program, Terminals\n"
        "class Eyes:\n"
        "    def drawn(self, frame): print(terminal.helper_pid, terminal.program_pid, flush=True)\n"
        "    rang = copied = restarted = ended = lambda self, *a: None\n"
        "async def main():\n"
        "    global terminal\n"
        "    program = Program(('sh', '-c', 'echo up; exec sleep 1000'), dict(os.environ))\n"
        "    terminal = Terminals().open(program, 9, 9, Eyes())\n"
        "    await asyncio.sleep(1000)\n"
        "asyncio.run(main())\n"
    )
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", code, stdout=asyncio.subprocess.PIPE)
    assert process.stdout is not None
    pids = [int(word) for word in (await asyncio.wait_for(process.stdout.readline(), PATIENCE)).split()]
    process.kill()
    await process.wait()
    async with asyncio.timeout(PATIENCE):
        while any(psutil.pid_exists(pid) for pid in pids if pid):
            await asyncio.sleep(0.01)


async def test_nothing_is_left_of_many(eyes: Eyes) -> None:
    """Issue 6: descriptors, children and threads are back where they were."""
    us = psutil.Process()
    terminals = Terminals()
    terminals.warm()
    await _once(terminals, eyes)
    before = (us.num_fds(), us.num_threads(), len(us.children(recursive=True)))
    for _ in range(25):
        await _once(terminals, eyes)
    assert (us.num_fds(), us.num_threads()) == before[:2]
    await terminals.close()
    assert us.children(recursive=True) == []


async def _once(terminals: Terminals, eyes: Eyes) -> None:
    eyes.rows.clear()
    terminal: Terminal = terminals.open(program("sh", "-c", "echo up; exec cat"), 40, 5, eyes)
    await eyes.until(lambda: "up" in eyes.text)
    await terminal.close()
    await eyes.until(lambda: terminals._spare is not None)
