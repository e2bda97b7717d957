"""Tells the store that the host was seen, and which hosts were not (PAM-HOST-004)."""

from __future__ import annotations

import asyncio

from executor.ledger import ACTOR
from executor.supervision.station import Station
from store import hosts


class Heartbeat:
    """A beat says that tmux there answers; a host out of reach misses its beats and goes offline."""

    def __init__(self, station: Station) -> None:
        self._station = station

    async def loop(self) -> None:
        """Beat every interval."""
        while True:
            await self.beat()
            await asyncio.sleep(self._station.settings.heartbeat_s)

    async def beat(self) -> None:
        """One beat, when the host's tmux server is reached; then a look at who went silent."""
        station, settings = self._station, self._station.settings
        if station.link.server is not None:
            instance = await station.link.instance_id()
            await station.ledger.call(
                hosts.heartbeat, station.name, instance, offline_after_s=settings.offline_after_s, actor=ACTOR
            )
        await station.ledger.call(hosts.sweep_offline, offline_after_s=settings.offline_after_s, actor=ACTOR)
