"""Remembers which control clients we started and for whom, so that none outlives its owner (FR-31).

A client ends with its owner by itself; one that hangs on a stopped server does not. Each is a file named
``<client>.<owner>``, each half a pid and its start time, so a reused pid is never mistaken for one of them.
"""

from __future__ import annotations

import os
import signal
from pathlib import Path

from executor.processes import ProcessId, identify, liveness, send


class ClientRecords:
    """The records in one directory; several pam processes may share it."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def add(self, pid: int) -> None:
        """This process started the control client ``pid``."""
        client, owner = identify(pid), identify(os.getpid())
        if client is not None and owner is not None:
            self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            (self._directory / f"{_text(client)}.{_text(owner)}").touch(mode=0o600)

    def remove(self, pid: int) -> None:
        """The control client ``pid`` has ended."""
        for path in self._directory.glob(f"{pid}-*"):
            path.unlink(missing_ok=True)

    def orphans(self) -> list[ProcessId]:
        """The clients that live although their owner is dead for certain; nothing is done about them."""
        found = []
        for path in self._directory.glob("*.*"):
            client, owner = (_process(half) for half in path.name.split(".", 1))
            if client and owner and liveness(client) == "alive" and liveness(owner) == "dead":
                found.append(client)
        return sorted(found)

    def sweep(self) -> list[int]:
        """Ends the clients whose owner is dead for certain; returns their pids. Killing one harms no session."""
        ended = []
        for path in self._directory.glob("*.*"):
            client, owner = (_process(half) for half in path.name.split(".", 1))
            if client is None or owner is None or liveness(client) == "dead":
                path.unlink(missing_ok=True)
            elif liveness(owner) == "dead" and send(client, signal.SIGKILL):
                ended.append(client.pid)
                path.unlink(missing_ok=True)
        return ended


def _text(process: ProcessId) -> str:
    return f"{process.pid}-{process.started}"


def _process(text: str) -> ProcessId | None:
    pid, _, started = text.partition("-")
    return ProcessId(int(pid), int(started)) if pid.isdigit() and started.isdigit() else None
