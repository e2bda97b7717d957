"""The activity place's part of the model: the journal by pages, and how far the operator has looked at it."""

from __future__ import annotations

import asyncio
from functools import lru_cache
from pathlib import Path

from app.model import memory
from app.model.access import Access
from store import history
from store.history import Page, Wanted

SEEN = "seen"
"""Under this the memory keeps the ``seq`` of the newest event that was looked at."""


class ActivityParts(Access):
    """Implements ``screens.model.activity.ActivityModel``."""

    async def older_events(self, before: int | None, wanted: Wanted, limit: int) -> Page:
        """As the protocol says."""
        return await self._reads.call(history.older, before, wanted, limit=limit)

    async def newer_events(self, after: int, wanted: Wanted, limit: int) -> Page:
        """As the protocol says."""
        return await self._reads.call(history.newer, after, wanted, limit=limit)

    async def journal_ends(self) -> tuple[int, int]:
        """As the protocol says."""
        return await self._reads.call(history.ends)

    async def saw_events(self, seq: int) -> None:
        """As the protocol says."""
        await asyncio.to_thread(_look, self._around.home.path / memory.NAME, seq)


def seen(path: Path) -> int:
    """The newest event that was looked at, in any control room of this home; 0 when none was."""
    try:
        status = path.stat()
    except OSError:
        return 0
    return _seen(path, (status.st_mtime_ns, status.st_ino, status.st_size))


@lru_cache(maxsize=2)
def _seen(path: Path, _: tuple[int, ...]) -> int:
    """Asked at every change of anything: the file is read only where it is another one than before."""
    known = memory.read(path).get(SEEN)
    return known if isinstance(known, int) and 0 <= known < 2**63 else 0


def _look(path: Path, seq: int) -> None:
    if seq > seen(path):
        memory.change(path, SEEN, seq)
