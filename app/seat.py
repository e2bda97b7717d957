"""The executor's seat in a home: this process takes it when nobody else has it, and sees who has it now.

A control room that opens beside another, or beside ``pam up``, is a viewer. When the other goes, runs asked for here
would wait for nobody; so whoever is left takes the seat.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack

from executor import lock
from executor.background import LoopThread
from executor.lock import ExecutorBusy, ExecutorState
from store.errors import PamError, TmuxUnavailable
from store.home import Home

log = logging.getLogger("pam.seat")

FREE_LOOKS = 3
"""Looks in a row that have to find the seat free: `pam down` followed by `pam up` comes first."""
RETRY_S = 15.0
"""Pause after an attempt that failed."""


class Seat:
    """``host`` is the executor as a context, and may raise ExecutorBusy."""

    def __init__(
        self,
        home: Home,
        host: Callable[[], AbstractContextManager[LoopThread]],
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._home = home
        self._host = host
        self._clock = clock
        self._held = ExitStack()
        self._turn = threading.RLock()
        self._closed = False
        self._thread: LoopThread | None = None
        self._free = 0
        self._again = 0.0
        self._seen = ExecutorState(running=False)
        self.trouble = ""
        """Why no executor can be here; empty while one is, or while it has not been tried."""
        self.opening = False
        """Whether ``open`` is still to come, or under way."""

    def open(self) -> None:
        """Take the seat if it is free. Raises StoreUnavailable where the home can't be written."""
        with self._turn:
            try:
                self._take()
                self._seen = lock.state(self._home)
            finally:
                self.opening = False

    def look(self) -> str | None:
        """See who has the seat, and take it when it stays free; a sentence when that has changed, else None."""
        with self._turn:
            return self._look()

    def close(self) -> None:
        """Give the seat up for good, if it is ours; agents go on."""
        with self._turn:
            self._closed = True
            self._give_up()

    def _look(self) -> str | None:
        before, trouble = self._seen, self.trouble
        if self._thread is not None and self._thread.wait(0):
            self._leave("The executor of this control room has stopped by itself; logs/pam.log says why.")
        now = lock.state(self._home)
        self._free = 0 if now.running else self._free + 1
        if self._free >= FREE_LOOKS and self._clock() >= self._again:
            try:
                self._take()
            except PamError as error:
                self._leave(str(error))
            now = lock.state(self._home)
        self._seen = now
        if self.trouble and self.trouble != trouble:
            return self.trouble
        return _changed(before, now) if (before.running, before.pid) != (now.running, now.pid) else None

    def _give_up(self) -> None:
        self._thread = None
        self._held.close()

    def _take(self) -> None:
        if self._closed:
            return
        try:
            self._thread = self._held.enter_context(self._host())
        except ExecutorBusy as busy:
            log.info("%s", busy)
        except TmuxUnavailable as error:
            self._leave(f"No agent can be started: {error}")
        else:
            self.trouble = ""

    def _leave(self, trouble: str) -> None:
        log.warning("%s", trouble)
        self._give_up()
        self.trouble = trouble
        self._again = self._clock() + RETRY_S


def _changed(before: ExecutorState, now: ExecutorState) -> str:
    if not now.running:
        return f"The executor is gone (pid {before.pid}); agents go on." if before.pid else "The executor is gone."
    if now.pid == os.getpid():
        return "The executor was gone; this control room is it now."
    return f"Process {now.pid} is the executor now."
