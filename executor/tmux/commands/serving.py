"""The server of our socket and its hub: begun, set up, asked who it is, ended."""

from __future__ import annotations

import re

from executor.settings import ExecutorSettings
from executor.tmux.commands.targets import HUB, HUB_PANE
from executor.tmux.commands.words import Command, command
from executor.tmux.version import TmuxVersion
from store.errors import InvalidValue

IDENTITY_FORMAT = "#{pid}:#{start_time}:#{version}"
_SOCKET_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}")


def server_flags(settings: ExecutorSettings, *, start: bool = False) -> list[str]:
    """Program and global flags of every tmux process: our socket, UTF-8, never the operator's configuration.

    Only with ``start`` may the process bring up a server.
    """
    name = settings.tmux_socket
    if name == "default" or not _SOCKET_NAME.fullmatch(name):
        raise InvalidValue(
            f"[tmux] socket = {name!r} cannot be used: take letters, digits, '-', '_' or '.', and not 'default', "
            "which is your own tmux server.",
            socket=name,
        )
    return [settings.tmux_bin, "-u", "-L", name, *(["-f", "/dev/null"] if start else ["-N"])]


def start_hub() -> Command:
    """Starts the server with the bare hub session, and prints the server's identity.

    Short and free of secrets on purpose: the first command stays in the process list as the server's title.
    """
    return command("new-session", "-d", "-P", "-F", IDENTITY_FORMAT, "-s", HUB, "-x", "80", "-y", "24", "--", "cat")


def server_options(settings: ExecutorSettings, version: TmuxVersion, *, terminal: str) -> Command:
    """What our server does differently from tmux's defaults; running it again changes nothing."""
    options = [
        ("-s", "exit-empty", "off"),
        ("-s", "default-terminal", terminal),
        ("-s", "escape-time", "10"),
        # A detach key right behind a burst of typing must not be taken for a part of a paste.
        ("-g", "assume-paste-time", "0"),
        ("-s", "extended-keys", "on"),
        ("-s", "focus-events", "on"),
        ("-g", "update-environment", ""),
        ("-g", "history-limit", str(settings.history_limit)),
        ("-g", "prefix", "None"),
        ("-g", "prefix2", "None"),
        ("-g", "status", "off"),
        ("-g", "detach-on-destroy", "on"),
        ("-wg", "automatic-rename", "off"),
        ("-wg", "allow-rename", "off"),
        ("-wg", "remain-on-exit", "on"),
    ]
    if version >= TmuxVersion(3, 3):
        # "Pane is dead" would scroll the agent's last screen.
        options.append(("-wg", "remain-on-exit-format", ""))
    parts = tuple(("set-option", *option) for option in options)
    # With no prefix this key is the only way out of an attached client; it acts on the client that pressed it (FR-50).
    return Command((*parts, ("bind-key", "-T", "root", "C-]", "detach-client")))


def server_identity() -> Command:
    """Prints which server this is, whatever sessions it has."""
    return command("display-message", "-p", "-t", HUB_PANE, IDENTITY_FORMAT)


def end_server() -> Command:
    """Ends the server of our socket and every session on it (PAM-TMUX-007)."""
    return command("kill-server")


def nudge() -> Command:
    """Lets the server collect a child whose SIGCHLD it lost: any new child of it does."""
    return command("run-shell", "-b", "-t", HUB_PANE, ":")
