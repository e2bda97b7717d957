"""A run's session: made with its log from the first byte, and ended."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence

from executor.tmux.commands.targets import checked_pane, checked_session, pane_target, session_target
from executor.tmux.commands.words import Command, command, literal, literal_time

MARK = "@pam"
"""The option of a pane that says who made it and for which attempt."""

_LOG_BLOCK = 64 * 1024
"""The most that is taken from a pane's pipe at once."""


def new_session(
    session: str,
    argv: Sequence[str],
    *,
    cwd: str,
    env: Mapping[str, str],
    log_path: str,
    log_max_bytes: int,
    title: str,
    size: tuple[int, int],
    mark: str = "",
) -> Command:
    """A session that runs ``argv`` (no shell in between), its raw output logged from the first byte.

    The first reply is the pane's id. The pane keeps its ``size`` (columns, rows) whoever attaches, and its ``mark``
    until it is gone; a pane that somebody else makes, in the same session or not, has none.
    """
    named = ("-s", checked_session(session), "-n", literal(title), "-c", literal(cwd))
    words = [word for name, value in env.items() for word in ("-e", f"{name}={value}")] + ["--", *argv]
    columns, rows = size
    return Command(
        (
            ("new-session", "-d", "-P", "-F", "#{pane_id}", *named, "-x", str(columns), "-y", str(rows), *words),
            ("set-option", "-p", "-t", pane_target(session), MARK, mark),
            *pipe_to(session, log_path, log_max_bytes).parts,
            # Globally this option crashes tmux 3.3 to 3.6 on the next new-session.
            ("set-option", "-w", "-t", pane_target(session), "window-size", "manual"),
        )
    )


def pipe_to(where: str, log_path: str, max_bytes: int, *, note: str = "") -> Command:
    """Appends what the pane writes from now on to ``log_path``, in place of an earlier pipe; ``note`` comes first.

    A log of ``max_bytes`` goes to ``<log_path>.1``, by its writer: a pipe that tmux opens anew loses what tmux had for
    the old one. ``dd`` never takes more from the pipe than it writes, and each goes on where the one before it ended.
    """
    log, older = shlex.quote(log_path), shlex.quote(f"{log_path}.1")
    said = f"printf '\\r\\n%s\\r\\n' {shlex.quote(note)} >> {log}; " if note else ""
    block = min(_LOG_BLOCK, max_bytes)
    count = max(1, max_bytes // (2 * block))
    writer = f"LC_ALL=C dd bs={block} count={count}"
    # It says how many blocks it read, whole and cut ones, perhaps after a warning: "3+1 records in". Fewer than it may
    # read means the end.
    read = "read=${did%% records in*}; read=${read##*[!0-9+]}"
    over = f"[ $(({'${read%%+*} + ${read#*+}'})) -lt {count} ] && exit"
    rotate = f'[ "$(wc -c < {log})" -lt {max_bytes} ] || mv -f {log} {older}'
    shell = f"umask 077; {said}while did=$({writer} 2>&1 >> {log}); do {read}; {over}; {rotate}; done"
    return command("pipe-pane", "-t", pane_target(where), literal_time(shell))


def kill_session(session: str, pane: str | None = None) -> Command:
    """Ends the session and what runs in it; with ``pane`` only while that pane is in it."""
    if pane is None:
        return command("kill-session", "-t", session_target(session))
    return command("kill-session", "-t", f"{session_target(session)}:.{checked_pane(pane)}")
