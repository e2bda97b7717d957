"""Takes pending runs for its host and has their sessions made, a few at a time; fails those that waited too long."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from executor.ledger import ACTOR
from executor.supervision.spawn import Spawner
from executor.supervision.station import Station
from store import hosts, runs
from store.errors import StoreUnavailable
from store.records import Run

log = logging.getLogger("pam.dispatch")

AT_ONCE = 8
"""Sessions made at the same time on one host."""

LOOK_S = 5.0
"""How often runs that wait are looked at when nothing happens; bounds how late a dispatch timeout comes."""


class Dispatch:
    """The claim is a guarded update in the store, so two executors can never both take a run."""

    def __init__(self, station: Station, spawner: Spawner) -> None:
        self._station = station
        self._spawner = spawner
        self._bell = station.bell("run.created", "run.requeued", "worker.registered", "host.*")
        self._places = asyncio.Semaphore(AT_ONCE)

    async def loop(self) -> None:
        """Look at once, then whenever something happened that may let a run go."""
        async with asyncio.TaskGroup() as making:
            while True:
                try:
                    await self.claim_all(lambda run: self._take_up(making, run))
                except StoreUnavailable as error:
                    # Not for the group to hear: it would cut off the sessions that are being made.
                    log.warning("Runs wait for the store: %s", error)
                await self._bell.wait(min(LOOK_S, self._station.settings.dispatch_timeout_s / 10))

    async def claim_all(self, take_up: Callable[[Run], object] = lambda _: None) -> list[Run]:
        """Expire what waited too long, then claim every pending run this host may have, the oldest first.

        Each is given to ``take_up`` as soon as it is claimed: a store that fails at the next one leaves none behind.
        Returns those that were claimed; they are among ``station.spawning``.
        """
        station, call = self._station, self._station.ledger.call
        await call(runs.expire_pending, station.settings.dispatch_timeout_s, actor=ACTOR)
        waiting = await call(runs.list_all, statuses=("pending",))
        if not waiting:
            return []
        host = await call(hosts.get, station.name)
        if not hosts.eligible(host) or station.link.server is None:
            return []
        mine = [run for run in reversed(waiting) if run.pinned_host_id in (None, host.id)]
        claimed = []
        for run in mine:
            taken = await call(runs.claim, run.id, host, actor=ACTOR)
            if taken is not None:
                station.spawning.add(taken.id)
                claimed.append(taken)
                take_up(taken)
        return claimed

    def _take_up(self, making: asyncio.TaskGroup, run: Run) -> None:
        task = making.create_task(self._make(run))
        # Not in `_make`: a task that is cancelled before its first step never comes there.
        task.add_done_callback(lambda _: self._station.spawning.discard(run.id))

    async def _make(self, run: Run) -> None:
        async with self._places:
            await self._spawner.spawn(run)
