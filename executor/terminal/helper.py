"""A helper process: one program on a pseudo-terminal, its screen told over one pipe, its keys taken from another.

The nursery forks it. It ends with its program, when told to, and when the control room is gone; the program never
outlives it.
"""

from __future__ import annotations

import ctypes
import os
import re
import select
import signal
import sys
import time
from contextlib import suppress
from functools import partial
from typing import Final

from ptyprocess import PtyProcess

from executor.terminal.engine import SYNCHRONIZED, Engine
from executor.terminal.protocol import INPUT, SEEN, WORD, Frames, Word, decode_word, encode_word

FRAME_S: Final = 1 / 60
"""Between two frames of a program that writes without pause."""
ECHO_S: Final = 0.05
"""How long after a key its answer is awaited: what comes then is shown at once."""
DRAIN_BYTES: Final = 256 * 1024
"""Most that is read before keys are looked for."""
HOLD_S: Final = 0.15
"""Longest that a program may keep its screen from being shown, in synchronized output."""
SET_UP_S: Final = 0.5
"""How long a program has to say something. Before it does, its terminal may still turn Ctrl-C into its end."""
_OTHER_KEYS = re.compile(rb"\x1b\[>4(?:;([0-9]))?m")
_TMUX_SYNC = re.compile(rb"\x1bP=([12])s\x1b\\")
_LESS_THAN_ONE: Final = 6
"""Bytes of the longest of these sequences, but for one."""
_PR_SET_PDEATHSIG: Final = 1


