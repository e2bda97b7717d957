"""Builds every tmux command pam ever sends, for a control client's line or for a process's argv.

Nothing else in pam spells a tmux command. Here session names are checked (``pam-`` and 8 hex digits), targets are
exact (``=name``, ``=name:``, ``%id``), and text is quoted so that tmux neither parses nor expands it.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NewType

from executor.settings import ExecutorSettings
from executor.tmux.version import TmuxVersion
from store.errors import InvalidValue

HUB = "pam-hub"
"""The session control clients attach to; it keeps the server alive and holds no agent."""

SESSION_NAME = re.compile(r"pam-[0-9a-f]{8}")
_SOCKET_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}")
WAY_OUT = "ctrl+] leaves; the agent goes on"
HINT_MS = "4000"
PANE_ID = re.compile(r"%[0-9]{1,10}")
_BARE_WORD = re.compile(r"-?[A-Za-z0-9][A-Za-z0-9-]*")

SessionTarget = NewType("SessionTarget", str)
PaneTarget = NewType("PaneTarget", str)


@dataclass(frozen=True, slots=True)
class Command:
    """One or more tmux commands that run as one; each gives one reply, and the first failure stops the rest."""

    parts: tuple[tuple[str, ...], ...]

    @property
    def line(self) -> str:
        """As a control client's input, without the newline."""
        return " ; ".join(" ".join(_word(word) for word in part) for part in self.parts)

    @property
    def argv(self) -> list[str]:
        """As arguments of a tmux process, behind its global flags."""
        words: list[str] = []
        for part in self.parts:
            words += [";"] if words else []
            words += [_argument(word) for word in part]
        return words

    def then(self, other: Command) -> Command:
        """This command, and if it succeeds the other."""
        return Command(self.parts + other.parts)


def command(*words: str) -> Command:
    """A single tmux command."""
    return Command((words,))


def dq(text: str) -> str:
    """``text`` as one double-quoted tmux word, byte for byte. Raises InvalidValue on NUL, which tmux cannot hold."""
    if "\0" in text:
        raise InvalidValue("tmux cannot take text that holds a NUL byte; remove it.")
    return '"' + "".join(_QUOTED.get(char, char) for char in text) + '"'


_QUOTED = {chr(code): f"\\{code:03o}" for code in (*range(1, 32), 127)} | {char: "\\" + char for char in '"\\$'}
# Behind an opening quote tmux expands a tilde to the home directory.
_QUOTED["~"] = "\\176"


def _word(word: str) -> str:
    return word if _BARE_WORD.fullmatch(word) else dq(word)


def _argument(word: str) -> str:
    # A trailing semicolon of an argument separates commands unless it is escaped.
    return word[:-1] + "\\;" if word.endswith(";") else word


_LOG_BLOCK = 64 * 1024
"""The most that is taken from a pane's pipe at once."""


def literal(text: str) -> str:
    """``text`` where tmux expands formats: names, directories."""
    return text.replace("#", "##")


def literal_time(text: str) -> str:
    """``text`` where tmux expands formats and strftime: a pipe's shell command."""
    return literal(text.replace("%", "%%"))


# -- who is addressed ---------------------------------------------------------------------------------------------


def checked_session(name: str) -> str:
    """``name`` if it is a session of ours (PAM-TMUX-002, 003); raises InvalidValue otherwise."""
    if not SESSION_NAME.fullmatch(name):
        raise InvalidValue(f"{name!r} is not a session of pam: expected pam- and 8 hexadecimal digits.", name=name)
    return name


def checked_pane(pane: str) -> str:
    """``pane`` if it is a pane's id; raises InvalidValue otherwise."""
    if not PANE_ID.fullmatch(pane):
        raise InvalidValue(f"{pane!r} is not the id of a pane: expected % and a number.", pane=pane)
    return pane


def session_target(name: str) -> SessionTarget:
    """The session with exactly this name; tmux alone would match by prefix and glob (PAM-TMUX-022)."""
    return SessionTarget("=" + checked_session(name))


