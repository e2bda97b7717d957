"""Puts failed runs back into the queue when their pause is over; dispatch and spawn do the rest.

What is due, and when, was settled as the run failed and stands in its row (``store.restarts``): this loop only watches
the clock, so a restart is neither lost nor done twice however often executors come and go. The old incarnation's
session is ended by the spawner before the new one is made (PAM-RST-005).
"""

from __future__ import annotations

import logging

from executor.ledger import ACTOR
from executor.supervision.station import Station
from store import restarts

log = logging.getLogger("pam.restart")

LOOK_S = 30.0
"""Longest sleep; what another process settled, or a clock that was set, is noticed this late at most."""


class Restarts:
    """The policy is the run's; the pauses are the executor's settings."""

    def __init__(self, station: Station) -> None:
        self._station = station
        self._bell = station.bell("run.failed", "run.finished")

    async def loop(self) -> None:
        """Requeue what fell due while nobody executed, then each run as its pause ends."""
        call = self._station.ledger.call
        while True:
            for run in await call(restarts.requeue_due, actor=ACTOR):
                log.info("Run %s is restarted: attempt %d of %d", run.id, run.attempt, run.max_attempts)
            due_s = await call(restarts.next_due_s)
            await self._bell.wait(LOOK_S if due_s is None else min(LOOK_S, due_s))
