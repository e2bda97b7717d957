"""CPU and memory of one agent's own processes on this machine, measured when somebody asks and never otherwise."""

from __future__ import annotations

import time
from dataclasses import dataclass

import psutil

from executor import processes
from executor.processes import ProcessId
from store.records import Run

OVER_S = 0.2
"""How long ``usage`` watches. The kernel counts in hundredths of a second, so this resolves 5 % of a core."""


@dataclass(frozen=True, slots=True)
class Usage:
    """What an agent takes: itself and all it started, without pam's wrapper."""

    cpu_percent: float
    """Of one core: 250.0 is two and a half cores."""
    rss_bytes: int
    """Resident memory; a page that several of its processes share counts for each of them."""
    processes: int


class Meter:
    """Measures one agent again and again; each reading tells of the time since the one before."""

    def __init__(self, wrapper: ProcessId) -> None:
        self._wrapper = wrapper
        self._before = _sample(wrapper)

    def read(self) -> Usage | None:
        """None once the agent's wrapper is gone. It takes some milliseconds, too long for an event loop."""
        before, now = self._before, _sample(self._wrapper)
        if before is None or now is None:
            return None
        self._before = now
        passed = max(now.at - before.at, 0.001)
        # Less than before when a process left the tree and took its share along.
        cpu = max(0.0, now.cpu_s - before.cpu_s) / passed
        return Usage(round(100 * cpu, 1), now.rss_bytes, now.processes)


def usage(wrapper: ProcessId, *, over_s: float = OVER_S) -> Usage | None:
    """What the agent of a wrapper takes now, watched for ``over_s`` seconds; None when the wrapper is gone."""
    meter = Meter(wrapper)
    time.sleep(over_s)
    return meter.read()


def local_wrapper(run: Run) -> ProcessId | None:
    """The wrapper of a run whose agent lives on this machine; None for any other run."""
    if run.status != "running" or run.host != "local" or not run.wrapper_pid or not run.wrapper_started:
        return None
    return ProcessId(run.wrapper_pid, run.wrapper_started)


@dataclass(frozen=True, slots=True)
class _Sample:
    at: float
    cpu_s: float
    rss_bytes: int
    processes: int


def _sample(wrapper: ProcessId) -> _Sample | None:
    if processes.liveness(wrapper) != "alive":
        return None
    cpu, rss, count = 0.0, 0, 0
    for pid in _members(wrapper):
        try:
            process = psutil.Process(pid)
            with process.oneshot():
                times, memory = process.cpu_times(), process.memory_info()
        except psutil.Error:
            continue  # it has ended, and its parent counts what it took
        cpu += times.user + times.system + times.children_user + times.children_system
        rss += memory.rss
        count += 1
    return _Sample(time.monotonic(), cpu, rss, count)


def _members(wrapper: ProcessId) -> set[int]:
    members = {one.pid for one in processes.tree(wrapper, wrapper=wrapper)}
    # `tree` spares whoever asks and its ancestors. An agent that asks about itself is measured, pam itself is not.
    above = [parent.pid for parent in psutil.Process().parents()]
    if wrapper.pid in above:
        members.update(above[: above.index(wrapper.pid)])
    return members - {wrapper.pid}
