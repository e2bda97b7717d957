"""What every host gives the executor, wherever it is: sessions, screens, files, processes, its spool.

Observations never guess: a listing is a listing or ``Unknown``, a process alive, dead or unknown, and nothing is done
on unknown (FR-22). Actions raise. ``HostUnanswered`` means that the action may or may not have happened.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from executor.processes import Ended, Liveness, ProcessId
from executor.tmux.panes import PaneListing, PaneState, ServerIdentity
from store.errors import Conflict, NotFound, PamError, TmuxUnavailable

__all__ = ["Ended", "Liveness", "PaneListing", "PaneState", "ProcessId", "ServerIdentity"]

Platform = Literal["linux", "macos"]


class HostUnanswered(TmuxUnavailable):
    """The host or its tmux did not answer; what was asked may or may not have happened."""


class NoSuchSession(NotFound):
    """The host has no session of this name, or no such pane."""


class SessionExists(Conflict):
    """A session of this name is already there, from an earlier attempt or from a spawn that was not answered."""


class SpawnFailed(PamError):
    """The session could not be made; nothing of it is left."""

    code = "spawn_failed"


@dataclass(frozen=True, slots=True)
class Unknown:
    """The host could not be observed; whatever was known before may still hold."""

    reason: str


@dataclass(frozen=True, slots=True)
class Spawn:
    """A session to make: what runs in it, where, and where its raw output goes."""

    session: str
    argv: tuple[str, ...]
    """Program and arguments; no shell reads them."""
    cwd: str
    log_path: str
    env: Mapping[str, str] = field(default_factory=dict)
    """Not for secrets: any client of the tmux server can read it."""
    title: str = ""
    columns: int = 220
    rows: int = 50
    mark: str = ""
    """Stays with the pane and is listed with it: who made it, and for which attempt."""


@dataclass(frozen=True, slots=True)
class LogSize:
    """How much a run has written, as far as it is kept."""

    bytes: int
    lines: int
    rotated: bool
    """Whether an older part was set aside, and one before it perhaps dropped."""


@dataclass(frozen=True, slots=True)
class FileState:
    """A file that an agent's program writes, as it is now."""

    size: int
    identity: str
    """Another one once the file was replaced."""


@dataclass(frozen=True, slots=True)
class LinkUp:
    """The host can be observed and acted upon."""

    server: ServerIdentity


@dataclass(frozen=True, slots=True)
class LinkDown:
    """The host is out of reach; its sessions are unknown, not gone. The link keeps trying."""

    reason: str


@dataclass(frozen=True, slots=True)
class ServerGone:
    """The server of before has ended and every session with it. Said once for each server."""

    server: ServerIdentity


@dataclass(frozen=True, slots=True)
class SessionsChanged:
    """Some session began or ended: a listing now would differ."""


LinkEvent = LinkUp | LinkDown | ServerGone | SessionsChanged
OnEvent = Callable[[LinkEvent], None]


