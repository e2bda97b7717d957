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

from executor.terminal.helper import Helper
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
    assert psutil.Process().children() == []


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


async def test_a_directory_that_is_gone_says_so(terminals: Terminals, eyes: Eyes, tmp_path: Path) -> None:
    """And no second helper goes on in the process that was to be the program."""
    terminals.open(program("sh", cwd=tmp_path / "gone"), 40, 5, eyes)
    await eyes.until(lambda: eyes.end)
    assert eyes.end is not None
    assert eyes.end[0] is None
    assert "gone" in eyes.end[1]
    await eyes.until(lambda: len(psutil.Process().children(recursive=True)) <= 2)  # the nursery, and a helper that ends


@pytest.mark.parametrize("size", range(1, 9))
def test_what_is_said_in_pieces_is_understood(size: int) -> None:
    """tmux says on connecting that it wants other keys, and holds its screen until all of it is written."""
    said = b"x\x1b[>4;1my\x1bP=1s\x1b\\held"
    helper = Helper(0, 1)
    for more, holds in ((said, True), (b"\x1bP=2s\x1b\\", False)):
        for start in range(0, len(more), size):
            helper._watch(more[start : start + size])
        assert helper._other_keys
        assert helper._tmux_holds is holds


async def test_closing_ends_even_a_stubborn_program(terminals: Terminals, eyes: Eyes) -> None:
    terminal = terminals.open(program("sh", "-c", "trap '' HUP TERM; echo up; while :; do sleep 1; done"), 40, 5, eyes)
    await eyes.until(lambda: "up" in eyes.text)
    pids = (terminal.helper_pid, terminal.program_pid)
    await terminal.close()
    assert [pid for pid in pids if psutil.pid_exists(pid)] == []


async def test_a_helper_that_is_killed_is_followed_by_another(terminals: Terminals, eyes: Eyes) -> None:
    """Issue 6: twenty times, as soon as the one before is there, each within 300 ms, with the same screen."""
    terminals.warm()
    terminal = terminals.open(program("sh", "-c", "printf 'the same screen'; exec cat"), 40, 5, eyes)
    await eyes.until(lambda: "the same screen" in eyes.text)
    taken = []
    for number in range(20):
        helper, child = terminal.helper_pid, terminal.program_pid
        start = time.monotonic()
        os.kill(helper, signal.SIGKILL)
        await eyes.until(lambda number=number: eyes.restarts > number and "the same screen" in eyes.text)  # type: ignore[misc]
        taken.append(time.monotonic() - start)
        assert terminal.helper_pid != helper
        assert terminal.program_pid != child
    assert eyes.end is None
    assert max(taken) < 0.3, taken


async def test_a_nursery_that_is_killed_is_followed_by_another(terminals: Terminals, eyes: Eyes) -> None:
    terminals.warm()
    terminals.open(program("sh", "-c", "printf 'the same screen'; exec cat"), 40, 5, eyes)
    await eyes.until(lambda: "the same screen" in eyes.text)
    for number in range(3):
        (nursery,) = psutil.Process().children()
        nursery.kill()
        await eyes.until(lambda number=number: eyes.restarts > number and "the same screen" in eyes.text)  # type: ignore[misc]
    assert eyes.end is None


async def test_keys_wait_until_the_program_has_set_up_its_terminal(terminals: Terminals, eyes: Eyes) -> None:
    """Before it has, Ctrl-C would be its end, and Return another character."""
    late = "import os, time, tty\ntime.sleep(0.2)\ntty.setraw(0)\nos.write(1, b'up ')\nprint(os.read(0, 99))\n"
    terminal = terminals.open(python(late + "os.read(0, 1)"), 40, 5, eyes)
    terminal.write(b"a\x03\r")
    await eyes.until(lambda: r"up b'a\x03\r'" in eyes.text)


async def test_keys_do_not_wait_for_ever_for_a_program_that_says_nothing(terminals: Terminals, eyes: Eyes) -> None:
    terminal = terminals.open(program("sh", "-c", "stty -echo; read line; echo heard $line; exec cat"), 40, 5, eyes)
    terminal.write(b"me\r")
    await eyes.until(lambda: "heard me" in eyes.text)


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
async def test_signals_are_the_program_s_own(terminals: Terminals, eyes: Eyes) -> None:
    """What Python ignores would be ignored by whatever a shell starts: Ctrl-C would end nothing."""
    terminals.open(program("grep", "SigIgn", "/proc/self/status"), 40, 5, eyes)
    await eyes.until(lambda: eyes.end)
    ignored = int(eyes.text.split()[1], 16)
    ours = (signal.SIGINT, signal.SIGPIPE, signal.SIGXFSZ)  # others may be ignored by whoever runs the tests
    assert not any(ignored >> (number - 1) & 1 for number in ours), eyes.text


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


async def test_frames_do_not_wait_behind_others(terminals: Terminals) -> None:
    """Issue 6: whoever is slow to draw sees the present, not the past; and nothing else of the loop waits for that."""

    class Slow(Eyes):
        def drawn(self, frame: Frame) -> None:
            super().drawn(frame)
            time.sleep(0.05)

    eyes = Slow()
    flood = "import time\nend = time.monotonic() + 1\nwhile time.monotonic() < end: print(*range(500), sep='\\n')\n"
    terminals.open(python(flood + "print('over', time.monotonic())\ninput()"), 80, 24, eyes)
    await eyes.until(lambda: "over" in eyes.text)
    over = float(eyes.text.partition("over ")[2].split()[0])
    assert time.monotonic() - over < 0.4


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
    assert (us.num_fds(), us.num_threads(), len(us.children(recursive=True))) == before
    await terminals.close()
    assert us.children(recursive=True) == []


async def _once(terminals: Terminals, eyes: Eyes) -> None:
    eyes.rows.clear()
    terminal: Terminal = terminals.open(program("sh", "-c", "echo up; exec cat"), 40, 5, eyes)
    await eyes.until(lambda: "up" in eyes.text)
    await terminal.close()
