"""Processes of this machine by pid *and* start time, and the ladder that ends an agent with all it started.

A pid alone is reused. The start time is counted as the wrapper counts it, without psutil: on Linux field 22 of
``/proc/<pid>/stat`` (clock ticks since boot), elsewhere whole seconds since the epoch (``ps -o lstart=``, which
psutil's ``create_time`` may miss by one when the clock was set).
"""

from __future__ import annotations

import asyncio
import errno
import os
import signal
import sys
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import psutil

Liveness = Literal["alive", "dead", "unknown"]

POLL_S = 0.02
LOOK_S = 0.25
"""Between looks for new members of a tree that is being ended; a look reads every process of the machine."""


@dataclass(frozen=True, slots=True, order=True)
class ProcessId:
    """One process, not whatever has its pid later. ``started`` 0 means that nobody could tell."""

    pid: int
    started: int


@dataclass(frozen=True, slots=True)
class Ended:
    """How a tree ended."""

    gone: bool
    """Verified: nothing of the tree is left, not even what was found only by its environment."""
    killed: bool
    """Whether it took KILL."""
    members: tuple[ProcessId, ...]
    """All that belonged to the tree while it was watched."""
    survivors: tuple[ProcessId, ...]
    """What could not be ended: another user's, or asleep in the kernel."""
    took_s: float


def identify(pid: int) -> ProcessId | None:
    """The process that has this pid now; None when there is none, or only its remains wait to be reaped."""
    seen = _look(pid)
    return None if seen is None or seen.dead else seen.me


def liveness(process: ProcessId) -> Liveness:
    """Alive, dead, or unknown when the machine does not say; nothing may be done on unknown (FR-22)."""
    if process.pid <= 0:
        return "dead"  # what stands for nobody
    seen = _look(process.pid)
    if seen is None:
        return "unknown" if psutil.pid_exists(process.pid) else "dead"
    if seen.dead:
        return "dead"
    if not process.started:
        return "unknown"
    return "alive" if _same(seen.me, process) else "dead"


def tree(
    root: ProcessId, *, wrapper: ProcessId | None = None, marks: Mapping[str, str] | None = None
) -> tuple[ProcessId, ...]:
    """The living processes that belong to an agent, the agent first.

    Its descendants in whatever group or session; with ``wrapper`` also the rest of the terminal session that the
    wrapper leads, or led while somebody known is left in it, but not the wrapper unless it is ``root``; with ``marks``
    (``PAM_RUN``, ``PAM_ATTEMPT``) also those whose environment holds them all, which finds what forked twice and left.
    This process and its ancestors are never part.
    """
    found = _belonging({root}, wrapper, marks or {}, frozenset())
    return tuple(sorted(found, key=lambda one: (one != root, one)))


async def end_tree(
    root: ProcessId,
    *,
    grace_s: float = 10.0,
    wrapper: ProcessId | None = None,
    also: Collection[ProcessId] = (),
    marks: Mapping[str, str] | None = None,
    spare: Collection[int] = (),
    verify_s: float = 5.0,
) -> Ended:
    """TERM to the agent's group, up to ``grace_s`` seconds, KILL to all that is left, then see that it is gone.

    (PAM-RST-004, FR-32.) Once the agent is gone, what it leaves gets TERM as well and the rest of the grace. ``also``
    holds others that are known to belong to it. ``spare`` holds pids that are never signalled, such as the tmux
    server's. Returns ``verify_s`` after the first KILL at the latest, and then names the survivors. When it is
    cancelled, it sends nothing more.
    """
    ladder = _Ladder(root, wrapper, marks or {}, frozenset(spare))
    ladder.members |= {one for one in also if one.pid > 0}
    began = time.monotonic()
    await ladder.look()
    ladder.tell_group(signal.SIGTERM)
    await ladder.wait(began + grace_s, ask_the_rest=True)
    await ladder.look()
    killed = bool(ladder.alive())
    last = time.monotonic() + verify_s
    while ladder.alive() and time.monotonic() < last:
        ladder.tell_each(signal.SIGKILL)
        await ladder.wait(min(last, time.monotonic() + LOOK_S))
        await ladder.look()
    survivors = tuple(sorted(ladder.alive()))
    return Ended(not survivors, killed, tuple(sorted(ladder.members)), survivors, time.monotonic() - began)


def send(process: ProcessId, number: int) -> bool:
    """Signal this very process; False when it is gone, not ours, or its pid belongs to another one by now."""
    if sys.platform == "linux":
        try:
            handle = os.pidfd_open(process.pid)
        except OSError as fault:
            if fault.errno != errno.ENOSYS:
                return False
        else:
            try:  # the handle pins the process: what is checked is what is signalled
                return liveness(process) == "alive" and _sent(signal.pidfd_send_signal, handle, number)
            finally:
                os.close(handle)
    return liveness(process) == "alive" and _sent(os.kill, process.pid, number)


