"""What is read of panes: which there are, and what is on their screens."""

from __future__ import annotations

from executor.tmux.commands.serving import IDENTITY_FORMAT
from executor.tmux.commands.sessions import MARK
from executor.tmux.commands.targets import HUB_PANE, pane_target
from executor.tmux.commands.words import Command, command
from executor.tmux.version import TmuxVersion

PANE_FIELDS = (
    "session_name",
    "pane_id",
    "pane_pid",
    "window_activity",
    "pane_dead",
    "pane_dead_status",
    "pane_dead_signal",
    "pane_width",
    "pane_height",
    "pane_pipe",
    "pane_in_mode",
    "session_attached",
    "cursor_x",
    "cursor_y",
    "cursor_flag",
    MARK,
    "pane_title",
)
# Not pane_current_command: it makes the server read /proc for every pane, twice the cost of all the rest.
_PANE_FORMAT = "\t".join(f"#{{{name}}}" for name in PANE_FIELDS)


def list_panes() -> Command:
    """Prints the server's clock, then a row per pane of every session: first reply, second reply.

    The clock is read first, so that output between it and a later capture counts as after the capture.
    """
    return command("display-message", "-p", "-t", HUB_PANE, IDENTITY_FORMAT + " %s").then(
        command("list-panes", "-a", "-F", _PANE_FORMAT)
    )


def capture(where: str, version: TmuxVersion, *, buffer: str, history: int | None = 0) -> Command:
    """Prints the pane's screen with its styles, in the reply ``captured`` finds.

    ``history`` adds that many lines of scrollback above the screen, None all there is. ``buffer`` is a name no other
    client uses: before 3.6 a control client's own ``capture-pane -p`` leaks the screen in the server, for ever.
    """
    start = {0: (), None: ("-S", "-")}.get(history, ("-S", f"-{history}"))
    words = ("-e", "-N", *start, "-t", pane_target(where))
    if version >= TmuxVersion(3, 6):
        return command("capture-pane", "-p", *words)
    return Command(
        (
            ("capture-pane", "-b", buffer, *words),
            ("show-buffer", "-b", buffer),
            ("delete-buffer", "-b", buffer),
        )
    )


def look_back(where: str, lines: int) -> Command:
    """Prints the pane's screen with its styles, ``lines`` of scrollback above it; not for a control client."""
    return command("capture-pane", "-p", "-e", "-N", "-S", f"-{lines}", "-t", pane_target(where))
