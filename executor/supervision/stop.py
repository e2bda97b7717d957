"""Carries out stops: the kill ladder over the whole process tree, then the session, then the word that it is done.

The request stands in the run's row, so a stop that a crash interrupted is completed by the next executor (X-56).
"""

from __future__ import annotations

import asyncio
import logging

from executor.hosts.link import HostUnanswered
from executor.ledger import ACTOR
from executor.supervision.ending import end_run, told
from executor.supervision.ingest import Ingest
from executor.supervision.station import Station
from store import leftovers, runs
from store.errors import NotFound, StoreUnavailable
from store.records import Run

log = logging.getLogger("pam.stop")

LOOK_S = 10.0
"""How often requests are looked for when nothing is journaled; only a stop that failed is found this way."""

KILL_MARGIN_S = 2.0
"""The wrapper climbs the same ladder and reports; it gets this much longer before it is killed itself."""


class Stops:
    """One stop at a time for each run, any number of runs at once."""

    def __init__(self, station: Station, ingest: Ingest) -> None:
        self._station = station
        self._ingest = ingest
        self._bell = station.bell("run.stop_requested")

    async def loop(self) -> None:
        """Carry out what was asked before this executor lived, then whatever is asked."""
        async with asyncio.TaskGroup() as ladders:
            while True:
                for run in await self._asked():
                    ladders.create_task(self.carry_out(run))
                await self._bell.wait(LOOK_S)

    async def carry_out(self, run: Run) -> bool:
        """TERM to the agent, up to the grace, KILL to all of its tree, the session, and then ``run.stopped``.

        Whether it is done. A host or a store that is out of reach leaves the request standing.
        """
        station = self._station
        if run.id in station.stopping:
            return False
        station.stopping.add(run.id)
        try:
            async with station.hand(run.session_name):
                now = await station.ledger.call(runs.get, run.id)
                return now.attempt == run.attempt and await self._carry_out(now)
        except NotFound:  # it has ended, and was deleted with its item
            return False
        except (HostUnanswered, StoreUnavailable) as error:
            log.warning("The stop of run %s waits: %s", run.id, error)
            return False
        finally:
            station.stopping.discard(run.id)

    async def _asked(self) -> list[Run]:
        """Those that live, and those whose agent said its end before anybody saw its tree gone (X-56)."""
        call, host_id = self._station.ledger.call, self._station.host_id
        live = await call(runs.list_all, statuses=("spawning", "running"), host_id=host_id)
        asked = [run for run in live if run.stop_requested_at is not None]
        asked += await call(leftovers.unverified_stops, host_id)
        # A session being made right now would come to life behind the stop: it is stopped once it stands.
        busy = self._station.stopping | self._station.spawning
        return [run for run in asked if run.id not in busy]

    async def _carry_out(self, run: Run) -> bool:
        station = self._station
        ended = await end_run(station, run, grace_s=station.settings.grace_s + KILL_MARGIN_S)
        await self._ingest.drain()
        await station.ledger.call(runs.stopped, run.id, run.attempt, facts=told(ended), actor=ACTOR)
        return True
