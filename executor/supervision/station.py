"""What every loop of the executor shares: one host's link, the store behind it, and what wakes whom."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from executor.hosts.link import HostLink, HostUnanswered, ProcessId, Unknown
from executor.ledger import Ledger
from executor.settings import ExecutorSettings
from store.records import Event, Run

log = logging.getLogger("pam.executor")

FIRST_RETRY_S = 0.5
LONGEST_RETRY_S = 30.0


class Bell:
    """Wakes one loop when an event of its topics was journaled, or when it is rung by hand."""

    def __init__(self, *topics: str) -> None:
        self._topics = topics
        self._rung = asyncio.Event()

    def hears(self, events: Iterable[Event]) -> bool:
        """Whether one of the events is for this loop."""
        return any(fnmatchcase(event.topic, topic) for event in events for topic in self._topics)

    def ring(self) -> None:
        """Wake the loop; it looks once, however often it was rung meanwhile."""
        self._rung.set()

    async def wait(self, timeout_s: float) -> None:
        """Until it rings, or ``timeout_s`` have passed."""
        try:
            async with asyncio.timeout(timeout_s):
                await self._rung.wait()
        except TimeoutError:
            pass
        self._rung.clear()


@dataclass(slots=True)
class Station:
    """One host as the executor works it."""

    link: HostLink
    host_id: str
    ledger: Ledger
    settings: ExecutorSettings
    bells: list[Bell] = field(default_factory=list)
    spawning: set[str] = field(default_factory=set)
    """Runs this executor has claimed or taken up, until their session stands or could not be made."""
    stopping: set[str] = field(default_factory=set)
    """Runs whose stop this executor is carrying out right now."""

    @property
    def name(self) -> str:
        """The host's name."""
        return self.link.name

    def bell(self, *topics: str) -> Bell:
        """A new bell that ``announce`` rings."""
        made = Bell(*topics)
        self.bells.append(made)
        return made

    def look_again(self) -> None:
        """Ring everybody: something happened here that no event tells."""
        for bell in self.bells:
            bell.ring()

    def announce(self, events: Iterable[Event]) -> None:
        """Ring whoever these events concern; called on the executor's loop."""
        listed = list(events)
        for bell in self.bells:
            if bell.hears(listed):
                bell.ring()


async def leader_of(station: Station, run: Run) -> ProcessId | None:
    """The wrapper of a run: as it reported itself, or else the leader of the run's pane, if there is one.

    Raises HostUnanswered when the host does not say.
    """
    reported = wrapper_of(run)
    if reported is not None:
        return reported
    listing = await station.link.list_panes()
    if isinstance(listing, Unknown):
        raise HostUnanswered(listing.reason)
    pane = listing.find(run.session_name)
    return await station.link.identify(pane.pid) if pane is not None else None


def wrapper_of(run: Run) -> ProcessId | None:
    """The wrapper as it reported itself; None before it did."""
    return ProcessId(run.wrapper_pid, run.wrapper_started or 0) if run.wrapper_pid else None


def marks_of(run: Run) -> dict[str, str]:
    """What the environment of everything this attempt started holds."""
    return {"PAM_RUN": run.id, "PAM_ATTEMPT": str(run.attempt)}


async def keep_going(name: str, loop: Callable[[], Awaitable[None]]) -> None:
    """Run one loop for ever: a fault is logged and the loop starts again, later each time it fails at once.

    This is the border of the loops: whatever goes wrong in one must not take the others along.
    """
    pause = FIRST_RETRY_S
    clock = asyncio.get_running_loop().time
    while True:
        began = clock()
        try:
            await loop()
            return
        except Exception:
            log.exception("The %s loop failed; it starts again in %.1f s", name, pause)
        await asyncio.sleep(pause)
        pause = FIRST_RETRY_S if clock() - began > LONGEST_RETRY_S else min(LONGEST_RETRY_S, pause * 2)
