"""The executor as a whole: its loops over one host, hosted beside a screen or by a command.

Stopping it never stops an agent; a new one reads the store and the spool and goes on.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from executor import lock
from executor.background import START_TIMEOUT_S, LoopThread
from executor.hosts.link import LinkDown, LinkEvent, LinkUp, ServerGone, SessionsChanged
from executor.hosts.local import LocalLink
from executor.ledger import ACTOR, Ledger
from executor.settings import ExecutorSettings
from executor.supervision.answered import AnswerWatch
from executor.supervision.deliver import Deliveries
from executor.supervision.dispatch import Dispatch
from executor.supervision.generations import Generations
from executor.supervision.heartbeat import Heartbeat
from executor.supervision.ingest import Ingest
from executor.supervision.logs import LogKeeper
from executor.supervision.reconcile import Reconciler
from executor.supervision.restart import Restarts
from executor.supervision.silence import SilenceWatch
from executor.supervision.spawn import Spawner
from executor.supervision.station import Station, keep_going
from executor.supervision.stop import Stops
from executor.supervision.transcripts import Transcripts
from providers.provider import Provider
from providers.reload import CatalogKeeper
from store import hosts, integrity, journal, redaction
from store.database import Store
from store.errors import ExecutorNotRunning, StoreUnavailable
from store.home import Home
from store.records import Event, Run
from store.restart_rules import Backoff

log = logging.getLogger("pam.executor")

DAY_S = 86_400.0


class Executor:
    """One home's executor; ``run`` until cancelled."""

    def __init__(
        self,
        store: Store,
        home: Home,
        settings: ExecutorSettings,
        *,
        catalog: CatalogKeeper,
        auto_mark_done: bool,
        events_days: int,
        environ: Mapping[str, str],
    ) -> None:
        self._store = store
        self._settings = settings
        self._catalog = catalog
        self._auto_mark_done = auto_mark_done
        self._events_days = events_days
        self._environ = environ
        self._ledger = Ledger(store)
        redaction.learn(redaction.secrets_in(environ))
        store.backoff = Backoff(settings.restart_initial_s, settings.restart_factor, settings.restart_max_s)
        self._link = LocalLink(settings, home.path, on_event=self._link_event)
        self._station: Station | None = None

    async def run(self, started: Future[None]) -> None:
        """Connect, catch up, then run every loop. ``started`` tells when, or why it could not (TmuxUnavailable)."""
        try:
            await self._link.connect()
            try:
                station = await self._begin()
                started.set_result(None)
                await self._loops(station)
            finally:
                await self._link.close()
        finally:
            await asyncio.to_thread(self._ledger.close)

    async def _begin(self) -> Station:
        """What must be true before the first loop: the host is known and seen, the store was looked over."""
        host = await self._ledger.call(hosts.ensure_local, actor=ACTOR)
        station = self._station = Station(self._link, host.id, self._ledger, self._settings)
        await Heartbeat(station).beat()
        await self._ledger.call(integrity.sweep, actor=ACTOR)
        await Generations(station).load()  # before the first agent is given one
        return station

    async def _purge(self) -> None:
        """At start and once a day, best effort (PAM-STORE-003)."""
        while True:
            await self._purge_once()
            await asyncio.sleep(DAY_S)

    async def _purge_once(self) -> None:
        try:
            gone = await self._ledger.call(journal.purge, self._events_days, actor=ACTOR)
        except StoreUnavailable as error:
            log.warning("Old events stay: %s", error)
        else:
            log.info("%d events older than %d days are gone", gone, self._events_days)

    async def _loops(self, station: Station) -> None:
        ingest = Ingest(
            station,
            auto_mark_done=self._auto_mark_done,
            recipe_of=self._recipe_of,
            on_hook=lambda run_id: transcripts.look(run_id),
        )
        transcripts = Transcripts(station, lambda: self._catalog.catalog, self._environ, say=ingest.say)
        spawner = Spawner(station, lambda: self._catalog.catalog, self._environ)
        stops = Stops(station, ingest)
        reconciler = Reconciler(station, ingest, spawner, stops)
        seen = partial(ingest.say, seen_in="pane")
        loops = {
            "ingest": ingest.follow,
            "transcripts": transcripts.loop,
            "liveness": reconciler.liveness,
            "reconcile": reconciler.loop,
            "dispatch": Dispatch(station, spawner).loop,
            "stop": stops.loop,
            "deliver": Deliveries(station, lambda: self._catalog.catalog).loop,
            "restart": Restarts(station).loop,
            "silence": SilenceWatch(station, still_s=self._still_s, say=seen).loop,
            "answers": AnswerWatch(station, self._provider_of, say=seen).loop,
            "logs": LogKeeper(station).loop,
            "heartbeat": Heartbeat(station).loop,
            "catalog": self._catalog.watch,
            "purge": self._purge,
        }
        with self._listening(station):
            async with asyncio.TaskGroup() as group:
                for name, loop in loops.items():
                    group.create_task(keep_going(name, loop), name=f"pam-{name}")

    def _recipe_of(self, provider: str) -> str | None:
        known = self._catalog.catalog.providers.get(provider)
        return known.hooks.recipe or None if known else None

    def _provider_of(self, run: Run) -> Provider | None:
        return self._catalog.catalog.providers.get(run.provider)

    def _still_s(self, run: Run) -> float:
        provider = self._provider_of(run)
        return provider.still_s if provider else 0.0

    @contextmanager
    def _listening(self, station: Station) -> Iterator[None]:
        """The journal rings the loops, whoever wrote it."""
        loop = asyncio.get_running_loop()

        def deliver(events: list[Event]) -> None:
            with suppress(RuntimeError):  # the loop has closed meanwhile
                loop.call_soon_threadsafe(station.announce, events)

        tail = journal.Tail(self._store, deliver).start()
        try:
            yield
        finally:
            tail.close()

    def _link_event(self, event: LinkEvent) -> None:
        match event:
            case LinkUp(server):
                log.info("tmux server %s is reached", server)
            case LinkDown(reason):
                log.warning("tmux is out of reach: %s", reason)
            case ServerGone(server):
                log.warning("tmux server %s has ended, and every session in it", server)
            case SessionsChanged():
                pass
        if self._station is not None and not isinstance(event, LinkDown):
            self._station.look_again()


