"""What the doctor asks of the executor's side: spool, raw logs, control clients, and what a tmux is known for."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from executor.hosts import local_files
from executor.spool import LONGEST_LINE, lines
from executor.tmux.client_records import ClientRecords
from executor.tmux.version import TmuxVersion

READ_AT_MOST = 32 << 20
"""Bytes of a spool that are looked through for lines that cannot be read."""

_Fault = tuple[TmuxVersion, TmuxVersion, str]
_FAULTS: tuple[_Fault, ...] = (
    (TmuxVersion(0, 0), TmuxVersion(3, 6), "may lose a fast exit's status (pam has it from its wrapper)"),
    (TmuxVersion(0, 0), TmuxVersion(3, 6), "leaks what a control client captures (pam takes it from a buffer)"),
    (TmuxVersion(3, 3), TmuxVersion(3, 7), "crashes on a global `window-size manual` (pam sets it per window)"),
    (TmuxVersion(0, 0), TmuxVersion(3, 7), "may drop a fast exit's last output (pam's wrapper holds the pane open)"),
)
"""From this version on, before that one: measured on 3.2a to 3.7c."""


def known_faults(version: TmuxVersion) -> list[str]:
    """What a tmux is known for that concerns pam, each with what pam does about it."""
    return [words for since, fixed, words in _FAULTS if since <= version < fixed]


@dataclass(frozen=True, slots=True)
class SpoolHealth:
    """A spool as it stands on disk."""

    sizes: Mapping[str, int]
    """Bytes by generation, the oldest first."""
    waiting: int
    """Bytes that no executor has ingested."""
    unreadable: int
    """Lines that are no signals, among those that are still there."""

    @property
    def bytes(self) -> int:
        """All of it."""
        return sum(self.sizes.values())


def spool(home: Path, cursors: Mapping[str, int]) -> SpoolHealth:
    """The local spool; ``cursors`` say how far each generation was ingested. Raises OSError."""
    folder = home / "spool"
    sizes = local_files.generations(folder)
    waiting = sum(max(0, size - cursors.get(name, 0)) for name, size in sizes.items())
    room, unreadable = READ_AT_MOST, 0
    for name in reversed(sizes):
        unreadable += _unreadable(folder / f"{name}.jsonl", min(room, sizes[name]))
        room -= min(room, sizes[name])
    return SpoolHealth(sizes, waiting, unreadable)


def _unreadable(path: Path, limit: int) -> int:
    found = offset = 0
    while offset < limit and (data := local_files.read(path, offset, LONGEST_LINE)):
        batch = list(lines(data, offset))
        if not batch:
            break
        found += sum(1 for line in batch if line.fault)
        offset = batch[-1].end
    return found


@dataclass(frozen=True, slots=True)
class LogsHealth:
    """What has been written about runs, and about pam itself."""

    runs: int
    """Raw logs, each with what was rotated away."""
    bytes: int
    own_bytes: int
    """Of pam's own logs."""
    strangers: tuple[Path, ...]
    """Raw logs of runs that the store does not know."""


def logs(home: Path, known: Collection[str]) -> LogsHealth:
    """The logs on disk; ``known`` are the ids of the store's runs. Raises OSError."""
    sizes = {path: path.stat().st_size for path in _files(home / "runs")}
    own = sum(path.stat().st_size for path in _files(home / "logs"))
    ids = {path: path.name.partition(".log")[0] for path in sizes}
    strangers = tuple(sorted(path for path in sizes if ids[path] not in known))
    return LogsHealth(len(set(ids.values())), sum(sizes.values()), own, strangers)


def _files(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if path.is_file()] if folder.is_dir() else []


def orphaned_clients(home: Path) -> list[int]:
    """Pids of control clients whose pam is gone (FR-31)."""
    return [client.pid for client in ClientRecords(home / "host" / "clients").orphans()]
