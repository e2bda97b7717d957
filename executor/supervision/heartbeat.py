"""Tells the store that the host was seen, which hosts were not, and whose runs are given up for it (PAM-HOST-004)."""

from __future__ import annotations

import asyncio
import logging
from datetime import datetime

from executor.ledger import ACTOR
from executor.supervision.station import Station
from store import host_loss, hosts
from store.clock import Clock, utc_now

log = logging.getLogger("pam.heartbeat")


class Heartbeat:
    """A beat says that tmux there answers; a host out of reach misses its beats and goes offline."""

    def __init__(self, station: Station, *, clock: Clock = utc_now) -> None:
        self._station = station
        self._clock = clock
        self._watching_since: datetime | None = None
        self._looked_at: datetime | None = None

    async def loop(self) -> None:
        """Beat every interval."""
        while True:
            await self.beat()
            await asyncio.sleep(self._station.settings.heartbeat_s)

    async def beat(self) -> None:
        """One beat, when the host's tmux server is reached; then a look at who went silent, and who is lost."""
        station, settings = self._station, self._station.settings
        if station.link.server is not None:
            instance = await station.link.instance_id()
            await station.ledger.call(
                hosts.heartbeat, station.name, instance, offline_after_s=settings.offline_after_s, actor=ACTOR
            )
        await station.ledger.call(hosts.sweep_offline, offline_after_s=settings.offline_after_s, actor=ACTOR)
        if self._watched_s() >= settings.offline_after_s:
            for run in await station.ledger.call(host_loss.fail_lost, settings.host_lost_s, actor=ACTOR):
                log.warning("Run %s is given up: its host was not seen for %d s", run.id, settings.host_lost_s)

    def _watched_s(self) -> float:
        """How long this executor has looked for hosts without a gap.

        After a start, a sleep of this machine or a clock that was set, every host looks unseen for longer than it was
        looked for; each gets the time of three beats to show up first.
        """
        now, settings = self._clock(), self._station.settings
        longest = max(settings.offline_after_s, 2 * settings.heartbeat_s)
        gap = (now - self._looked_at).total_seconds() if self._looked_at is not None else -1.0
        if self._watching_since is None or not 0 <= gap <= longest:
            self._watching_since = now
        self._looked_at = now
        return (now - self._watching_since).total_seconds()