class HostLink(Protocol):
    """One host. Paths are paths on it, absolute. Once connected a link comes back by itself until it is closed."""

    @property
    def name(self) -> str:
        """The host's name, ``local`` for this machine."""
        ...

    @property
    def home(self) -> str:
        """The directory on the host that holds specs, spool, logs and wrapper."""
        ...

    @property
    def server(self) -> ServerIdentity | None:
        """The tmux server at the other end; None while there is no connection."""
        ...

    async def connect(self) -> ServerIdentity:
        """Starts the host's tmux server if none runs, and connects. Raises TmuxUnavailable with what to do."""
        ...

    async def close(self) -> None:
        """Lets go of the host; every session stays."""
        ...

    async def platform(self) -> Platform:
        """What the host runs."""
        ...

    async def instance_id(self) -> str:
        """Which installation this is: made once on the host and kept there (PAM-HOST-008)."""
        ...

    async def find_python(self) -> str:
        """Absolute path of an interpreter for the host-side programs, 3.8 or newer. Raises SpawnFailed."""
        ...

    async def list_panes(self) -> PaneListing | Unknown:
        """Every pane of ours. No server at all is an empty listing; any other failure is Unknown (PAM-TMUX-024)."""
        ...

    async def spawn(self, spawn: Spawn) -> str:
        """Makes the session with its log running from the first byte; returns its pane id.

        Raises SessionExists, SpawnFailed or HostUnanswered.
        """
        ...

    async def capture(self, where: str, *, history: int | None = 0) -> tuple[str, ...]:
        """The pane's rows as text with SGR styles, each row standing alone.

        ``where`` is a session name, or a pane id of the present server. ``history`` lines of scrollback come first,
        None for all. Raises NoSuchSession or HostUnanswered.
        """
        ...

    async def kill_session(self, session: str, pane: str | None = None) -> bool:
        """Ends the session, and says whether there was one; with ``pane`` only while that pane is in it.

        Raises HostUnanswered.
        """
        ...

    async def send_keys(self, where: str, keys: Sequence[str]) -> None:
        """Presses keys of the allow-list. Raises InvalidValue, NoSuchSession or HostUnanswered."""
        ...

    async def paste(self, where: str, text: str, *, submit: bool) -> None:
        """Pastes text as one bracketed paste, then Enter if ``submit``. Raises as ``send_keys`` does."""
        ...

    async def reopen_log(self, where: str, log_path: str, note: str) -> None:
        """Appends ``note`` to the log, then what the pane writes from now on.

        Raises NoSuchSession or HostUnanswered.
        """
        ...

    async def measure_log(self, log_path: str) -> LogSize | None:
        """How much stands in a log, with what was rotated away and is still kept; None without a log."""
        ...

    async def forget_run(self, run_id: str) -> None:
        """Removes what the host keeps of a run: raw log, specs, counters of its signals. Raises OSError."""
        ...

    async def nudge(self) -> None:
        """Makes tmux notice a child whose end it missed: a dead pane without status may get one."""
        ...

    async def put_file(self, path: str, data: bytes, mode: int) -> None:
        """Writes a file whole or not at all, and the directories above it. Raises OSError."""
        ...

    async def real_path(self, path: str) -> str:
        """The path behind every link in it, as far as it exists."""
        ...

    async def edit_file(self, path: str, edit: Callable[[bytes | None], bytes | None], mode: int) -> bool:
        """Gives ``edit`` the file's bytes, None without a file, and writes what it returns; whether it was written.

        Where the file is a link, the file behind it; one that somebody else changes meanwhile is edited again. ``mode``
        is for a file that is made. Raises OSError, and what ``edit`` raises.
        """
        ...

    async def file_state(self, path: str, *, below: Collection[str] = ()) -> FileState | None:
        """A regular file of the user's, below the user's home or one of ``below``; None when there is none to read.

        Links are followed first; devices, pipes and what the kernel shows as files are never opened.
        """
        ...

    async def read_file(self, path: str, offset: int, limit: int = 1 << 20, *, below: Collection[str] = ()) -> bytes:
        """Up to ``limit`` bytes of such a file from ``offset`` on; empty at its end, or where there is none to read."""
        ...

    async def remove_file(self, path: str) -> None:
        """Removes a file; one that is not there is fine. Raises OSError."""
        ...

    async def spool_generations(self) -> Mapping[str, int]:
        """The spool's generations by name, a number from 1 on, with the bytes in each; those that are there."""
        ...

    async def read_spool(self, generation: str, offset: int, limit: int = 1 << 20) -> bytes:
        """Up to ``limit`` bytes of a spool generation from ``offset`` on; empty at its end or without one.

        Never what a writer may still take back, as it does when its line does not fit on the disk. Raises
        HostUnanswered while a writer holds the generation for too long.
        """
        ...

    async def drop_spool(self, generation: str, size: int) -> bool:
        """Removes a generation if it has ``size`` bytes, not one more; whether it is gone.

        A writer that comes later begins it anew: nothing it says is lost. Raises OSError or HostUnanswered.
        """
        ...

    def watch_spool(self) -> AsyncIterator[None]:
        """Yields when the spool may have grown, and at least every few seconds."""
        ...

    async def identify(self, pid: int) -> ProcessId | None:
        """The process that has this pid now, None when there is none."""
        ...

    async def liveness(self, process: ProcessId) -> Liveness:
        """Whether this very process lives."""
        ...

    async def marked(self, marks: Mapping[str, str]) -> tuple[ProcessId, ...]:
        """Living processes whose environment holds all these marks, and what they started."""
        ...

    async def end_tree(
        self,
        process: ProcessId,
        *,
        grace_s: float,
        wrapper: ProcessId | None = None,
        also: Collection[ProcessId] = (),
        marks: Mapping[str, str] | None = None,
    ) -> Ended:
        """TERM, ``grace_s`` seconds, KILL, for the process, those beside it and all they started (PAM-RST-004)."""
        ...

    def attach_argv(self, session: str, *, read_only: bool) -> list[str]:
        """What to run in a terminal of this machine to attach to the session."""
        ...
