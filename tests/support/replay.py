"""A program for a pane that plays a recording again: ``python replay.py RECORDING SOCKET STOPS``.

It writes what was written, and stops about ``STOPS`` times on the way: it says on the socket how many bytes it has
written and goes on once it is answered. Where the recorded terminal was resized it says the size first, and goes on
once its own has it. The recording is an asciicast, version 2, compressed.
"""

from __future__ import annotations

import gzip
import json
import os
import signal
import socket
import sys
import tty
from typing import NamedTuple


class Event(NamedTuple):
    """Something that happened to the recorded terminal: ``o``, output, or ``r``, a size as ``COLUMNSxROWS``."""

    kind: str
    what: str


def read(path: str) -> tuple[tuple[int, int], list[Event]]:
    """The size that a recorded terminal had at first, and what happened to it."""
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as lines:
        header = json.loads(next(lines))
        return (header["width"], header["height"]), [Event(*json.loads(line)[1:]) for line in lines]


class Player:
    """Plays to stdout, and stops where it is asked to."""

    def __init__(self, events: list[Event], whom: socket.socket, stops: int) -> None:
        self._events = events
        self._every = sum(len(event.what.encode()) for event in events if event.kind == "o") // stops
        self._whom, self._answers = whom, whom.makefile("rb")
        self._written = 0

    def play(self) -> None:
        """From the start to the end."""
        due = self._every
        for event in self._events:
            if event.kind == "r":
                self._stop(event.what)
                _until_size(event.what)
                self._stop()
            else:
                self._write(event.what.encode())
            if self._written >= due:
                self._stop()
                due = self._written + self._every
        self._stop("end")

    def _write(self, data: bytes) -> None:
        self._written += len(data)
        while data:
            data = data[os.write(1, data) :]

    def _stop(self, then: str = "") -> None:
        self._whom.sendall(f"{self._written} {then}\n".encode())
        self._answers.readline()


def _until_size(wanted: str) -> None:
    while "{}x{}".format(*os.get_terminal_size(1)) != wanted:
        signal.sigwait({signal.SIGWINCH})


def main(recording: str, path: str, stops: str) -> None:
    """Play, to whoever listens."""
    signal.signal(signal.SIGWINCH, lambda *_: None)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGWINCH})
    tty.setraw(0)
    with socket.socket(socket.AF_UNIX) as whom:
        whom.connect(path)
        Player(read(recording)[1], whom, int(stops)).play()


if __name__ == "__main__":
    main(*sys.argv[1:])
