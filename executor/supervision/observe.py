"""Looks at a host for a plan: what the store wants there, what tmux shows, which processes live.

It changes nothing, so that a process without an executor may look as well. Runs are read before the sessions are
listed: a session made after the listing is not missing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, replace
from typing import Concatenate, ParamSpec, Protocol, TypeVar

from executor.hosts.link import HostLink, Liveness, PaneListing, Unknown
from executor.spool import lines
from executor.supervision.epoch import Epoch, epoch_of
from executor.supervision.plan import Seen
from executor.supervision.station import agent_of, wrapper_of
from store import leftovers, orphans, runs, spool
from store.database import Store
from store.records import Run, Signal

P = ParamSpec("P")
T = TypeVar("T")

LIFECYCLE = ("started", "finished")


class Ask(Protocol):
    """Calls a verb of the store."""

    def __call__(self, verb: Callable[Concatenate[Store, P], T], *args: P.args, **kwargs: P.kwargs) -> Awaitable[T]:
        """As ``Ledger.call``."""
        ...


@dataclass(frozen=True, slots=True)
class Observer:
    """One host, seen through its link."""

    link: HostLink
    host_id: str
    home: str
    """Our own, as panes are marked with it."""
    ask: Ask
    in_hand: Callable[[Run], bool]
    """Whether somebody is at work on the run's session."""
    drain: Callable[[], Awaitable[None]] | None = None
    """Brings the spool into the store; without it the spool is only looked into."""

    async def expected(self) -> tuple[list[Run], Seen]:
        """What should live, which is cheap to look at: these runs, and their own sessions alone.

        Raises StoreUnavailable, or HostUnanswered while the spool cannot be read.
        """
        live, seen = await self._live()
        if isinstance(seen.listing, Unknown):
            return live, seen
        names = {run.session_name for run in live}
        panes = tuple(pane for pane in seen.listing.panes if pane.session in names)
        return live, replace(seen, listing=replace(seen.listing, panes=panes))

    async def everything(self) -> tuple[list[Run], Seen]:
        """What should live, every session, and what ended runs may have left. Raises as ``expected`` does."""
        live, seen = await self._live()
        if isinstance(seen.listing, Unknown):
            return live, seen
        found = await self.ask(leftovers.of_sessions, {pane.session for pane in seen.listing.panes})
        unverified = await self.ask(leftovers.unverified_stops, self.host_id)
        given_up = await self.ask(leftovers.given_up, self.host_id)
        others = {run.id: run for run in (*found, *unverified, *given_up)}
        for run in live:
            others.pop(run.id, None)
        # A live run of this host that was not expected was claimed since: its session may be younger than the listing.
        newcomers = [run for run in others.values() if run.live and run.host_id == self.host_id]
        judged = [*live, *(run for run in others.values() if run not in newcomers)]
        ended = [run for run in judged if not run.live and run.host_id == self.host_id]
        in_hand = {run.session_name for run in judged if self.in_hand(run)}
        return judged, replace(
            seen,
            agents=await self._lives(ended, self._agent),
            unverified=frozenset(run.id for run in unverified),
            flagged=frozenset(await self.ask(leftovers.flagged, [run.id for run in ended])),
            orphans=await self.ask(orphans.known, self.link.name),
            busy=frozenset(in_hand | {run.session_name for run in newcomers}),
        )

    async def _live(self) -> tuple[list[Run], Seen]:
        before = {run.id for run in await self._wanted()}
        listing = await self.link.list_panes()
        seen = Seen(self.link.name, self.host_id, self.home, listing)
        if isinstance(listing, Unknown):
            return await self._wanted(), seen
        said = await self._read_spool()
        live = [run for run in await self._wanted() if run.id in before]

        async def wrapper(run: Run) -> Liveness:
            return await self._wrapper(run, listing)

        return live, replace(
            seen,
            wrappers=await self._lives((run for run in live if run.status == "running"), wrapper),
            unread=frozenset(run.id for run in live if _is_news(run, said)),
            busy=frozenset(run.session_name for run in live if self.in_hand(run)),
        )

    # -- the store and the spool ----------------------------------------------------------------------------------

    async def _wanted(self) -> list[Run]:
        return await self.ask(runs.list_all, statuses=("spawning", "running"), host_id=self.host_id)

    async def _read_spool(self) -> set[tuple[str, int | None, str]]:
        """Runs, attempts, and what of their lives stands there behind what was ingested."""
        if self.drain is not None:
            await self.drain()
            return set()
        cursors = await self.ask(spool.cursors, self.host_id)
        said: set[tuple[str, int | None, str]] = set()
        for generation in await self.link.spool_generations():
            for signal in await self._unread(generation, cursors.get(generation, 0)):
                if signal.kind in LIFECYCLE:
                    said.add((signal.run_id, signal.attempt, signal.kind))
        return said

    async def _unread(self, generation: str, offset: int) -> list[Signal]:
        found: list[Signal] = []
        while batch := list(lines(await self.link.read_spool(generation, offset), offset)):
            found += [line.signal for line in batch if line.signal is not None]
            offset = batch[-1].end
        return found

    # -- the host -------------------------------------------------------------------------------------------------

    async def _lives(self, some: Iterable[Run], look: Callable[[Run], Awaitable[Liveness]]) -> dict[str, Liveness]:
        listed = list(some)
        lives = await asyncio.gather(*(look(run) for run in listed))
        return {run.id: life for run, life in zip(listed, lives, strict=True)}

    async def _wrapper(self, run: Run, listing: PaneListing) -> Liveness:
        """By pid and start time; one that was never reported is known by its pane."""
        wrapper = wrapper_of(run)
        if wrapper is not None:
            return await self.link.liveness(wrapper)
        pane = listing.find(run.session_name, run.pane_id)
        if pane is None or pane.dead:
            return "dead"
        return "alive" if epoch_of(pane.mark) == Epoch(self.home, run.attempt) else "unknown"

    async def _agent(self, run: Run) -> Liveness:
        """One whose exit was reported is dead; one that was never reported is not known."""
        agent = agent_of(run)
        if run.exit_code is not None:
            return "dead"
        return "unknown" if agent is None else await self.link.liveness(agent)


def _is_news(run: Run, said: set[tuple[str, int | None, str]]) -> bool:
    """Whether the spool knows more of a living run; an executor that was killed may have taken in what stands there."""
    begun = run.status == "spawning" and (run.id, run.attempt, "started") in said
    return begun or (run.id, run.attempt, "finished") in said
