"""One helper process and the pipes to it; reads and writes never wait."""

from __future__ import annotations

import asyncio
import logging
import os
import subprocess
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

from executor.terminal.protocol import Frames, Garbled, Word, decode_word, encode_word

log = logging.getLogger("pam.terminal")

LEAVE_S: Final = 3.0
"""How long a helper may take to end; then it is killed."""
REAP_S: Final = 0.005


class Helper:
    """Lives on the loop it was made on. ``forget`` is called once it is gone for good."""

    def __init__(self, command: Sequence[str], forget: Callable[[Helper], object]) -> None:
        """Raises OSError when it can't be started."""
        self._forget = forget
        self._loop = asyncio.get_running_loop()
        self._over: asyncio.Future[None] = self._loop.create_future()
        self._hear: Callable[[Word], object] | None = None
        self._lost: Callable[[], object] | None = None
        self._pending = bytearray()
        self._frames = Frames()
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        assert self._process.stdin is not None and self._process.stdout is not None
        self._in, self._out = self._process.stdin.fileno(), self._process.stdout.fileno()
        for fd in (self._in, self._out):
            os.set_blocking(fd, False)
        self._loop.add_reader(self._out, self._read)
        self.gone = False
        """Whether it has ended, or is about to."""

    @property
    def pid(self) -> int:
        """Of the process."""
        return self._process.pid

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
            self._process.kill()
            await self._over

    def kill(self) -> None:
        """End it without a loop; its program is hung up on."""
        self._hear = self._lost = None
        self.gone = True
        self._process.kill()
        self._process.wait()
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
                word = decode_word(body)
                if self._hear is not None:
                    self._hear(word)
        except Garbled as error:
            log.error("a terminal's helper said what can't be understood: %s", error)
            self._process.kill()

    def _end(self) -> None:
        self.gone = True
        self._loop.remove_reader(self._out)
        self._loop.remove_writer(self._in)
        self._close_pipes()
        self._pending.clear()
        if self._lost is not None:
            self._lost()
        self._reap(0.0)

    def _close_pipes(self) -> None:
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()

    def _reap(self, waited: float) -> None:
        """Collect its end; it has closed its output, so that is a matter of milliseconds."""
        if self._process.poll() is None:
            if waited > LEAVE_S:
                self._process.kill()
            self._loop.call_later(REAP_S, self._reap, waited + REAP_S)
            return
        self._forget(self)
        if not self._over.done():
            self._over.set_result(None)
