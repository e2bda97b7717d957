"""Takes pending runs for its host and has their sessions made, a few at a time; fails those that waited too long."""

from __future__ import annotations

import asyncio

from executor.ledger import ACTOR
from executor.supervision.spawn import Spawner
from executor.supervision.station import Station
from store import hosts, runs
from store.records import Run

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
                for run in await self.claim_all():
                    making.create_task(self._make(run))
                await self._bell.wait(min(LOOK_S, self._station.settings.dispatch_timeout_s / 10))

    async def claim_all(self) -> list[Run]:
        """Expire what waited too long, then claim every pending run this host may have, the oldest first."""
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
        return claimed

    async def _make(self, run: Run) -> None:
        async with self._places:
            await self._spawner.spawn(run)
