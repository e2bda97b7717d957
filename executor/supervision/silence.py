"""Notices agents that print nothing for long: a hint, then a flag, and a stop only where the operator chose that.

Silence is read off tmux's own record of the last output, and only while the host answers (PAM-FLEET-002, 003). An agent
that said itself that it waits or has finished its turn is not silent: it is waiting for the operator.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from executor.hosts.link import PaneListing, Unknown
from executor.ledger import ACTOR
from executor.supervision.station import Station
from providers.recipes.recipe import Said
from store import runs, silence
from store.records import Run
from store.silence import SilenceLevel

log = logging.getLogger("pam.silence")

LOOK_S = 30.0
"""Longest time between looks; shorter where a threshold is."""

SHORTEST_S = 0.2
JUMP_S = 5.0
"""A host's clock and ours may drift apart this much between looks before it counts as set, or as asleep."""

WITH_THE_OPERATOR = ("waiting", "idle")


class SilenceWatch:
    """One host's agents. ``monotonic`` returns seconds and stands still while the machine sleeps."""

    def __init__(
        self,
        station: Station,
        *,
        monotonic: Callable[[], float] | None = None,
        still_s: Callable[[Run], float] = lambda _: 0.0,
        say: Callable[[Run, Said], Awaitable[object]] | None = None,
    ) -> None:
        """``still_s``: how long a run's screen stands still before its agent does not work; ``say`` tells the edge."""
        self._station = station
        self._still_s = still_s
        self._say = say
        self._monotonic = monotonic or asyncio.get_running_loop().time
        self._told: dict[tuple[str, int], SilenceLevel] = {}
        self._last: tuple[int, float] | None = None
        self._not_before = 0

    async def loop(self) -> None:
        """Take up what was told before this executor lived, then look every interval."""
        await self.take_up()
        settings = self._station.settings
        thresholds = [threshold for threshold in (settings.idle_hint_s, settings.silence_s) if threshold]
        while thresholds:
            await self.look()
            await asyncio.sleep(max(SHORTEST_S, min(LOOK_S, *(threshold / 4 for threshold in thresholds))))

    async def take_up(self) -> None:
        """Know what was told before."""
        told = await self._station.ledger.call(silence.current)
        self._told = {(one.run_id, one.attempt): one.level for one in told.values()}

    async def look(self) -> None:
        """One round over the agents that run here."""
        station = self._station
        running = await station.ledger.call(runs.list_all, statuses=("running",), host_id=station.host_id)
        self._told = {key: level for key, level in self._told.items() if key in {_key(run) for run in running}}
        listing = await station.link.list_panes() if running else Unknown("nobody runs there")
        if isinstance(listing, Unknown):
            return
        self._mind_jumps(listing)
        for run in running:
            pane = listing.find(run.session_name, run.pane_id)
            if pane is not None and not pane.dead and run.stop_requested_at is None:
                silent_s = listing.at - max(pane.activity, self._not_before)
                await self._judge(run, silent_s)
                await self._mind_still(run, silent_s)

    def _mind_jumps(self, listing: PaneListing) -> None:
        """After a sleep or a clock that was set, old output looks older than it is: silence is counted from here."""
        now = self._monotonic()
        if self._last is not None:
            there, here = listing.at - self._last[0], now - self._last[1]
            if abs(there - here) > JUMP_S:
                self._not_before = listing.at
        self._last = (listing.at, now)

    async def _judge(self, run: Run, silent_s: float) -> None:
        level = self._level(run, silent_s)
        told = self._told.get(_key(run))
        stop = level == "silent" and self._station.settings.silence_action == "stop"
        if level is None:
            if told is not None:
                del self._told[_key(run)]
                await self._station.ledger.call(silence.ended, run.id, run.attempt, actor=ACTOR)
        elif stop or told not in (level, "silent"):
            await self._tell(run, level, silent_s, stop=stop)

    async def _mind_still(self, run: Run, silent_s: float) -> None:
        """An agent that draws while it works, and draws nothing, does not work, whatever it said last."""
        limit = self._still_s(run)
        if self._say is None or run.activity != "working" or run.activity_note:
            return  # with a note it said what it works at, such as a task in the background
        if 0 < limit <= silent_s:
            note = f"nothing on its screen has moved for {silent_s:.0f} s: interrupted?"
            await self._say(run, Said(activity="unknown", note=note))

    async def _tell(self, run: Run, level: SilenceLevel, silent_s: float, *, stop: bool) -> None:
        heard_within_s = self._station.settings.offline_after_s
        told = await self._station.ledger.call(
            silence.tell, run.id, run.attempt, level, silent_s, heard_within_s=heard_within_s, stop=stop, actor=ACTOR
        )
        if told:
            self._told[_key(run)] = level
            log.info("Run %s has printed nothing for %d s%s", run.id, silent_s, "; it is stopped" if stop else "")

    def _level(self, run: Run, silent_s: float) -> SilenceLevel | None:
        settings = self._station.settings
        if run.activity in WITH_THE_OPERATOR:
            return None
        if settings.silence_s and silent_s >= settings.silence_s:
            return "silent"
        return "idle" if settings.idle_hint_s and silent_s >= settings.idle_hint_s else None


def _key(run: Run) -> tuple[str, int]:
    return run.id, run.attempt
