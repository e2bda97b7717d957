"""A program between a terminal and an agent CLI that writes down all that the CLI writes: ``python tap.py SPEC``.

``SPEC`` is a JSON file: ``argv``, ``cwd``, ``env``, the ``title`` of the recording and the ``path`` to write it to. The
recording is an asciicast, version 2: a header, then a line for each piece of output and for each resize, in the order
in which they came.
"""

from __future__ import annotations

import codecs
import json
import os
import select
import signal
import sys
import time
import tty
from pathlib import Path
from typing import TextIO

from ptyprocess import PtyProcess

FROM_TERMINAL = ("TERM", "COLORTERM", "TERM_PROGRAM", "TERM_PROGRAM_VERSION", "TMUX", "TMUX_PANE")
"""What the CLI is told about where it is; all else is in the spec."""


class Tap:
    """Not for two terminals; ``run`` returns with the CLI's end."""

    def __init__(self, argv: list[str], cwd: str, env: dict[str, str], out: TextIO, title: str) -> None:
        self._size = os.get_terminal_size()
        here = {name: os.environ[name] for name in FROM_TERMINAL if name in os.environ}
        columns, rows = self._size
        self._child = PtyProcess.spawn(argv, cwd=cwd, env=env | here, dimensions=(rows, columns))
        self._out = out
        self._decode = codecs.getincrementaldecoder("utf-8")("strict").decode
        self._began = time.monotonic()
        told = {"version": 2, "width": columns, "height": rows, "title": title, "env": {"TERM": here["TERM"]}}
        self._line(told)

    def run(self) -> None:
        """Pass everything on, both ways, until the CLI has let go of its terminal."""
        tty.setraw(0)
        resized, wake = os.pipe()
        os.set_blocking(wake, False)
        signal.signal(signal.SIGWINCH, lambda *_: None)
        signal.set_wakeup_fd(wake)
        while True:
            ready, _, _ = select.select([0, self._child.fd, resized], [], [])
            if resized in ready:
                os.read(resized, 64)
                self._resize()
            if 0 in ready:
                os.write(self._child.fd, os.read(0, 4096))
            if self._child.fd in ready and not self._pass_on():
                return

    def _resize(self) -> None:
        if (size := os.get_terminal_size()) == self._size:
            return
        while select.select([self._child.fd], [], [], 0)[0] and self._pass_on():
            pass  # what was written before belongs before
        self._size = size
        self._event("r", f"{size.columns}x{size.lines}")
        self._child.setwinsize(size.lines, size.columns)

    def _pass_on(self) -> bool:
        try:
            data = os.read(self._child.fd, 65536)
        except OSError:  # Linux: nobody holds the other end any more
            data = b""
        if text := self._decode(data, not data):
            self._event("o", text)
        rest = data
        while rest:
            rest = rest[os.write(1, rest) :]
        return bool(data)

    def _event(self, kind: str, what: str) -> None:
        self._line([round(time.monotonic() - self._began, 3), kind, what])

    def _line(self, what: object) -> None:
        self._out.write(json.dumps(what, ensure_ascii=False, separators=(",", ":")) + "\n")
        self._out.flush()


def main(path: str) -> None:
    """Run as the spec says."""
    spec = json.loads(Path(path).read_text())
    with open(spec["path"], "w", encoding="utf-8") as out:
        Tap(spec["argv"], spec["cwd"], spec["env"], out, spec["title"]).run()


if __name__ == "__main__":
    main(sys.argv[1])
