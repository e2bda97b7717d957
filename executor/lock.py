"""One executor per home: an exclusive file lock, and who holds it.

The kernel gives the lock up when its process dies, however it dies, so a stale one cannot exist. The file's text only
tells readers who the holder is.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import time
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Literal

from store.clock import from_text, to_text, utc_now
from store.errors import Conflict, StoreUnavailable
from store.home import FILE_MODE, Home

HostedBy = Literal["control-room", "headless", "command"]


class ExecutorBusy(Conflict):
    """Another process is this home's executor."""

    code = "executor_busy"


@dataclass(frozen=True, slots=True)
class ExecutorState:
    """Whether an executor runs in a home, and whose."""

    running: bool
    pid: int | None = None
    hosted_by: str | None = None
    since: datetime | None = None

    def as_json(self) -> dict[str, object]:
        """Shape of ``{"executor": …}`` on the command line."""
        return {**asdict(self), "since": to_text(self.since) if self.since else None}


class ExecutorLock:
    """The held lock; ``release`` or the end of the process gives it up."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor: int | None = descriptor

    def release(self) -> None:
        """Give the lock up; twice is as good as once."""
        if self._descriptor is not None:
            with contextlib.suppress(OSError):
                os.ftruncate(self._descriptor, 0)
            os.close(self._descriptor)
            self._descriptor = None


def acquire(home: Home, hosted_by: HostedBy) -> ExecutorLock | None:
    """Take the executor's place in this home; None when another process has it. Raises StoreUnavailable."""
    home.make()
    try:
        descriptor = os.open(home.executor_lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, FILE_MODE)
    except OSError as error:
        raise StoreUnavailable(
            f"{home.executor_lock} cannot be opened: {error.strerror}. Make the home writable or use --home.",
            path=str(home.executor_lock),
        ) from error
    if not _locked(descriptor):
        os.close(descriptor)
        return None
    about = {"pid": os.getpid(), "hosted_by": hosted_by, "since": to_text(utc_now())}
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, json.dumps(about).encode(), 0)
    return ExecutorLock(descriptor)


def state(home: Home) -> ExecutorState:
    """Who holds the lock now; asks the lock itself, never a pid file."""
    try:
        descriptor = os.open(home.executor_lock, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return ExecutorState(running=False)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return _holder(os.pread(descriptor, 4096, 0))
    else:
        return ExecutorState(running=False)
    finally:
        os.close(descriptor)


def _locked(descriptor: int) -> bool:
    """Whether the lock could be taken; tries for 50 ms, because ``state`` holds a shared one for an instant."""
    for _ in range(10):
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            time.sleep(0.005)
        else:
            return True
    return False


def _holder(text: bytes) -> ExecutorState:
    try:
        about = json.loads(text)
        return ExecutorState(True, int(about["pid"]), str(about["hosted_by"]), from_text(about["since"]))
    except (ValueError, KeyError, TypeError):
        return ExecutorState(running=True)