class Helper:
    """Not for two threads; ``run`` returns when everything is over."""

    def __init__(self, source: int, sink: int) -> None:
        self._source, self._sink = source, sink
        self._frames = Frames()
        self._child: PtyProcess | None = None
        self._engine: Engine | None = None
        self._to_child = bytearray()
        self._to_room = bytearray()
        self._open = True
        self._ended = False
        self._shown: list[str] = []
        self._told: Word = {}
        self._changed = False
        self._unseen = False
        self._last_frame = 0.0
        self._last_key = 0.0
        self._held_since = 0.0
        self._silent_until = 0.0
        self._other_keys = False
        self._tmux_holds = False
        self._tail = b""
        """The end of what was read last: a sequence may come in two pieces."""

    def run(self) -> None:
        """Serve until the control room is gone, or the program has ended and all is told."""
        os.set_blocking(self._sink, False)
        self._say("up", pid=os.getpid())
        try:
            while self._open and not (self._ended and not self._to_room):
                self._turn()
        finally:
            if self._child is not None and not self._ended:
                _end(self._child)

    # One turn

    def _turn(self) -> None:
        fd = self._child.fd if self._child and not self._ended else None
        ready = self._wait(fd)
        if self._source in ready:
            self._hear()
        if fd is not None and self._to_child and not self._silence():
            self._pass_on(fd)
        if fd is not None and fd in ready:
            self._read(fd)
        if self._due() == 0:
            self._show()
        if self._to_room:
            self._flush()

    def _wait(self, child: int | None) -> set[int]:
        """Descriptors to read from. The program is read also while the room is slow: it is shown the latest then."""
        poll = select.poll()
        poll.register(self._source, select.POLLIN)
        silence = self._silence()
        if child is not None:
            poll.register(child, select.POLLIN | (select.POLLOUT if self._to_child and not silence else 0))
        if self._to_room:
            poll.register(self._sink, select.POLLOUT)
        due = self._due()
        if self._to_child and silence and (due is None or due > silence):
            due = silence
        found = poll.poll(None if due is None else due * 1000)
        return {fd for fd, event in found if event & (select.POLLIN | select.POLLHUP | select.POLLERR)}

    def _due(self) -> float | None:
        """Seconds until a frame is to be shown; None without anything new, and while the last one is not seen."""
        if not self._changed or self._engine is None or self._unseen or self._to_room:
            return None
        now = time.monotonic()
        if self._tmux_holds or self._engine.mode(SYNCHRONIZED):
            self._held_since = self._held_since or now
            if now - self._held_since < HOLD_S:
                return self._held_since + HOLD_S - now
        else:
            self._held_since = 0.0
        pause = 0.0 if now - self._last_key < ECHO_S else FRAME_S
        return max(self._last_frame + pause - now, 0.0)

    def _silence(self) -> float:
        """Seconds for which keys still wait for the program's first word."""
        return max(self._silent_until - time.monotonic(), 0.0) if self._silent_until else 0.0

    # The room

    def _hear(self) -> None:
        data = os.read(self._source, 1 << 16)
        if not data:
            self._open = False
        for kind, body in self._frames.feed(data):
            if kind == INPUT:
                self._last_key = time.monotonic()
                self._to_child += body
            elif kind == SEEN:
                self._unseen = False
            elif kind == WORD:
                self._obey(decode_word(body))

    def _obey(self, word: Word) -> None:
        say = word["say"]
        if say == "open":
            self._start(word)
        elif say == "close":
            self._open = False
        elif self._engine is not None and say == "size":
            self._resize(self._engine, *_size(word))
        elif self._engine is not None and say == "scroll":
            self._engine.scroll(int(str(word["lines"])))
            self._changed, self._last_key = True, time.monotonic()

    def _start(self, word: Word) -> None:
        columns, rows = _size(word)
        argv, env, colours = word["argv"], word["env"], word.get("colours")
        begin = partial(_be_plain, word.get("cwd"))
        assert isinstance(argv, list)
        try:
            self._engine = Engine(
                columns,
                rows,
                reply=self._to_child.extend,
                bell=lambda: self._say("bell"),
                copy=lambda text: self._say("copy", text=text),
                colours=(str(colours[0]), str(colours[1])) if isinstance(colours, list) else None,
            )
            self._child = PtyProcess.spawn(argv, env=env, dimensions=(rows, columns), preexec_fn=begin)
        except (OSError, ValueError) as error:
            self._say("end", status=None, why=f"{argv[0]} can't be run: {error}")
            self._ended = True
            return
        os.set_blocking(self._child.fd, False)
        self._silent_until = time.monotonic() + SET_UP_S
        self._say("open", pid=self._child.pid)

    def _resize(self, engine: Engine, columns: int, rows: int) -> None:
        if self._child is not None and not self._ended and (columns, rows) != (engine.columns, engine.rows):
            engine.resize(columns, rows)
            self._child.setwinsize(rows, columns)
            self._changed = True

    # The program

    def _pass_on(self, fd: int) -> None:
        try:
            del self._to_child[: os.write(fd, self._to_child[: 1 << 16])]
        except BlockingIOError:
            return
        except OSError:
            self._to_child.clear()

    def _read(self, fd: int) -> None:
        """Take what is there, up to a bound, so that a screen that is drawn in pieces is shown whole."""
        assert self._engine is not None
        taken = 0
        while taken < DRAIN_BYTES:
            try:
                data = os.read(fd, 1 << 16)
            except BlockingIOError:
                return
            except OSError:  # Linux: nobody holds the other end any more
                data = b""
            if not data:
                self._finish()
                return
            taken += len(data)
            self._silent_until = 0.0
            self._watch(data)
            self._engine.feed(data)
            self._changed = True

    def _watch(self, data: bytes) -> None:
        """What the engine does not tell: extended keys, and tmux's own way of synchronized output."""
        data = self._tail + data
        self._tail = data[-_LESS_THAN_ONE:]
        if b"\x1b[>4" in data:
            for found in _OTHER_KEYS.finditer(data):
                self._other_keys = found[1] in (b"1", b"2")
        if b"\x1bP=" in data:
            for found in _TMUX_SYNC.finditer(data):
                self._tmux_holds = found[1] == b"1"

    def _finish(self) -> None:
        """The program has let go of its terminal: it has ended, or is made to."""
        assert self._child is not None
        if self._changed:
            self._show()
        if not _gone_within(self._child, 1.0):
            _end(self._child)
        status = -self._child.signalstatus if self._child.signalstatus else self._child.exitstatus
        self._say("end", status=status, why="")
        self._ended = True

    # Telling

    def _show(self) -> None:
        engine = self._engine
        assert engine is not None
        drawn, before = engine.screen(), self._shown
        rows = [[y, row] for y, row in enumerate(drawn) if y >= len(before) or before[y] != row]
        told: Word = {
            "size": [engine.columns, engine.rows],
            "cursor": list(engine.cursor()),
            "modes": engine.modes() + (["other_keys"] if self._other_keys else []),
            "kitty": engine.kitty_flags(),
            "title": engine.title(),
        }
        news = {key: value for key, value in told.items() if self._told.get(key) != value}
        self._shown, self._told, self._changed = drawn, told, False
        self._last_frame = time.monotonic()
        if rows or news:
            self._unseen = True
            self._say("frame", rows=rows, **news)

    def _say(self, say: str, **values: object) -> None:
        self._to_room += encode_word(say, **values)

    def _flush(self) -> None:
        try:
            del self._to_room[: os.write(self._sink, self._to_room)]
        except BlockingIOError:
            return
        except OSError:
            self._open = False
            self._to_room.clear()


def _size(word: Word) -> tuple[int, int]:
    columns, rows = word["columns"], word["rows"]
    assert isinstance(columns, int) and isinstance(rows, int)
    return min(max(columns, 1), 2000), min(max(rows, 1), 1000)


def _end(child: PtyProcess) -> None:
    """Hang up; a program that does not mind is killed."""
    for number, patience in ((signal.SIGHUP, 0.5), (signal.SIGKILL, 1.0)):
        with suppress(OSError):
            child.kill(number)
        if _gone_within(child, patience):
            return


def _gone_within(child: PtyProcess, seconds: float) -> bool:
    end = time.monotonic() + seconds
    while child.isalive():
        if time.monotonic() > end:
            return False
        time.sleep(0.002)
    return True


def die_with_parent() -> None:
    """Linux: be hung up on when the parent is gone, however it went."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGHUP)


def _be_plain(cwd: object) -> None:
    """In the program's process: what Python and we ignore would be ignored by it, too, such as Ctrl-C in a shell.

    Raises OSError without the directory; one that ptyprocess is given leaves a second helper behind then.
    """
    if cwd is not None:
        os.chdir(str(cwd))
    for number in (signal.SIGINT, signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    die_with_parent()
