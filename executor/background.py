"""An event loop on a thread of its own, for work that must go on beside a screen or a blocking command."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from contextlib import suppress

log = logging.getLogger("pam.background")

START_TIMEOUT_S = 30.0
HEARING_S = 0.25

Work = Callable[[Future[None]], Awaitable[None]]
"""Runs until cancelled; sets the future once it is up, or lets the error out that kept it from coming up."""


class LoopThread:
    """Runs one piece of work on its own loop; cancelled and awaited by ``stop``."""

    def __init__(self, name: str, work: Work) -> None:
        self._name = name
        self._work = work
        self._started: Future[None] = Future()
        self._ended = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[None] | None = None
        self._thread = threading.Thread(target=self._main, name=f"pam-{name}", daemon=True)

    def start(self) -> None:
        """Returns once the work is up. Raises what kept it from that."""
        self._thread.start()
        self._started.result(START_TIMEOUT_S)

    def wait(self, timeout: float | None = None) -> bool:
        """Block until it ended, ``timeout`` seconds at most; whether it has. Signals are heard within ``HEARING_S``."""
        if timeout is not None:
            return self._ended.wait(timeout)
        # One long wait would sleep through a signal that came just before it: Python runs handlers between waits.
        while not self._ended.wait(HEARING_S):
            pass
        return True

    def stop(self) -> None:
        """Cancel the work and wait until it has cleaned up. Safe from any thread, and to repeat."""
        if self._loop is not None and self._task is not None and not self._ended.is_set():
            with suppress(RuntimeError):  # the loop has closed by itself meanwhile
                self._loop.call_soon_threadsafe(self._task.cancel)
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join(START_TIMEOUT_S)

    def _main(self) -> None:
        try:
            asyncio.run(self._run())
        except BaseException as error:
            if self._started.done():
                log.exception("%s ended", self._name)
            else:
                self._started.set_exception(error)
        finally:
            if not self._started.done():
                self._started.set_result(None)
            self._ended.set()

    async def _run(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._task = asyncio.current_task()
        with suppress(asyncio.CancelledError):
            await self._work(self._started)
