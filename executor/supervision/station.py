"""What every loop of the executor shares: one host's link, the store behind it, and what wakes whom."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from weakref import WeakValueDictionary

from executor.hosts.link import HostLink, HostUnanswered, PaneListing, ProcessId, Unknown
from executor.ledger import Ledger
from executor.settings import ExecutorSettings
from executor.supervision.epoch import home_of
from store.errors import StoreUnavailable
from store.records import Event, Run

log = logging.getLogger("pam.executor")

FIRST_RETRY_S = 0.5
LONGEST_RETRY_S = 30.0
AWAY_RETRY_S = 2.0


class Bell:
    """Wakes one loop when an event of its topics was journaled, or when it is rung by hand."""

    def __init__(self, *topics: str, told_only: bool = False) -> None:
        """``told_only``: deaf to ``look_again``."""
        self._topics = topics
        self._rung = asyncio.Event()
        self.told_only = told_only

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
    _home: str = ""
    _hands: WeakValueDictionary[str, asyncio.Lock] = field(default_factory=WeakValueDictionary)
    generation: str = "1"
    """The spool generation that agents started from now on are given."""

    @property
    def name(self) -> str:
        """The host's name."""
        return self.link.name

    def bell(self, *topics: str, told_only: bool = False) -> Bell:
        """A new bell that ``announce`` rings, and ``look_again`` unless ``told_only``."""
        made = Bell(*topics, told_only=told_only)
        self.bells.append(made)
        return made

    async def home(self) -> str:
        """The short name of this home, as panes are marked with it. Raises OSError."""
        if not self._home:
            self._home = home_of(await self.link.instance_id())
        return self._home

    @asynccontextmanager
    async def hand(self, session: str) -> AsyncIterator[None]:
        """One hand at a time on a session: who makes one waits for who ends its forerunner, and the other way round."""
        lock = self._hands.setdefault(session, asyncio.Lock())
        async with lock:
            yield

    def in_hand(self, run: Run) -> bool:
        """Whether somebody here is at work on the run's session."""
        lock = self._hands.get(run.session_name)
        return run.id in self.spawning or run.id in self.stopping or (lock is not None and lock.locked())

    def look_again(self) -> None:
        """Ring everybody: something happened here that no event tells."""
        for bell in self.bells:
            if not bell.told_only:
                bell.ring()

    def announce(self, events: Iterable[Event]) -> None:
        """Ring whoever these events concern; called on the executor's loop."""
        listed = list(events)
        for bell in self.bells:
            if bell.hears(listed):
                bell.ring()


async def listing_of(link: HostLink) -> PaneListing:
    """Every pane of ours on the host. Raises HostUnanswered when it does not say."""
    listing = await link.list_panes()
    if isinstance(listing, Unknown):
        raise HostUnanswered(listing.reason)
    return listing


def spec_path(link: HostLink, run: Run) -> str:
    """Where the wrapper of this attempt finds what to run."""
    return f"{link.home}/specs/{run.id}-{run.attempt}.json"


def prompt_path(link: HostLink, run: Run) -> str:
    """Where the prompt of this attempt stands when it is too long to be given to a program."""
    return f"{link.home}/prompts/{run.id}-{run.attempt}.md"


def wrapper_of(run: Run) -> ProcessId | None:
    """The wrapper as it reported itself; None before it did."""
    return ProcessId(run.wrapper_pid, run.wrapper_started or 0) if run.wrapper_pid else None


def agent_of(run: Run) -> ProcessId | None:
    """The agent as its wrapper reported it; None before it did."""
    return ProcessId(run.agent_pid, run.agent_started or 0) if run.agent_pid else None


def marks_of(run: Run, attempt: int | None = None) -> dict[str, str]:
    """What the environment of everything the run ever started holds, or this attempt of it."""
    return {"PAM_RUN": run.id} if attempt is None else {"PAM_RUN": run.id, "PAM_ATTEMPT": str(attempt)}


async def keep_going(name: str, loop: Callable[[], Awaitable[None]]) -> None:
    """Run one loop for ever: a fault is logged and the loop starts again, later each time it fails at once.

    This is the border of the loops: whatever goes wrong in one must not take the others along. A host or a store that
    is out of reach comes back, and then nobody shall wait long.
    """
    pause = FIRST_RETRY_S
    clock = asyncio.get_running_loop().time
    while True:
        began, longest = clock(), LONGEST_RETRY_S
        try:
            await loop()
            return
        except* (HostUnanswered, StoreUnavailable) as away:
            longest = AWAY_RETRY_S
            log.warning("The %s loop waits: %s", name, "; ".join(map(str, _leaves(away))))
        except* Exception:
            log.exception("The %s loop failed; it starts again in %.1f s", name, pause)
        await asyncio.sleep(min(pause, longest))
        pause = FIRST_RETRY_S if clock() - began > LONGEST_RETRY_S else min(longest, pause * 2)


def _leaves(group: BaseExceptionGroup[Exception]) -> Iterator[BaseException]:
    for error in group.exceptions:
        if isinstance(error, BaseExceptionGroup):
            yield from _leaves(error)
        else:
            yield error
