"""A spool's generations: which one new agents are given, how far each was read, and when an old one may go.

A generation is a file that runs append to for as long as they live. The store's cursors say which generations there
are and how far each was ingested; a file without a cursor is read from its start, which is harmless, because applying
is exactly once. So every step here may be the last one of an executor, and the next one goes on from what it finds.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping

from executor.hosts.link import HostUnanswered
from executor.ledger import ACTOR
from executor.supervision.station import Station
from store import runs, spool

log = logging.getLogger("pam.ingest")

FIRST = "1"

Writer = tuple[str, int]
"""A run's id and attempt."""


class Generations:
    """One host's; ``load`` before anything else."""

    def __init__(self, station: Station) -> None:
        self._station = station
        self._offsets: dict[str, int] | None = None
        self._writers: dict[str, set[Writer]] = {}
        """Who may still write into an old generation, as far as this executor has looked."""

    @property
    def loaded(self) -> bool:
        """Whether the cursors were read."""
        return self._offsets is not None

    async def load(self) -> None:
        """Take over what the executor before left: its cursors, and the newest generation for new agents.

        Raises StoreUnavailable or OSError.
        """
        ledger, link = self._station.ledger, self._station.link
        offsets = await ledger.call(spool.cursors, self._station.host_id)
        there = await link.spool_generations()
        self._station.generation = max((*offsets, *there), key=int, default=FIRST)
        self._offsets = offsets

    def offset(self, generation: str) -> int:
        """Bytes of it that were ingested."""
        assert self._offsets is not None
        return self._offsets.get(generation, 0)

    def reached(self, generation: str, offset: int) -> None:
        """The store knows that everything before ``offset`` was ingested."""
        assert self._offsets is not None
        self._offsets[generation] = offset

    async def advance(self, generation: str, offset: int) -> None:
        """Let the store know that everything before ``offset`` was ingested."""
        self.reached(generation, offset)
        await self._station.ledger.call(spool.advance, self._station.host_id, generation, offset, actor=ACTOR)

    async def turn_over(self) -> None:
        """Begin the next generation if this one is full; let go of old ones that nobody writes to any more."""
        station = self._station
        if self.offset(station.generation) > station.settings.spool_max_bytes:
            following = str(int(station.generation) + 1)
            await self.advance(following, 0)  # the next executor must not go back behind it
            log.info(
                "Spool generation %s is full; new agents on %s get %s", station.generation, station.name, following
            )
            station.generation = following
        await self.let_go()

    async def let_go(self) -> None:
        """Remove each old generation that was ingested to its end and whose runs have all ended."""
        assert self._offsets is not None
        there = await self._station.link.spool_generations()
        old = [name for name in {*self._offsets, *there} if int(name) < int(self._station.generation)]
        if not old:
            return
        # Whoever was given an old generation and lives is among those that live now: that holds at any later moment,
        # so nothing needs to be written down. It takes in some that were given a newer one; they end as well.
        living = await self._living()
        for name in sorted(old, key=int):
            self._writers[name] = self._writers.get(name, living) & living
            if not self._writers[name]:
                await self._remove(name, there)

    async def _living(self) -> set[Writer]:
        found = await self._station.ledger.call(
            runs.list_all, statuses=("spawning", "running"), host_id=self._station.host_id
        )
        return {(run.id, run.attempt) for run in found}

    async def _remove(self, name: str, there: Mapping[str, int]) -> None:
        """The cursor goes first: a generation that comes back, by a late word, must be read from its start."""
        station, offset = self._station, self.offset(name)
        rest = await station.link.read_spool(name, offset) if there.get(name, 0) > offset else b""
        if b"\n" in rest:
            return
        if rest:
            log.warning("Spool generation %s ends in a torn line of %d bytes; it goes with it", name, len(rest))
        await station.ledger.call(spool.forget, station.host_id, name, actor=ACTOR)
        try:
            gone = await station.link.drop_spool(name, offset + len(rest))
        except (OSError, HostUnanswered) as error:
            log.warning("Spool generation %s stays for now: %s", name, error)
            return
        if gone:
            log.info("Spool generation %s is ingested and gone", name)
            assert self._offsets is not None
            self._offsets.pop(name, None)
            self._writers.pop(name, None)
