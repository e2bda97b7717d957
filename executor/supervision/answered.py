"""Notices that a question was answered where no hook says so: most CLIs tell of it only when the tool has ended.

Two signs are read off tmux's own listing, never off the screen: the title by which a CLI says that it waits is gone, or
a screen that stands still at a question and moves whenever its agent works has moved for some seconds without a pause.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from executor.hosts.link import PaneState, Unknown
from executor.supervision.station import Station
from providers.provider import Provider
from providers.recipes.recipe import Said
from store import runs
from store.records import Run

LOOK_S = 1.0
"""How often panes are listed while somebody waits; tmux tells of movement by the second."""
LIST_S = 30.0
MOVES = 5
"""Different seconds without a pause that must see a movement; one who walks through the choices pauses."""
PAUSE_S = 1


@dataclass(slots=True)
class _Question:
    asked: object
    """When the question came up; another one starts anew."""
    titled: bool = False
    """Whether the title has said that it waits."""
    moved_at: int = 0
    moves: int = 0


class AnswerWatch:
    """One host's waiting agents."""

    def __init__(
        self,
        station: Station,
        provider_of: Callable[[Run], Provider | None],
        *,
        say: Callable[[Run, Said], Awaitable[object]],
    ) -> None:
        """``say`` takes what was noticed to the ingest edge, if the run is still as it was when it was looked at."""
        self._station = station
        self._provider_of = provider_of
        self._say = say
        self._signals = station.bell("run.signal_received", told_only=True)
        self._open: dict[str, _Question] = {}

    async def loop(self) -> None:
        """Look every second while somebody waits whose answer can be seen, and not at all otherwise."""
        while True:
            await self.look()
            await self._signals.wait(LOOK_S if self._open else LIST_S)

    async def look(self) -> None:
        """One look at who waits."""
        station = self._station
        running = await station.ledger.call(runs.list_all, statuses=("running",), host_id=station.host_id)
        waiting = [run for run in running if run.activity == "waiting" and self._can_be_seen(run)]
        self._open = {run.id: self._question(run) for run in waiting}
        listing = await station.link.list_panes() if waiting else Unknown("nobody waits")
        if isinstance(listing, Unknown):
            return
        for run in waiting:
            pane = listing.find(run.session_name, run.pane_id)
            if pane is not None and not pane.dead and self._answered(run, pane, listing.at):
                del self._open[run.id]
                await self._say(run, Said(activity="working"))

    def _question(self, run: Run) -> _Question:
        known = self._open.get(run.id)
        return known if known is not None and known.asked == run.activity_at else _Question(run.activity_at)

    def _can_be_seen(self, run: Run) -> bool:
        provider = self._provider_of(run)
        return provider is not None and bool(provider.asks_title or provider.still_s)

    def _answered(self, run: Run, pane: PaneState, now: int) -> bool:
        provider, question = self._provider_of(run), self._open[run.id]
        if provider is None:
            return False
        if provider.asks_title:
            titled = re.search(provider.asks_title, pane.title) is not None
            question.titled = question.titled or titled
            return question.titled and not titled
        if now - pane.activity > PAUSE_S:
            question.moves = 0
        elif pane.activity > question.moved_at:
            question.moves += 1
        question.moved_at = pane.activity
        return question.moves >= MOVES
