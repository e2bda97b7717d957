"""Reads what tmux lists about panes; a row that cannot be read costs only itself (FR-23)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from executor.tmux.commands.looking import PANE_FIELDS
from executor.tmux.commands.sessions import MARK
from executor.tmux.commands.targets import PANE_ID, SESSION_NAME
from executor.tmux.version import OLDEST, TmuxVersion, parse_version


@dataclass(frozen=True, slots=True)
class PaneState:
    """One pane of ours as one listing showed it."""

    session: str
    pane_id: str
    pid: int
    """Leader of the pane: our wrapper."""
    activity: int
    """Second of the last output on the server's clock; equal seconds may hide later output."""
    dead: bool
    exit_status: int | None
    """Often missing on tmux before 3.6; the spool knows better."""
    exit_signal: int | None
    columns: int
    rows: int
    logged: bool
    """Whether the raw log is being written."""
    in_mode: bool
    """Whether somebody scrolls in it, which swallows keys."""
    viewers: int
    cursor: tuple[int, int] | None
    """Column and row, None when hidden."""
    title: str
    mark: str = ""
    """What ``Spawn.mark`` said when pam made it; empty for one that somebody else made, by a split for instance."""


@dataclass(frozen=True, slots=True)
class ServerIdentity:
    """Which tmux server this is. Another identity means that every session of the old one is gone."""

    pid: int
    start_time: int
    """Seconds since the epoch, on the server's clock."""
    version: TmuxVersion = field(default=OLDEST, compare=False)
    """The server's own, which may be older than the program on PATH."""

    def __str__(self) -> str:
        return f"{self.pid}:{self.start_time}"


@dataclass(frozen=True, slots=True)
class PaneListing:
    """Every pane of ours on one server at one moment."""

    server: ServerIdentity | None
    """None when no server runs, and then there are no panes for certain (PAM-TMUX-024)."""
    at: int
    """Server's clock just before the panes were read, in seconds; 0 without a server."""
    panes: tuple[PaneState, ...]

    def find(self, session: str, pane_id: str | None = None) -> PaneState | None:
        """The session's pane: the one with this id, else the one that pam made, else the session's first.

        An operator may have split it or added windows, before the agent's pane as well as behind it.
        """
        own = self.of(session)
        best = sorted(own, key=lambda pane: (pane.pane_id != pane_id, not pane.mark))
        return best[0] if best else None

    def of(self, session: str) -> tuple[PaneState, ...]:
        """All panes of the session, whoever made them."""
        return tuple(pane for pane in self.panes if pane.session == session)


NO_SERVER = PaneListing(None, 0, ())


def parse_identity(text: str) -> ServerIdentity:
    """What tmux makes of ``serving.IDENTITY_FORMAT``. Raises ValueError."""
    pid, start, version = text.strip().split(":")
    return ServerIdentity(int(pid), int(start), parse_version(f"tmux {version}") or OLDEST)


def parse_listing(clock: str, rows: Iterable[str]) -> PaneListing:
    """Both replies of ``looking.list_panes``. Sessions that are not ours do not appear. Raises ValueError."""
    identity, _, now = clock.strip().partition(" ")
    panes = (_parse_pane(row) for row in rows)
    return PaneListing(parse_identity(identity), int(now), tuple(pane for pane in panes if pane is not None))


def _parse_pane(row: str) -> PaneState | None:
    words = row.split("\t", len(PANE_FIELDS) - 1)
    if len(words) != len(PANE_FIELDS) or not SESSION_NAME.fullmatch(words[0]) or not PANE_ID.fullmatch(words[1]):
        return None
    field = dict(zip(PANE_FIELDS, words, strict=True))
    try:
        return PaneState(
            session=field["session_name"],
            pane_id=field["pane_id"],
            pid=int(field["pane_pid"]),
            activity=int(field["window_activity"]),
            dead=field["pane_dead"] == "1",
            exit_status=_number(field["pane_dead_status"]),
            exit_signal=_number(field["pane_dead_signal"]),
            columns=int(field["pane_width"]),
            rows=int(field["pane_height"]),
            logged=field["pane_pipe"] == "1",
            in_mode=field["pane_in_mode"] not in ("", "0"),
            viewers=int(field["session_attached"]),
            cursor=(int(field["cursor_x"]), int(field["cursor_y"])) if field["cursor_flag"] == "1" else None,
            title=field["pane_title"],
            mark=field[MARK],
        )
    except ValueError:
        return None


def _number(text: str) -> int | None:
    return int(text) if text else None
