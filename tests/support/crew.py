"""The parts of an executor over a stage, each to be called by hand: for tests that decide what happens when."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import psutil

from executor.hosts.local import LocalLink
from executor.ledger import ACTOR, Ledger
from executor.settings import ExecutorSettings
from executor.supervision.dispatch import Dispatch
from executor.supervision.heartbeat import Heartbeat
from executor.supervision.ingest import Ingest
from executor.supervision.plan import Step
from executor.supervision.reconcile import Reconciler
from executor.supervision.spawn import Spawner
from executor.supervision.station import Station
from executor.supervision.stop import Stops
from providers.reload import CatalogKeeper
from store import hosts, runs
from store.clock import Clock, utc_now
from store.records import Run
from tests.store.world import Dump, dump
from tests.support.stage import Stage
from tests.support.tmux_server import until_answer


@dataclass
class Crew:
    """One executor's parts on one host."""

    stage: Stage
    station: Station
    ingest: Ingest
    spawner: Spawner
    stops: Stops
    dispatch: Dispatch
    reconciler: Reconciler

    @property
    def link(self) -> LocalLink:
        """The real thing."""
        assert isinstance(self.station.link, LocalLink)
        return self.station.link

    async def begin(self, script: str, **options: object) -> Run:
        """A run of a shell script, brought up to where its agent runs."""
        run = self.stage.shell(script, **options)
        await self.start(run)
        return await self.until(run, "running")

    async def start(self, run: Run) -> Run:
        """Claim a pending run and make its session."""
        claimed = [one for one in await self.dispatch.claim_all() if one.id == run.id]
        assert claimed, "it was not claimed"
        await self.spawner.spawn(claimed[0])
        return self.stage.run(run)

    async def until(self, run: Run, *statuses: str) -> Run:
        """The run once the spool has brought it there."""

        async def there() -> Run | None:
            await self.ingest.drain()
            now = self.stage.run(run)
            return now if now.status in statuses else None

        found = await until_answer(there, 15)
        assert found is not None
        return found

    async def round(self) -> dict[str, Step]:
        """One whole reconcile; the steps that had something to do, by action."""
        return {step.action: step for step in await self.reconciler.round(whole=True) if step.acts}

    def state(self) -> tuple[Dump, set[str], set[int]]:
        """All that a needless step could change: the store, the sessions, the agents."""
        agents = {pid for run in runs.list_all(self.stage.store) for pid in marked(run)}
        return dump(self.stage.store), self.stage.sandbox.sessions(), agents


@asynccontextmanager
async def crew(
    stage: Stage, *, settings: ExecutorSettings | None = None, clock: Clock = utc_now
) -> AsyncIterator[Crew]:
    """A crew whose link is up and whose host has been seen; nothing runs by itself."""
    settings = settings or stage.settings
    ledger = Ledger(stage.store)
    link = LocalLink(settings, stage.home.path)
    (stage.home.path / "spool").mkdir(mode=0o700, exist_ok=True)  # whoever follows the spool makes it otherwise
    await link.connect()
    try:
        host = await ledger.call(hosts.ensure_local, actor=ACTOR)
        station = Station(link, host.id, ledger, settings)
        await Heartbeat(station).beat()
        ingest = Ingest(station, auto_mark_done=False)
        catalog = CatalogKeeper(stage.home.path)
        spawner = Spawner(station, lambda: catalog.catalog, {**os.environ, **stage.environ})
        stops = Stops(station, ingest)
        reconciler = Reconciler(station, ingest, spawner, stops, clock=clock)
        yield Crew(stage, station, ingest, spawner, stops, Dispatch(station, spawner), reconciler)
    finally:
        await link.close()
        ledger.close()


def marked(run: Run, attempt: int | None = None) -> list[int]:
    """Living processes that were told to be this run, and this attempt."""
    found = []
    for process in psutil.process_iter():
        try:
            env = process.environ()
            alive = process.status() not in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD)
        except (psutil.Error, OSError):
            continue
        if alive and env.get("PAM_RUN") == run.id and attempt in (None, int(env.get("PAM_ATTEMPT", "0"))):
            found.append(process.pid)
    return found
