"""Looks whether what the store believes alive is alive; every observation is alive, dead or unknown.

The truth is the wrapper's process and its spool, never a session: a session can stand with its agent gone (FR-20), and
a tmux that does not answer says nothing about its agents (FR-22). Nothing is done on unknown.
"""

from __future__ import annotations

import logging
from datetime import UTC, datetime

from executor.hosts.link import Liveness, PaneListing, ProcessId, Unknown
from executor.ledger import ACTOR
from executor.supervision.ingest import Ingest
from executor.supervision.spawn import Spawner
from executor.supervision.station import Station, marks_of, wrapper_of
from store import runs
from store.records import FailureReason, Run

log = logging.getLogger("pam.liveness")


class LivenessCheck:
    """Also the re-adoption at start: what lives is left alone, what ended meanwhile is told from the spool."""

    def __init__(self, station: Station, ingest: Ingest, spawner: Spawner) -> None:
        self._station = station
        self._ingest = ingest
        self._spawner = spawner
        self._bell = station.bell()

    async def loop(self) -> None:
        """Look at once, then every interval."""
        while True:
            await self.look()
            await self._bell.wait(self._station.settings.liveness_s)

    async def look(self) -> None:
        """One round over this host's runs that should live.

        What is judged was expected before the sessions were listed: a session made after the listing is not missing.
        """
        expected = {run.id for run in await self._expected() if not self._busy(run)}
        listing = await self._station.link.list_panes()
        if isinstance(listing, Unknown):
            log.warning("Sessions on %s are unknown: %s", self._station.name, listing.reason)
            return
        await self._ingest.drain()
        for run in await self._expected():
            if run.id not in expected or self._busy(run):
                continue
            if run.status == "spawning" and run.stop_requested_at is None:
                await self._look_at_spawning(run, listing)
            elif run.status == "running" and await self.observe(run, listing) == "dead":
                await self._lost(run)
        await self._tidy(listing)

    async def observe(self, run: Run, listing: PaneListing) -> Liveness:
        """Whether the run's wrapper lives."""
        wrapper = wrapper_of(run)
        if wrapper is not None:
            return await self._station.link.liveness(wrapper)
        return "alive" if listing.find(run.session_name) is not None else "dead"

    def _busy(self, run: Run) -> bool:
        return run.id in self._station.spawning or run.id in self._station.stopping

    async def _expected(self) -> list[Run]:
        return await self._station.ledger.call(
            runs.list_all, statuses=("spawning", "running"), host_id=self._station.host_id
        )

    async def _tidy(self, listing: PaneListing) -> None:
        """Remove sessions whose wrapper has left after its hold: of runs in the store that ended, nothing else."""
        for session in {pane.session for pane in listing.panes if pane.dead}:
            run = await self._station.ledger.call(runs.by_session, self._station.host_id, session)
            if run is not None and not run.live:
                await self._station.link.kill_session(session)

    async def _look_at_spawning(self, run: Run, listing: PaneListing) -> None:
        """A run that is still starting: wait, make its session, or give up at its own deadline (FR-33)."""
        late = (datetime.now(UTC) - run.updated_at).total_seconds() > self._station.settings.spawn_timeout_s
        pane = listing.find(run.session_name)
        if pane is None and not late:
            log.info("Run %s was claimed but has no session; making it", run.id)
            self._station.spawning.add(run.id)
            await self._spawner.spawn(run)
        elif late:
            detail = "the agent did not start in time" if pane else "its session vanished before the agent started"
            await self._spawner.free_name(run)
            await self._fail(run, "spawn_failed", detail)

    async def _lost(self, run: Run) -> None:
        """The wrapper is gone without a word: read its last words again, end what it left, then say so."""
        await self._ingest.drain()
        now = await self._station.ledger.call(runs.get, run.id)
        if now.status != "running" or now.attempt != run.attempt:
            return
        wrapper = wrapper_of(run) or ProcessId(0, 0)
        ended = await self._station.link.end_tree(
            wrapper, grace_s=self._station.settings.grace_s, wrapper=wrapper, marks=marks_of(run)
        )
        if not ended.gone:
            log.error("Run %s left processes that cannot be ended: %s", run.id, ended.survivors)
        await self._fail(run, "session_lost", "its wrapper is gone and left no report of the end")

    async def _fail(self, run: Run, reason: FailureReason, detail: str) -> None:
        log.warning("Run %s failed (%s): %s", run.id, reason, detail)
        await self._station.ledger.call(runs.fail, run.id, run.attempt, reason, detail=detail, actor=ACTOR)
