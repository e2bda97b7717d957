"""Being the executor from the command line, and ending in good order when told to."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import TYPE_CHECKING

from app.cli.call import Call
from app.logs import start_log
from executor.lock import HostedBy
from executor.service import host_executor

if TYPE_CHECKING:
    from executor.background import LoopThread


@contextmanager
def hosting(call: Call, hosted_by: HostedBy) -> Iterator[LoopThread]:
    """This home's executor for the length of the block. Raises ExecutorBusy or TmuxUnavailable."""
    settings = call.settings
    with suppress(OSError):
        start_log(call.home, call.environ, settings=settings.log, secrets=call.secrets)
    with host_executor(
        call.store,
        call.home,
        settings.executor,
        hosted_by=hosted_by,
        catalog_path=settings.catalog_path,
        auto_mark_done=settings.auto_mark_done,
        events_days=settings.events_days,
    ) as thread:
        yield thread


class Interruptions:
    """What ``interruptible`` hears; ``held`` puts it off."""

    def __init__(self) -> None:
        self._held = self._came = False

    @contextmanager
    def held(self) -> Iterator[None]:
        """What comes during the block is raised at its end: what it does is done as a whole, and known of."""
        self._held = True
        try:
            yield
        finally:
            self._held = False
        if self._came:
            raise KeyboardInterrupt

    def come(self) -> None:
        """An interruption. Raises KeyboardInterrupt unless it is held."""
        self._came = True
        if not self._held:
            raise KeyboardInterrupt


@contextmanager
def interruptible() -> Iterator[Interruptions]:
    """TERM and HUP are taken as ctrl+c is, so that what is held is given back; only the first of them counts.

    A second one, as from two `pam down` at once, would leave the executor half stopped and its place already given up.
    What the caller had ignored, as nohup does, stays ignored.
    """
    listed = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    before = {number: handler for number, handler in listed.items() if handler != signal.SIG_IGN}

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        for number in before:
            signal.signal(number, lambda *_: None)
        heard.come()

    heard = Interruptions()
    for number in before:
        signal.signal(number, interrupt)
    try:
        yield heard
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