def pane_target(where: str) -> PaneTarget:
    """The pane ``%id``, or the one pane of exactly the named session."""
    if PANE_ID.fullmatch(where):
        return PaneTarget(where)
    return PaneTarget("=" + checked_session(where) + ":")


_HUB_PANE = PaneTarget("=" + HUB + ":")


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


# -- server and hub -----------------------------------------------------------------------------------------------

IDENTITY_FORMAT = "#{pid}:#{start_time}:#{version}"


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


def attach_control() -> Command:
    """Makes a control client of the process: attached to the hub, of no influence on window sizes."""
    return command("attach-session", "-t", _HUB_PANE, "-f", "ignore-size")


def attach_terminal(session: str, *, read_only: bool) -> Command:
    """Gives the terminal to the agent's pane, and says for a moment how to leave; a reader has no input."""
    flags = ("-r", "-f", "ignore-size") if read_only else ()
    return command("attach-session", "-t", pane_target(session), *flags).then(hint(session))


def hint(session: str) -> Command:
    """Says for a moment how to leave: nothing else on the screen names the key, and no other key leaves."""
    return command("display-message", "-t", pane_target(session), "-d", HINT_MS, WAY_OUT)


def leave_by(keys: Sequence[str]) -> Command:
    """Makes these keys let go of the client they are pressed in, such as ``ctrl+]`` and ``f12``."""
    return Command(tuple(("bind-key", "-T", "root", _tmux_key(key.strip()), "detach-client") for key in keys))


_TMUX_MODIFIERS = {"ctrl": "C", "alt": "M", "meta": "M", "shift": "S"}
_TMUX_KEYS = {"right_square_bracket": "]", "left_square_bracket": "[", "backslash": "\\", "space": "Space",
              "circumflex_accent": "^", "underscore": "_", "escape": "Escape", "enter": "Enter", "tab": "Tab",
              "pageup": "PageUp", "pagedown": "PageDown"}  # fmt: skip


def _tmux_key(name: str) -> str:
    """The key in tmux's words."""
    *modifiers, key = name.split("+") if name != "+" else ["+"]
    plain = _TMUX_KEYS.get(key) or (key.capitalize() if len(key) > 1 else key)
    return "-".join([*(_TMUX_MODIFIERS.get(modifier, modifier) for modifier in modifiers), plain])


def attach_reader(session: str) -> Command:
    """Shows the agent's pane, with no input and no say in its size."""
    return command("attach-session", "-t", pane_target(session), "-r", "-f", "ignore-size")


FEATURES = "256,RGB,usstyle,extkeys,clipboard,cstyle,focus,mouse,overline,strikethrough,title,sync,hyperlinks"
"""What our own terminal can do, for ``tmux -T``; at a name it does not know tmux stops reading, so new ones last."""


def attach_writer(session: str) -> Command:
    """Gives the terminal to the agent's pane, which follows its size until it leaves, however it leaves.

    The server itself gives the size back: a hook acts on the end of this very client, also when pam was killed.
    """
    target = pane_target(session)
    kept = (("@pam-columns", "#{window_width}"), ("@pam-rows", "#{window_height}"))
    give_back = command("run-shell", "-C", f"resize-window -t {target} -x #{{@pam-columns}} -y #{{@pam-rows}}")
    for name, _ in kept:
        give_back = give_back.then(command("set-option", "-qu", "-t", target, name))
    mine = command("if-shell", "-F", "#{==:#{hook_client},#{@pam-writer}}", give_back.line)
    return Command(
        (
            ("attach-session", "-t", target),
            *(("set-option", "-Foq", "-t", target, name, value) for name, value in kept),
            ("set-option", "-F", "-t", target, "@pam-writer", "#{client_tty}"),
            ("set-hook", "-t", target, "client-detached", mine.line),
            ("set-option", "-w", "-t", target, "window-size", "latest"),
        )
    )


def server_identity() -> Command:
    """Prints which server this is, whatever sessions it has."""
    return command("display-message", "-p", "-t", _HUB_PANE, IDENTITY_FORMAT)


def end_server() -> Command:
    """Ends the server of our socket and every session on it (PAM-TMUX-007)."""
    return command("kill-server")


