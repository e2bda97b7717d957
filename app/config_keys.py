"""The keys of config.toml as data: what each means, its default and its limits.

This table drives loading, checking, the scaffold, ``pam config`` and docs/configuration.md.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Literal, cast

from app.log_settings import FORMATS, LEVELS, LogSettings
from app.notice_settings import hours, ways
from executor.settings import SILENCE_ACTIONS, ExecutorSettings

Value = str | int | float | bool
KeyType = Literal["text", "count", "seconds", "flag", "path"]

_EXECUTOR_FIELDS = {field.name: field for field in fields(ExecutorSettings)}
_SOCKET = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}")
_PLAIN_URL = re.compile(r"[A-Za-z0-9:/.\[\]_~%+-]+")
DAY_S = 86_400.0
_LOG = LogSettings()


@dataclass(frozen=True, slots=True)
class Key:
    """One key of config.toml."""

    section: str
    name: str
    type: KeyType
    default: Value | None
    """None where nothing is set unless the operator says so."""
    meaning: str
    """One sentence, for the scaffold and the documentation."""
    low: float | None = None
    high: float | None = None
    env: str | None = None
    """Variable that counts when the file does not say."""
    secret: bool = False
    """Never shown and never logged."""
    wrong: Callable[[str], str | None] | None = None
    """Says why a text is refused, or None."""
    example: str = ""
    """What the scaffold shows where there is no default."""

    @property
    def dotted(self) -> str:
        """``section.name``, as ``pam config set`` takes it."""
        return f"{self.section}.{self.name}"


SECTIONS: Mapping[str, str] = {
    "tmux": "The tmux server that pam keeps for itself.",
    "executor": "What makes runs happen. All times are in seconds.",
    "retention": "What is kept, and for how long.",
    "log": "pam's own log, logs/pam.log in the home.",
    "work": "Work items.",
    "providers": "The agent CLIs.",
    "gateway": "One shared model gateway for every provider; off while there is no url.",
    "secrets": "Where keys come from that are not in the environment.",
    "ui": "The control room.",
    "notify": "Calling you when an agent begins to wait and you look elsewhere; at most once for each question.",
    "keys": 'Keys of the control room: action = "key", or "key,other".',
}
"""Tables of config.toml, in the order they are shown."""

FREE_SECTION = "keys"
"""The one table whose keys the control room names."""


def _socket(value: str) -> str | None:
    if value == "default":
        return "'default' is your own tmux server, which pam never touches; choose another name"
    if "/" in value:
        return "it is a name for `tmux -L`, so it holds no slash"
    return None if _SOCKET.fullmatch(value) else "use letters, digits, '-', '_' or '.'"


def _silence_action(value: str) -> str | None:
    return None if value in SILENCE_ACTIONS else f"it is {' or '.join(SILENCE_ACTIONS)}"


def _one_of(words: Sequence[str]) -> Callable[[str], str | None]:
    return lambda value: None if value.lower() in words else f"it is one of {', '.join(words)}"


def _url(value: str) -> str | None:
    if not re.match(r"https?://[^\s/]", value):
        return "it starts with http:// or https://"
    if "@" in value or "?" in value or "#" in value:
        return "it holds no user, password, ? or #; the key has its own setting"
    return None if _PLAIN_URL.fullmatch(value) else "it has a character that no URL has as it is"


def _key(value: str) -> str | None:
    if re.fullmatch(r"[!#-\[\]-~]+", value):
        return None
    return _filled(value) or "a key is one word without quotes and backslashes"


def _names(value: str) -> str | None:
    names = value.replace(",", " ").split()
    good = names and all(re.fullmatch(r"[a-z][a-z0-9_-]{0,31}", name) for name in names)
    return None if good else 'name providers, as in "claude, codex"'


def _refused(read: Callable[[str], object]) -> Callable[[str], str | None]:
    """The sentence with which a text is refused by who reads it later."""

    def wrong(value: str) -> str | None:
        try:
            read(value)
        except ValueError as error:
            return str(error)
        return _filled(value)

    return wrong


def _command(value: str) -> str | None:
    try:
        words = shlex.split(value)
    except ValueError as error:
        return f"it is no command line: {error}"
    if not words:
        return _filled(value)
    return None if any("{name}" in word for word in words) else "it says nowhere {name}, for the key's name"


def _filled(value: str) -> str | None:
    return None if value.strip() else "it is empty; leave the line out instead"


def _of_executor(section: str, name: str, type_: KeyType, meaning: str, low: float, high: float) -> Key:
    default = cast("int | float", _EXECUTOR_FIELDS[name].default)
    return Key(section, name, type_, default, meaning, low, high)


def _time(name: str, meaning: str, low: float, high: float) -> Key:
    return _of_executor("executor", name, "seconds", meaning, low, high)


KEYS: tuple[Key, ...] = (
    Key("tmux", "socket", "text", "pam", "Name for `tmux -L`; never your own server's.", wrong=_socket),
    Key("tmux", "bin", "text", "tmux", "The tmux program: a name on the PATH, or a path.", wrong=_filled),
    _of_executor("tmux", "columns", "count", "Width of an agent's pane, in columns.", 20, 1000),
    _of_executor("tmux", "rows", "count", "Height of an agent's pane, in rows.", 5, 500),
    _of_executor("tmux", "history_limit", "count", "Lines of scrollback tmux keeps per pane.", 0, 1_000_000),
    _time("dispatch_timeout_s", "How long a run may wait for a host before it fails.", 1, 7 * DAY_S),
    _time("spawn_timeout_s", "How long an agent may take to start before its run fails.", 1, 3600),
    _time("liveness_s", "How often panes are looked after.", 0.1, 3600),
    _time("reconcile_s", "How often runs and sessions are compared.", 1, DAY_S),
    _time("orphan_hold_s", "How long a session that no run explains is held before it is ended.", 0, 365 * DAY_S),
    _time("heartbeat_s", "How often a host says that it is there.", 1, 3600),
    _time("offline_after_s", "Silence that makes a host offline.", 3, DAY_S),
    _time("host_lost_s", "How long a host may be unseen before its runs count as lost.", 60, 365 * DAY_S),
    _of_executor("executor", "max_attempts", "count", "Attempts of a run, unless it or its provider says.", 1, 100),
    _time("restart_initial_s", "Pause before a failed run is restarted for the first time.", 0, DAY_S),
    _of_executor("executor", "restart_factor", "count", "How many times as long each further pause is.", 1, 10),
    _time("restart_max_s", "Longest pause before a restart.", 0, DAY_S),
    _time("idle_hint_s", "Silence after which an agent may be done; 0 for no hint.", 0, 7 * DAY_S),
    _time("silence_s", "Silence after which an agent may hang; 0 for no flag.", 0, 7 * DAY_S),
    Key("executor", "silence_action", "text", "none", "What is done about it: none, or stop.", wrong=_silence_action),
    _of_executor("executor", "log_max_bytes", "count", "A raw log beyond this is rotated.", 4096, 1 << 40),
    _time("log_check_s", "How often it is seen that every raw log has a writer.", 0.1, 3600),
    _of_executor("executor", "spool_max_bytes", "count", "Signals beyond this go to a new spool file.", 4096, 1 << 34),
    _time("grace_s", "Time between TERM and KILL when a run is stopped.", 0, 600),
    _time("hold_open_s", "How long a pane stays after its agent ended.", 0, DAY_S),
    Key("retention", "events_days", "count", 30, "Days the journal keeps its events.", 1, 36_500),
    Key(
        "log",
        "level",
        "text",
        _LOG.level,
        f"How much is told: {', '.join(LEVELS)}.",
        env="PAM_LOG",
        wrong=_one_of(LEVELS),
    ),
    Key(
        "log",
        "format",
        "text",
        _LOG.format,
        "Lines for people (text), or one JSON object a line (json).",
        env="PAM_LOG_FORMAT",
        wrong=_one_of(FORMATS),
    ),
    Key("log", "max_bytes", "count", _LOG.max_bytes, "A log beyond this is set aside.", 10_000, 1 << 30),
    Key("log", "backups", "count", _LOG.backups, "How many logs that were set aside are kept.", 0, 100),
    Key("work", "auto_mark_done", "flag", False, "Whether a provider's `completed` sets the work item to done."),
    Key(
        "providers",
        "catalog_path",
        "path",
        None,
        "Your entries of the catalog; providers.toml in the home unless set.",
        wrong=_filled,
        example="/path/to/providers.toml",
    ),
    Key("providers", "hooks", "flag", False, "Whether agents are given hooks whose recipe is not proven yet."),
    Key(
        "providers",
        "first_run_answers",
        "flag",
        True,
        "Whether pam answers, in a CLI's own file, what it asks in a directory for the first time.",
    ),
    Key("providers", "default", "text", None, "The provider offered first.", wrong=_filled, example="claude"),
    Key(
        "gateway",
        "url",
        "text",
        None,
        "Base URL of the gateway.",
        env="PAM_GATEWAY_URL",
        wrong=_url,
        example="https://gateway.example",
    ),
    Key(
        "gateway",
        "api_key",
        "text",
        None,
        "Its key; agents get it by environment. Better kept in the variable than in this file.",
        env="PAM_GATEWAY_API_KEY",
        secret=True,
        wrong=_key,
        example="...",
    ),
    Key(
        "gateway",
        "providers",
        "text",
        None,
        "Providers that go through it; every provider that can unless set.",
        wrong=_names,
        example="claude, codex",
    ),
    Key(
        "secrets",
        "command",
        "text",
        None,
        "Prints the key that {name} names, when an agent starts and the environment has none of its provider's.",
        wrong=_command,
        example="secret-tool lookup service pam name {name}",
    ),
    Key("ui", "theme", "text", "pam-dark", "pam-dark, pam-light, pam-contrast, or a theme of Textual.", wrong=_filled),
    Key(
        "notify",
        "via",
        "text",
        None,
        "How: any of bell, osc9, osc777 and notify-send; not at all unless set.",
        wrong=_refused(ways),
        example="osc9, bell",
    ),
    Key(
        "notify",
        "quiet_hours",
        "text",
        None,
        "From when to when nobody is called, in local time.",
        wrong=_refused(hours),
        example="22:00-07:00",
    ),
    Key("notify", "on_end", "flag", False, "Whether you are called when a run ends, too."),
)
"""Every key, in the order it is shown."""

BY_NAME: Mapping[str, Key] = {key.dotted: key for key in KEYS}
