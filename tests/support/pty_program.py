"""A program on a pseudo-terminal, driven like an operator drives it: read until something shows, type, resize."""

from __future__ import annotations

import builtins
import codecs
import os
import re
import select
import signal
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType

import ptyprocess

_SGR = re.compile(r"\x1b\[[0-9;]*m")


class PtyProgram:
    """A child on its own terminal; ``with`` ends it if it still lives."""

    def __init__(
        self, argv: Sequence[str], env: Mapping[str, str], cwd: Path, rows: int = 24, columns: int = 80
    ) -> None:
        self._child = ptyprocess.PtyProcess.spawn(
            list(argv), env=dict(env), cwd=str(cwd), dimensions=(rows, columns), echo=True
        )
        self._decoder = codecs.getincrementaldecoder("utf-8")("strict")
        self._seen = 0
        self.output = ""
        """Everything written so far, as UTF-8."""

    @property
    def text(self) -> str:
        """The output without colours."""
        return _SGR.sub("", self.output)

    def expect(self, text: str, timeout: float = 10) -> None:
        """Read on until ``text`` shows up after what was expected last."""
        deadline = time.monotonic() + timeout
        while text not in self.text[self._seen :]:
            if not self._read(deadline - time.monotonic()):
                raise AssertionError(f"{text!r} did not show; output since:\n{self.text[self._seen :]}")
        self._seen = self.text.index(text, self._seen) + len(text)

    def type(self, keys: str) -> None:
        """Press keys."""
        os.write(self._child.fd, keys.encode())

    def resize(self, rows: int, columns: int) -> None:
        """Change the size of the terminal; the program is told by SIGWINCH."""
        self._child.setwinsize(rows, columns)

    def send_signal(self, which: signal.Signals) -> None:
        """Signal the program itself."""
        os.kill(self._child.pid, which)

    def exit_code(self, timeout: float = 10) -> int:
        """Read to the end; the exit code, or minus the number of the signal that ended it."""
        deadline = time.monotonic() + timeout
        while self._read(deadline - time.monotonic()):
            pass
        assert time.monotonic() < deadline, f"still running; output:\n{self.text[-2000:]}"
        self._child.wait()
        return -int(self._child.signalstatus) if self._child.signalstatus else int(self._child.exitstatus)

    def _read(self, timeout: float) -> bool:
        """Take one piece of output; False at the end of it or of the time."""
        if not select.select([self._child.fd], [], [], max(0.0, timeout))[0]:
            return False
        try:
            data = os.read(self._child.fd, 65536)
        except OSError:  # Linux: the last holder of the terminal is gone
            data = b""
        self.output += self._decoder.decode(data)
        return bool(data)

    def __enter__(self) -> PtyProgram:
        return self

    def __exit__(
        self, kind: builtins.type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        if self._child.isalive():
            self._child.kill(signal.SIGKILL)
            self._child.wait()
        self._child.close(force=True)