def nudge() -> Command:
    """Lets the server collect a child whose SIGCHLD it lost: any new child of it does."""
    return command("run-shell", "-b", "-t", _HUB_PANE, ":")


# -- runs ---------------------------------------------------------------------------------------------------------


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
    writer = f"dd bs={block} count={max(1, max_bytes // (2 * block))}"
    over = "case $did in 0+0*) exit;; esac"
    rotate = f'[ "$(wc -c < {log})" -lt {max_bytes} ] || mv -f {log} {older}'
    shell = f"umask 077; {said}while did=$({writer} 2>&1 >> {log}); do {over}; {rotate}; done"
    return command("pipe-pane", "-t", pane_target(where), literal_time(shell))


def kill_session(session: str, pane: str | None = None) -> Command:
    """Ends the session and what runs in it; with ``pane`` only while that pane is in it."""
    if pane is None:
        return command("kill-session", "-t", session_target(session))
    return command("kill-session", "-t", f"{session_target(session)}:.{checked_pane(pane)}")


# -- looking ------------------------------------------------------------------------------------------------------

MARK = "@pam"
"""The option of a pane that says who made it and for which attempt."""

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
    return command("display-message", "-p", "-t", _HUB_PANE, IDENTITY_FORMAT + " %s").then(
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


# -- typing -------------------------------------------------------------------------------------------------------

_ALIKE = ("C-c", "C-d", "Enter", "Escape", "Tab", "Space", "Up", "Down", "Left", "Right", "Home", "End")
_UNLIKE = {"Backspace": "BSpace", "Delete": "DC", "BackTab": "BTab", "PageUp": "PPage", "PageDown": "NPage"}
NAMED_KEYS = {key: key for key in _ALIKE} | _UNLIKE
"""Keys pam itself may press, and what tmux calls them: PAM-TMUX-010, and what the dialogs of agents are moved with."""
_FORBIDDEN = frozenset("|&;$`")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def send_keys(where: str, keys: Sequence[str]) -> Command:
    """Presses named keys or types short text, both from the allow-list only (PAM-TMUX-010, 011).

    Raises InvalidValue on anything else. A scrolled pane is brought back first, it would swallow the keys.
    """
    pane = pane_target(where)
    typed = tuple(_key(pane, key) for key in keys)
    return Command((("copy-mode", "-q", "-t", pane), *typed))


def check_keys(keys: Sequence[str]) -> None:
    """Raise InvalidValue for the first that is neither the name of a key that may be pressed nor one character."""
    for key in keys:
        if key not in NAMED_KEYS and len(key) != 1:
            raise InvalidValue(
                f"{key!r} is no key that may be pressed: there are {', '.join(NAMED_KEYS)}, and single characters. "
                "Text is typed with --text, a prompt with `pam run send`.",
                key=key,
            )
        send_keys("%0", [key])


def check_typed(text: str) -> None:
    """Raise InvalidValue for text that may not be typed letter by letter."""
    send_keys("%0", [text])


def _key(pane: PaneTarget, key: str) -> tuple[str, ...]:
    if key in NAMED_KEYS:
        return ("send-keys", "-t", pane, NAMED_KEYS[key])
    if not key or _FORBIDDEN.intersection(key) or not all(" " <= char <= "~" for char in key):
        allowed = ", ".join(NAMED_KEYS)
        raise InvalidValue(
            f"{key!r} may not be typed into a run: allowed are {allowed} and printable ASCII without | & ; $ `.",
            key=key,
        )
    return ("send-keys", "-t", pane, "-l", "--", key)


def paste(where: str, text: str, *, buffer: str) -> Command:
    """Pastes a prompt as one bracketed paste, without pressing Enter.

    Control characters but tab and newline are dropped: an ``ESC[201~`` in a prompt would end the paste and turn the
    rest into keystrokes.
    """
    pane = pane_target(where)
    clean = _CONTROL.sub("", text.replace("\r\n", "\n"))
    return Command(
        (
            ("copy-mode", "-q", "-t", pane),
            ("set-buffer", "-b", buffer, "--", clean),
            ("paste-buffer", "-d", "-p", "-r", "-b", buffer, "-t", pane),
        )
    )
