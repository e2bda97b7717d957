"""While a control client introduces itself to tmux, no session and no other client may come or go.

tmux tells every control client of each session that is made or ended and of each client that leaves, and it tells one,
too, that has said what it is but not yet the rest: then the server dies, and every agent with it (3.3a does; a control
room that was opened while runs were started was enough). So two locks stand beside the record of the server, for this
process and others: whoever introduces a client has the room alone, whoever changes something shares it. Both take
milliseconds.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

PATIENCE_S = 1.0
"""After this long without a turn the danger is taken: a process that hangs must not keep others from their agents."""
LOOK_S: Final = 0.002
MODE: Final = 0o600


@asynccontextmanager
async def introducing(home: Path | None) -> AsyncIterator[None]:
    """Around the start of a control client, until tmux has answered it; without a home nothing is waited for."""
    if home is None:
        yield
        return
    async with _turn(home) as until, _held(home / "host" / "sessions.lock", fcntl.LOCK_EX, until):
        yield


@asynccontextmanager
async def changing_sessions(home: Path | None) -> AsyncIterator[None]:
    """Around what makes or ends a session, or ends a control client; likewise."""
    if home is None:
        yield
        return
    async with contextlib.AsyncExitStack() as held:
        async with _turn(home) as until:
            await held.enter_async_context(_held(home / "host" / "sessions.lock", fcntl.LOCK_SH, until))
        yield


@asynccontextmanager
async def _turn(home: Path) -> AsyncIterator[float]:
    """In the order of coming: many that share the room would never let in the one who needs it alone."""
    until = time.monotonic() + PATIENCE_S
    async with _held(home / "host" / "turn.lock", fcntl.LOCK_EX, until):
        yield until


@asynccontextmanager
async def _held(path: Path, how: int, until: float) -> AsyncIterator[None]:
    """A lock on a file, or nothing at all once ``until`` is over or where the home takes no file."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, MODE)
    except OSError:
        yield
        return
    try:
        while not _locks(descriptor, how) and time.monotonic() < until:  # noqa: ASYNC110  others, too, hold it
            await asyncio.sleep(LOOK_S)
        yield
    finally:
        os.close(descriptor)


def _locks(descriptor: int, how: int) -> bool:
    try:
        fcntl.flock(descriptor, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
