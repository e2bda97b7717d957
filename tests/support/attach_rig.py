"""The operator at his terminal before an agent's: the control room, or plain tmux, on a pseudo-terminal of the test."""

from __future__ import annotations

import os
import re
import select
import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import ptyprocess

from executor.terminal.engine import Engine

PAM = Path(sys.executable).with_name("pam")
ECHO = r"""
import os, sys, termios, tty
tty.setraw(0)
os.write(1, b"\x1b[2J\x1b[HREADY")
while data := os.read(0, 4096):
    os.write(1, b"\r\x1b[K" + data[-1:])
"""
"""An agent that shows the last key, alone on its line."""
PAINTER = r"""
import os, signal, sys, tty
tty.setraw(0)
key = "."
def paint(*_):
    columns, rows = os.get_terminal_size()
    line = "\x1b[{0};1H\x1b[3{1}m\x1b[{2}mrow {0:02} " + key * 30 + "\x1b[0m\x1b[K"
    os.write(1, "".join(line.format(y, y % 7 + 1, y % 4) for y in range(1, rows + 1)).encode())
signal.signal(signal.SIGWINCH, paint)
paint()
while data := os.read(0, 4096):
    key = chr(data[-1])
    paint()
"""
"""An agent that shows the last key all over its screen, in many colours, whatever size that has."""
_STYLES = re.compile(r"\x1b\[[0-9;:]*m")


class Seat:
    """A program on a terminal, with everything it writes kept; with ``seen`` also what stands on its screen."""

    def __init__(
        self,
        argv: Sequence[str],
        environ: Mapping[str, str],
        *,
        columns: int = 120,
        rows: int = 40,
        seen: bool = False,
    ) -> None:
        self.child = ptyprocess.PtyProcess.spawn(list(argv), env=dict(environ), dimensions=(rows, columns))
        os.set_blocking(self.child.fd, False)
        self.output = bytearray()
        self._screen = Engine(columns, rows, reply=lambda _: None) if seen else None

    def screen(self) -> list[str]:
        """What the operator sees, row by row, without its colours."""
        assert self._screen is not None
        return [_STYLES.sub("", row) for row in self._screen.screen()]

    def shows(self, part: str) -> bool:
        """Whether the operator sees that now, in one row."""
        return any(part in row for row in self.screen())

    def resize(self, columns: int, rows: int) -> None:
        """Give the terminal another size."""
        if self._screen is not None:
            self._screen.resize(columns, rows)
        self.child.setwinsize(rows, columns)

    def write(self, data: bytes) -> None:
        """Type bytes; takes what is drawn meanwhile."""
        while data:
            with suppress(BlockingIOError):
                data = data[os.write(self.child.fd, data) :]
            self.read(0.0 if not data else 0.001)

    def read(self, timeout: float) -> bytes:
        """What is drawn within ``timeout`` seconds, at once when something is."""
        if not select.select([self.child.fd], [], [], max(timeout, 0.0))[0]:
            return b""
        try:
            data = os.read(self.child.fd, 1 << 16)
        except BlockingIOError:
            return b""
        except OSError:
            return b""
        self.output += data
        if self._screen is not None:
            self._screen.feed(data)
        return data

    def until(self, part: bytes | Callable[[], object], timeout: float = 20.0) -> None:
        """Read on until something is drawn, or holds; from here on, what was drawn before counts no more."""
        end = time.monotonic() + timeout
        while not (part in self.output if isinstance(part, bytes) else part()):
            if time.monotonic() > end:
                raise AssertionError(f"never drawn: {part!r}\n{bytes(self.output[-3000:])!r}")
            self.read(0.02)
        if isinstance(part, bytes):
            del self.output[: self.output.index(part) + len(part)]

    def settle(self, quiet_s: float = 0.3, longest_s: float = 5.0) -> None:
        """Read until nothing has been drawn for a while."""
        end = time.monotonic() + longest_s
        while time.monotonic() < end and self.read(quiet_s):
            pass
        self.output.clear()

    def echo(self, key: bytes, timeout: float = 2.0) -> float:
        """Press a key; seconds until it is drawn."""
        self.output.clear()
        start = time.perf_counter()
        os.write(self.child.fd, key)
        while key not in self.output:
            if time.perf_counter() - start > timeout:
                raise AssertionError(f"{key!r} was not drawn: {bytes(self.output)!r}")
            self.read(timeout)
        return time.perf_counter() - start

    def pressed(self, keys: bytes, drawn: re.Pattern[bytes], timeout: float = 5.0) -> float:
        """Press keys at once; seconds until something that matches is drawn."""
        self.output.clear()
        start = time.perf_counter()
        os.write(self.child.fd, keys)
        while not drawn.search(self.output):
            if time.perf_counter() - start > timeout:
                raise AssertionError(f"{drawn.pattern!r} was not drawn after {keys!r}: {bytes(self.output)[-2000:]!r}")
            self.read(timeout)
        return time.perf_counter() - start

    def close(self) -> None:
        """End it."""
        with suppress(OSError):
            self.child.kill(signal.SIGHUP)
        end = time.monotonic() + 5
        while self.child.isalive() and time.monotonic() < end:
            self.read(0.02)
        self.child.close(force=True)


def terminal_environ(home: Path) -> dict[str, str]:
    """The environment of an operator's terminal."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "TMUX_TMPDIR") if name in os.environ}
    return {**kept, "PAM_HOME": str(home), "TERM": "xterm-256color", "COLORTERM": "truecolor", "LANG": "C.UTF-8"}
