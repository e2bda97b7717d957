"""Brings what a host's spool says into the store: at least once, in order, from where the last executor stopped."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from functools import partial
from typing import Literal

from executor.ledger import ACTOR
from executor.spool import LONGEST_LINE, Line, lines
from executor.supervision.generations import Generations
from executor.supervision.hooks import HOOK, apply, said_by
from executor.supervision.station import Station
from providers.recipes.recipe import Said
from store import runs, signals, spool
from store.database import Store
from store.errors import NotFound, PamError, ProtocolError, StoreUnavailable
from store.records import Run, Signal

log = logging.getLogger("pam.ingest")


class Ingest:
    """One host's spool; ``drain`` may be called by any loop that must not miss what was said."""

    def __init__(
        self,
        station: Station,
        *,
        auto_mark_done: bool,
        recipe_of: Callable[[str], str | None] = lambda _: None,
        on_hook: Callable[[str], None] = lambda _: None,
    ) -> None:
        """``recipe_of`` names a provider's recipe, None for any; ``on_hook`` is told the run whose hook was heard."""
        self._station = station
        self._recipe_of = recipe_of
        self._on_hook = on_hook
        self._auto_mark_done = auto_mark_done
        self._generations = Generations(station)
        self._draining = asyncio.Lock()
        self._look_due = True
        """Whether a generation may have become full, or one that nobody needs any more."""

    async def follow(self) -> None:
        """Drain whenever the spool grows."""
        await self.drain()
        async for _ in self._station.link.watch_spool():
            await self.drain()

    async def drain(self) -> None:
        """Ingest everything that stands in the spool now, the oldest generation first.

        Raises StoreUnavailable when the store cannot take it, and HostUnanswered when the spool cannot be read; then
        it stays in the spool and is read again.
        """
        async with self._draining:
            if not self._generations.loaded:
                await self._generations.load()
            there = dict(await self._station.link.spool_generations())
            there.setdefault(self._station.generation, 0)
            for name, size in there.items():
                await self._ingest(name, size)
            if self._look_due:
                await self._generations.turn_over()
                self._look_due = False

    async def say(
        self,
        run: Run,
        said: Said,
        *,
        seen_in: Literal["transcript", "pane"] = "transcript",
        holds: Callable[[Run], bool] | None = None,
    ) -> bool:
        """Take in what the executor itself saw of a run; for a run that is gone it is nothing.

        ``run`` is as it was when it was looked at, and others speak meanwhile: the word counts if ``holds`` is true of
        the run as it is when the word comes in; without it, if the agent is still at what it was at then. Returns
        whether it counted.
        """
        line = Signal(run.id, run.attempt, "progress", f"{seen_in}:{run.provider}")
        still = holds or partial(_at_the_same, run)
        try:
            return await self._station.ledger.call(_apply_seen, line, said, still, self._auto_mark_done)
        except (NotFound, ProtocolError) as error:
            log.debug("What the %s of run %s says comes too late: %s", seen_in, run.id, error)
            return False

    async def _ingest(self, generation: str, size: int) -> None:
        """What is new in one generation, which had ``size`` bytes a moment ago."""
        offset = self._generations.offset(generation)
        if offset > size:
            log.warning("Spool generation %s is shorter than it was: it is read again from its start", generation)
            offset = 0
            await self._generations.advance(generation, offset)
        if offset == size:
            return
        while data := await self._station.link.read_spool(generation, offset, LONGEST_LINE):
            batch = list(lines(data, offset))
            if not batch:
                return
            offset = batch[-1].end
            # In one call, which an executor that closes lets end: what was taken in is known to be.
            await self._station.ledger.call(self._take_in, batch, generation, offset)
            self._generations.reached(generation, offset)
            for run_id in {line.signal.run_id for line in batch if line.signal and line.signal.kind == HOOK}:
                self._on_hook(run_id)
            self._look_due = True

    def _take_in(self, store: Store, batch: list[Line], generation: str, end: int) -> None:
        """On the store's thread."""
        _apply(store, batch, self._auto_mark_done, self._recipe_of)
        spool.advance(store, self._station.host_id, generation, end, actor=ACTOR)


def _at_the_same(before: Run, now: Run) -> bool:
    return (now.attempt, now.activity, now.activity_at) == (before.attempt, before.activity, before.activity_at)


def _apply_seen(store: Store, line: Signal, said: Said, holds: Callable[[Run], bool], auto_mark_done: bool) -> bool:
    """Nobody of this process speaks between the look at the run and the word: the store has one thread here."""
    if not holds(runs.get(store, line.run_id)):
        log.debug("What %s says of run %s is out of date", line.source, line.run_id)
        return False
    apply(store, line, said, auto_mark_done=auto_mark_done)
    return True


def _apply(store: Store, batch: list[Line], auto_mark_done: bool, recipe_of: Callable[[str], str | None]) -> None:
    """A line that is no signal, or one the edge refuses, is logged and passed over; a store that fails is not."""
    for line in batch:
        if line.fault:
            log.warning("Spool line before byte %d cannot be read: %s", line.end, line.fault)
        if line.signal is None:
            continue
        try:
            _take(store, line.signal, auto_mark_done, recipe_of)
        except StoreUnavailable:
            raise
        except PamError as error:
            log.warning("Signal %a of run %a refused: %s", line.signal.kind, line.signal.run_id, error)


def _take(store: Store, signal: Signal, auto_mark_done: bool, recipe_of: Callable[[str], str | None]) -> None:
    """A signal stands for itself, and a hook's line for what its recipe reads in it. Raises PamError."""
    if signal.kind != HOOK:
        applied = signals.ingest(store, signal, auto_mark_done=auto_mark_done)
        log.debug("Signal %s of run %s: %s", signal.kind, signal.run_id, applied.reason)
        return
    own = recipe_of(runs.get(store, signal.run_id).provider)
    if own is not None and signal.source != f"hook:{own}":
        log.debug("%s of run %s speaks for a CLI that its agent has started", signal.source, signal.run_id)
    elif said := said_by(signal):
        apply(store, signal, said, auto_mark_done=auto_mark_done)
