"""Brings what a host's spool says into the store: at least once, in order, from where the last executor stopped."""

from __future__ import annotations

import asyncio
import logging

from executor.ledger import ACTOR
from executor.spool import Line, lines
from executor.supervision.station import Station
from store import signals, spool
from store.database import Store
from store.errors import PamError, StoreUnavailable

log = logging.getLogger("pam.ingest")

GENERATION = "1"
"""The spool's only generation until rotation comes."""


class Ingest:
    """One host's spool; ``drain`` may be called by any loop that must not miss what was said."""

    def __init__(self, station: Station, *, auto_mark_done: bool) -> None:
        self._station = station
        self._auto_mark_done = auto_mark_done
        self._offset: int | None = None
        self._draining = asyncio.Lock()

    async def follow(self) -> None:
        """Drain whenever the spool grows."""
        await self.drain()
        async for _ in self._station.link.watch_spool():
            await self.drain()

    async def drain(self) -> None:
        """Ingest everything that stands in the spool now.

        Raises StoreUnavailable when the store cannot take it; then it stays in the spool and is read again.
        """
        async with self._draining:
            ledger, link = self._station.ledger, self._station.link
            if self._offset is None:
                self._offset = await ledger.call(spool.cursor, self._station.host_id, GENERATION)
            while data := await link.read_spool(GENERATION, self._offset):
                batch = list(lines(data, self._offset))
                if not batch:
                    return
                await ledger.call(_ingest, batch, self._auto_mark_done)
                self._offset = batch[-1].end
                await ledger.call(spool.advance, self._station.host_id, GENERATION, self._offset, actor=ACTOR)


def _ingest(store: Store, batch: list[Line], auto_mark_done: bool) -> None:
    """A line that is no signal, or one the edge refuses, is logged and passed over; a store that fails is not."""
    for line in batch:
        if line.fault:
            log.warning("Spool line before byte %d cannot be read: %s", line.end, line.fault)
        if line.signal is None:
            continue
        try:
            applied = signals.ingest(store, line.signal, auto_mark_done=auto_mark_done)
        except StoreUnavailable:
            raise
        except PamError as error:
            log.warning("Signal %s of run %s refused: %s", line.signal.kind, line.signal.run_id, error)
        else:
            log.debug("Signal %s of run %s: %s", line.signal.kind, line.signal.run_id, applied.reason)