class _Ladder:
    """The remembered tree of one agent while it is being ended."""

    def __init__(
        self, root: ProcessId, wrapper: ProcessId | None, marks: Mapping[str, str], spare: frozenset[int]
    ) -> None:
        self.root, self.wrapper, self.marks, self.spare = root, wrapper, marks, spare
        self.members = {root}

    async def look(self) -> None:
        """Remember newcomers: a child of a member is found as long as its parent lives or its environment tells."""
        self.members |= await asyncio.to_thread(_belonging, self.members, self.wrapper, self.marks, self.spare)

    def alive(self) -> set[ProcessId]:
        return {one for one in self.members if liveness(one) != "dead"}

    async def wait(self, until: float, *, ask_the_rest: bool = False) -> None:
        """Wait until nothing of the tree lives or the time (monotonic) is over, looking again now and then."""
        asked, look_at = not ask_the_rest, time.monotonic() + LOOK_S
        while (left := self.alive()) and time.monotonic() < until:
            if not asked and self.root not in left:
                self.tell_each(signal.SIGTERM)
                asked = True
            await asyncio.sleep(POLL_S)
            if time.monotonic() >= look_at:
                await self.look()
                look_at = time.monotonic() + LOOK_S

    def tell_group(self, number: int) -> None:
        """Signal the agent's group while a member proves that the group is still the agent's; CONT wakes it to hear."""
        leads = any(seen.group == self.root.pid for seen in map(_look, self._pids()) if seen and not seen.dead)
        for each in (number, signal.SIGCONT):
            if leads:
                _sent(os.killpg, self.root.pid, each)
            else:
                send(self.root, each)

    def tell_each(self, number: int) -> None:
        for one in sorted(self.members):
            send(one, number)
            send(one, signal.SIGCONT)

    def _pids(self) -> list[int]:
        return [one.pid for one in self.members if liveness(one) == "alive"]


# -- what the machine shows


@dataclass(frozen=True, slots=True)
class _Seen:
    me: ProcessId
    parent: int
    group: int
    session: int
    dead: bool


def _belonging(
    known: Set[ProcessId], wrapper: ProcessId | None, marks: Mapping[str, str], spare: frozenset[int]
) -> set[ProcessId]:
    """The living members of a tree of which ``known`` are members."""
    table = {seen.me.pid: seen for seen in map(_look, psutil.pids()) if seen and not seen.dead}
    ours = {os.getpid(), *_ancestors(os.getpid(), table)}
    members = {one.pid for one in known if one.pid in table and _same(table[one.pid].me, one)}
    for pid in table.keys() - members - ours if marks else ():
        # A tmux server or a pam that an agent happened to start hands the agent's marks on to all beneath it.
        if (spare | {os.getpid()}).isdisjoint((pid, *_ancestors(pid, table))) and _carries(pid, marks):
            members.add(pid)
    members |= _below(members, table)
    if wrapper and _leads(wrapper, members, table):
        members |= {pid for pid, seen in table.items() if seen.session == wrapper.pid != pid}
        members |= _below(members, table)
    return {table[pid].me for pid in members - ours - spare}


def _below(members: Set[int], table: Mapping[int, _Seen]) -> set[int]:
    return {pid for pid in table if not members.isdisjoint(_ancestors(pid, table))}


def _leads(wrapper: ProcessId, members: Set[int], table: Mapping[int, _Seen]) -> bool:
    """Whether the session with the wrapper's pid is the wrapper's.

    A session is known by its leader's pid. The kernel gives that to nobody else while the session has a member, so one
    member who is known proves it when the leader is gone; without one, the number says nothing.
    """
    if wrapper.pid in table:
        return _same(table[wrapper.pid].me, wrapper)
    return wrapper.pid > 0 and any(table[pid].session == wrapper.pid for pid in members)


def _ancestors(pid: int, table: Mapping[int, _Seen]) -> Iterator[int]:
    """Parents upwards; a table read while processes end may even hold a circle."""
    passed = {pid}
    while pid in table and (pid := table[pid].parent) not in passed:
        passed.add(pid)
        yield pid


def _carries(pid: int, marks: Mapping[str, str]) -> bool:
    try:
        return psutil.Process(pid).environ().items() >= marks.items()
    except (psutil.Error, OSError):
        return False  # another user's, or gone


def _look(pid: int) -> _Seen | None:
    return _look_linux(pid) if sys.platform == "linux" else _look_elsewhere(pid)


def _look_linux(pid: int) -> _Seen | None:
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return None
    # The name in parentheses may hold anything, a parenthesis included.
    state, parent, group, session, *rest = stat.rpartition(b")")[2].split()
    return _Seen(ProcessId(pid, int(rest[15])), int(parent), int(group), int(session), state in b"ZXx")


def _look_elsewhere(pid: int) -> _Seen | None:
    try:
        process = psutil.Process(pid)
        me = ProcessId(pid, int(process.create_time()))
        dead = process.status() == psutil.STATUS_ZOMBIE
        return _Seen(me, process.ppid(), os.getpgid(pid), os.getsid(pid), dead)
    except (psutil.Error, OSError):
        return None


def _same(one: ProcessId, other: ProcessId) -> bool:
    slack = 0 if sys.platform == "linux" else 1
    return one.pid == other.pid and bool(other.started) and abs(one.started - other.started) <= slack


def _sent(deliver: Callable[[int, int], None], target: int, number: int) -> bool:
    try:
        deliver(target, number)
    except OSError:
        return False
    return True