@contextmanager
def host_executor(
    store: Store,
    home: Home,
    settings: ExecutorSettings,
    *,
    hosted_by: lock.HostedBy,
    catalog_path: Path | None = None,
    auto_mark_done: bool = False,
    events_days: int = journal.RETENTION_DAYS,
    environ: Mapping[str, str] = os.environ,
) -> Iterator[LoopThread]:
    """Be this home's executor for the length of the block.

    Raises ExecutorBusy when another process is, TmuxUnavailable when tmux cannot be used, StoreUnavailable when the
    database cannot be written, and ExecutorNotRunning when it did not come up in time.
    """
    held = lock.acquire(home, hosted_by)
    if held is None:
        holder = lock.state(home)
        raise lock.ExecutorBusy(
            f"Another process (pid {holder.pid}) is the executor of {home.path}; it does the work for both.",
            **holder.as_json(),
        )
    try:
        catalog = CatalogKeeper(home.path, operator_file=catalog_path)
        executor = Executor(
            store,
            home,
            settings,
            catalog=catalog,
            auto_mark_done=auto_mark_done,
            events_days=events_days,
            environ=dict(environ),
        )
        thread = LoopThread("executor", executor.run)
        try:
            _bring_up(thread, home)
            yield thread
        finally:
            thread.stop()
    finally:
        held.release()


def _bring_up(thread: LoopThread, home: Home) -> None:
    try:
        thread.start()
    except TimeoutError as error:
        raise ExecutorNotRunning(
            f"The executor of {home.path} was not up within {START_TIMEOUT_S:g} s: its database or tmux is too slow. "
            f"Try again; `pam doctor` looks for the cause, {home.log} has the details.",
            home=str(home.path),
        ) from error
