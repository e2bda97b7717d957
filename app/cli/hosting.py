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
        start_log(call.home, call.environ, secrets=call.secrets)
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


@contextmanager
def interruptible() -> Iterator[None]:
    """TERM and HUP are taken as ctrl+c is, so that what is held is given back."""

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = {number: signal.signal(number, interrupt) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
