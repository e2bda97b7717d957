"""One helper and the pipes to it; reads and writes never wait."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from executor.terminal.births import Births
from executor.terminal.protocol import Frames, Garbled, Word, decode_word, encode_word

log = logging.getLogger("pam.terminal")

LEAVE_S: Final = 3.0
"""How long a helper may take to end; then it is killed."""


class Helper:
    """Lives on the loop it was made on. ``forget`` is called once it is gone for good."""

    def __init__(self, births: Births, forget: Callable[[Helper], object]) -> None:
        """Raises OSError when it can't be had."""
        self._births = births
        self._forget = forget
        self._loop = asyncio.get_running_loop()
        self._over: asyncio.Future[None] = self._loop.create_future()
        self._hear: Callable[[Word], object] | None = None
        self._lost: Callable[[], object] | None = None
        self._pending = bytearray()
        self._frames = Frames()
        self._dead = False
        source, self._in = os.pipe()
        self._out, sink = os.pipe()
        try:
            self._number = births.bear(source, sink, self._died)
        except OSError:
            self._close_pipes()
            raise
        finally:
            os.close(source)
            os.close(sink)
        for fd in (self._in, self._out):
            os.set_blocking(fd, False)
        self._loop.add_reader(self._out, self._read)
        self.pid = 0
        """Of the process; 0 until it has said so."""
        self.gone = False
        """Whether it has ended, or is about to."""

    def listen(self, hear: Callable[[Word], object], lost: Callable[[], object]) -> None:
        """Where to go with what it says, and with its end."""
        self._hear, self._lost = hear, lost

    def send(self, data: bytes) -> None:
        """Have it hear this."""
        if self.gone:
            return
        waiting = bool(self._pending)
        self._pending += data
        if not waiting:
            self._write()

    async def close(self) -> None:
        """Tell it to end, and see that it has."""
        self._hear = self._lost = None
        self.send(encode_word("close"))
        with suppress(TimeoutError):
            await asyncio.wait_for(asyncio.shield(self._over), LEAVE_S)
        if not self._over.done():
            self._births.kill(self._number)
            await self._over

    def drop(self) -> None:
        """Let go of it without a loop: it ends by itself, and hangs up on its program."""
        self._hear = self._lost = None
        if not self.gone:
            self.gone = True
            self._close_pipes()
        self._forget(self)

    def _write(self) -> None:
        try:
            del self._pending[: os.write(self._in, self._pending)]
        except BlockingIOError:
            pass
        except OSError:
            self._pending.clear()
        if self._pending:
            self._loop.add_writer(self._in, self._write)
        else:
            self._loop.remove_writer(self._in)

    def _read(self) -> None:
        try:
            data = os.read(self._out, 1 << 20)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._end()
            return
        try:
            for _, body in self._frames.feed(data):
                self._heard(decode_word(body))
        except Garbled as error:
            log.error("a terminal's helper said what can't be understood: %s", error)
            self._births.kill(self._number)

    def _heard(self, word: Word) -> None:
        if word["say"] == "up":
            pid = word["pid"]
            assert isinstance(pid, int)
            self.pid = pid
        elif self._hear is not None:
            self._hear(word)

    def _end(self) -> None:
        self.gone = True
        self._loop.remove_reader(self._out)
        self._loop.remove_writer(self._in)
        self._close_pipes()
        self._pending.clear()
        if self._lost is not None:
            self._lost()
        self._finish()

    def _died(self) -> None:
        """Its process is no more; what it said last may still be in the pipe."""
        self._dead = True
        self._finish()

    def _finish(self) -> None:
        if self._dead and self.gone:
            self._forget(self)
            if not self._over.done():
                self._over.set_result(None)

    def _close_pipes(self) -> None:
        for fd in (self._in, self._out):
            os.close(fd)
