"""Remembers on disk which tmux server held our sessions, so that a later pam knows whether they can still be there."""

from __future__ import annotations

import json
from pathlib import Path

from executor.processes import Liveness, ProcessId, identify, liveness
from executor.tmux.panes import ServerIdentity


class ServerRecord:
    """One file; only the executor that holds the home's lock writes it."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def exists(self) -> bool:
        """Whether there ever was a server, as far as anybody remembers; its record may be unreadable."""
        return self._path.exists()

    def read(self) -> ServerIdentity | None:
        """The server of before; None without a readable record."""
        found = self._load()
        return None if found is None else ServerIdentity(found["pid"], found["start_time"])

    def write(self, server: ServerIdentity) -> None:
        """Our sessions are in this server from now on. Raises OSError."""
        process = identify(server.pid)
        about = {"pid": server.pid, "start_time": server.start_time, "started": process.started if process else 0}
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft = self._path.with_suffix(".draft")
        draft.touch(mode=0o600)
        draft.write_text(json.dumps(about), encoding="ascii")
        draft.replace(self._path)

    def liveness(self) -> Liveness:
        """Whether the recorded server's process lives; unknown without a record."""
        found = self._load()
        return "unknown" if found is None else liveness(ProcessId(found["pid"], found["started"]))

    def _load(self) -> dict[str, int] | None:
        try:
            found = json.loads(self._path.read_text(encoding="ascii"))
            return {name: int(found[name]) for name in ("pid", "start_time", "started")}
        except (OSError, ValueError, KeyError, TypeError):
            return None
