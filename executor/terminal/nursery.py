"""The nursery process: has everything loaded that a helper needs, and forks one whenever it is asked to.

So a helper is there at once, however many die in a row; only the nursery itself waits for Python to start. It is asked
over the socket that is its stdin, and each request brings the two ends of the pipes that the helper is to have. It
ends with the control room, after the last of its helpers.
"""

from __future__ import annotations

import gc
import os
import select
import signal
import socket
import time
from collections import deque
from contextlib import suppress
from typing import Final

from executor.terminal import ghostty
from executor.terminal.helper import Helper, die_with_parent
from executor.terminal.protocol import Frames, Word, decode_word, encode_word

GRACE_S: Final = 2.0
"""How long helpers may take to end once the control room is gone."""
_MOST_FDS: Final = 64


class Nursery:
    """``run`` returns when the control room is gone, and every helper."""

    def __init__(self, room: socket.socket) -> None:
        self._room = room
        self._frames = Frames()
        self._fds: deque[int] = deque()
        self._children: dict[int, int] = {}
        """Process ids of the helpers, with the numbers that the control room gave them."""
        self._open = True
        self._ends, wake = os.pipe()
        for fd in (self._ends, wake):
            os.set_blocking(fd, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        self._wake = wake

    def run(self) -> None:
        """Serve."""
        while self._open:
            ready = self._wait(None)
            if self._ends in ready:
                self._collect()
            if self._room.fileno() in ready:
                self._hear()
        self._see_off()

    def _wait(self, seconds: float | None) -> set[int]:
        poll = select.poll()
        poll.register(self._ends, select.POLLIN)
        if self._open:
            poll.register(self._room, select.POLLIN)
        return {fd for fd, _ in poll.poll(None if seconds is None else seconds * 1000)}

    def _hear(self) -> None:
        try:
            data, fds, _, _ = socket.recv_fds(self._room, 1 << 16, _MOST_FDS)
        except OSError:
            data, fds = b"", []
        self._fds.extend(fds)
        if not data:
            self._open = False
        for _, body in self._frames.feed(data):
            self._obey(decode_word(body))

    def _obey(self, word: Word) -> None:
        number = word["number"]
        assert isinstance(number, int)
        if word["say"] == "bear":
            self._bear(number, self._fds.popleft(), self._fds.popleft())
        elif word["say"] == "kill":
            self._kill([pid for pid, known in self._children.items() if known == number])

    def _bear(self, number: int, source: int, sink: int) -> None:
        nursery = os.getpid()
        pid = os.fork()
        if not pid:
            self._live(nursery, source, sink)
        self._children[pid] = number
        os.close(source)
        os.close(sink)

    def _live(self, nursery: int, source: int, sink: int) -> None:
        """In the new process: be a helper, and nothing else afterwards."""
        status = 1
        try:
            die_with_parent()
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            nothing = os.open(os.devnull, os.O_RDWR)
            os.dup2(nothing, self._room.fileno())
            for fd in (nothing, self._ends, self._wake):
                os.close(fd)
            if os.getppid() == nursery:
                Helper(source, sink).run()
            status = 0
        finally:
            os._exit(status)

    def _collect(self) -> None:
        with suppress(BlockingIOError):
            os.read(self._ends, 1 << 16)
        while self._children:
            pid, _ = os.waitpid(-1, os.WNOHANG)
            if not pid:
                return
            number = self._children.pop(pid, None)
            if number is not None and self._open:
                with suppress(OSError):
                    self._room.sendall(encode_word("ended", number=number))

    def _see_off(self) -> None:
        """Helpers notice by themselves that the control room is gone; one that does not is killed."""
        end = time.monotonic() + GRACE_S
        self._collect()
        while self._children and (left := end - time.monotonic()) > 0:
            self._wait(left)
            self._collect()
        self._kill(self._children)

    @staticmethod
    def _kill(pids: list[int] | dict[int, int]) -> None:
        for pid in pids:
            os.kill(pid, signal.SIGKILL)


def main() -> None:
    """Run on stdin."""
    for number in (signal.SIGINT, signal.SIGPIPE):
        signal.signal(number, signal.SIG_IGN)
    with suppress(ghostty.EngineMissing):
        ghostty.library()
    gc.freeze()
    Nursery(socket.socket(fileno=0)).run()


if __name__ == "__main__":
    main()
