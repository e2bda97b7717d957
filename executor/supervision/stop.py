"""Carries out stops: the kill ladder over the whole process tree, then the session, then the word that it is done.

The request stands in the run's row, so a stop that a crash interrupted is completed by the next executor (X-56).
"""

from __future__ import annotations

import asyncio
import logging

from executor.hosts.link import HostUnanswered
from executor.ledger import ACTOR
from executor.supervision.ingest import Ingest
from executor.supervision.station import Station, leader_of, marks_of
from store import runs
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

    async def carry_out(self, run: Run) -> None:
        """TERM to the agent, up to the grace, KILL to all of its tree, the session, and then ``run.stopped``.

        A host that does not answer leaves the request standing.
        """
        if run.id in self._station.stopping:
            return
        self._station.stopping.add(run.id)
        try:
            await self._carry_out(run)
        except HostUnanswered as error:
            log.warning("The stop of run %s waits for its host: %s", run.id, error)
        finally:
            self._station.stopping.discard(run.id)

    async def _asked(self) -> list[Run]:
        live = await self._station.ledger.call(
            runs.list_all, statuses=("spawning", "running"), host_id=self._station.host_id
        )
        # A session being made right now would come to life behind the stop: it is stopped once it stands.
        busy = self._station.stopping | self._station.spawning
        return [run for run in live if run.stop_requested_at is not None and run.id not in busy]

    async def _carry_out(self, run: Run) -> None:
        link, settings = self._station.link, self._station.settings
        root = await leader_of(self._station, run)
        facts: dict[str, object] = {}
        if root is not None:
            ended = await link.end_tree(
                root, grace_s=settings.grace_s + KILL_MARGIN_S, wrapper=root, marks=marks_of(run)
            )
            facts = {
                "killed": ended.killed,
                "took_s": round(ended.took_s, 2),
                "survivors": [survivor.pid for survivor in ended.survivors],
            }
        await link.kill_session(run.session_name)
        await self._ingest.drain()
        await self._station.ledger.call(runs.stopped, run.id, run.attempt, facts=facts, actor=ACTOR)
