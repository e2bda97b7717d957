"""The control room's end of its nursery: helpers are asked for here, and their ends are told."""

from __future__ import annotations

import asyncio
import itertools
import logging
import socket
import subprocess
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

from executor.terminal.protocol import Frames, Garbled, decode_word, encode_word

log = logging.getLogger("pam.terminal")

LEAVE_S: Final = 3.0
"""How long the nursery may take to end; then it is killed."""
REAP_S: Final = 0.005


class Births:
    """Lives on the loop it was made on."""

    def __init__(self, command: Sequence[str]) -> None:
        """Raises OSError when it can't be started."""
        self._loop = asyncio.get_running_loop()
        self._over: asyncio.Future[None] = self._loop.create_future()
        self._frames = Frames()
        self._numbers = itertools.count()
        self._living: dict[int, Callable[[], object]] = {}
        self._socket, theirs = socket.socketpair()
        try:
            with theirs:
                self._process = subprocess.Popen(
                    command, stdin=theirs.fileno(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
                )
        except OSError:
            self._socket.close()
            raise
        self._socket.setblocking(False)
        self._loop.add_reader(self._socket, self._read)
        self.gone = False
        """Whether it can bear no more."""

    def bear(self, source: int, sink: int, ended: Callable[[], object]) -> int:
        """Ask for a helper on these descriptors, which stay the caller's to close; ``ended`` once it is no more.

        Returns its number. Raises OSError when the nursery is gone.
        """
        number = next(self._numbers)
        try:
            socket.send_fds(self._socket, [encode_word("bear", number=number)], [source, sink])
        except OSError:
            self._end()
            raise
        self._living[number] = ended
        return number

    def kill(self, number: int) -> None:
        """End a helper that does not by itself."""
        with suppress(OSError):
            self._socket.send(encode_word("kill", number=number))

    async def close(self) -> None:
        """End it; its helpers have ended, or are made to."""
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_WR)
        with suppress(TimeoutError):
            await asyncio.wait_for(asyncio.shield(self._over), LEAVE_S)
        if not self._over.done():
            self._process.kill()
            await self._over

    def drop(self) -> None:
        """As ``close``, once the loop is over."""
        self.gone = True
        self._socket.close()
        try:
            self._process.wait(LEAVE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _read(self) -> None:
        try:
            data = self._socket.recv(1 << 16)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        try:
            for _, body in self._frames.feed(data):
                number = decode_word(body)["number"]
                assert isinstance(number, int)
                self._living.pop(number)()
        except Garbled as error:
            log.error("the nursery said what can't be understood: %s", error)
            data = b""
        if not data:
            self._end()

    def _end(self) -> None:
        if self.gone:
            return
        self.gone = True
        self._loop.remove_reader(self._socket)
        self._socket.close()
        living, self._living = self._living, {}
        for ended in living.values():
            ended()
        self._reap(0.0)

    def _reap(self, waited: float) -> None:
        """Collect its end; it has closed its socket, so that is a matter of milliseconds."""
        if self._process.poll() is None:
            if waited > LEAVE_S:
                self._process.kill()
            self._loop.call_later(REAP_S, self._reap, waited + REAP_S)
        elif not self._over.done():
            self._over.set_result(None)
