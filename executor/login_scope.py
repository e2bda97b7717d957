"""Whether logging out would end the tmux server and every agent with it (FR-36): what systemd's own files say.

A process belongs to the login it was started from, or to the user's manager, or to neither. Nothing is said where
systemd does not run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

_SESSION = re.compile(r"/session-([^/\n]+)\.scope")
_MANAGER = re.compile(r"/user@\d+\.service")
_SETTING = re.compile(r"^\s*(#?)\s*(KillUserProcesses|KillOnlyUsers|KillExcludeUsers)\s*=\s*(.*?)\s*$", re.MULTILINE)
_FOLDERS = ("etc/systemd", "run/systemd", "usr/local/lib/systemd", "usr/lib/systemd", "lib/systemd")
"""Where logind's settings are, the one that counts most first."""

FIX = (
    "`loginctl enable-linger`, and once no agent runs start pam outside of the login: "
    "`systemd-run --user --scope pam up --detach`"
)


@dataclass(frozen=True, slots=True)
class LoginScope:
    """What becomes of a process when its user logs out."""

    outcome: Literal["stays", "ends", "unknown"]
    why: str
    fix: str = ""


def login_scope(pid: int, user: str, *, root: Path = Path("/")) -> LoginScope:
    """What logging out does to this process of ``user``; ``root`` is where /proc, /etc and the like are."""
    try:
        place = (root / f"proc/{pid}/cgroup").read_text()
    except OSError:
        return LoginScope("unknown", "this system does not say")
    session = _SESSION.search(place)
    if session is not None:
        return _in_session(session[1], user, root)
    if _MANAGER.search(place) is None:
        return LoginScope("stays", "it belongs to no login")
    if (root / "var/lib/systemd/linger" / user).exists():
        return LoginScope("stays", "it belongs to your user manager, which lingers")
    return LoginScope(
        "ends", "it belongs to your user manager, which ends with your last login", "`loginctl enable-linger`"
    )


def _in_session(session: str, user: str, root: Path) -> LoginScope:
    said = _settings(root)
    kills = said.get("KillUserProcesses", "").lower()
    only, spared = said.get("KillOnlyUsers", "").split(), said.get("KillExcludeUsers", "root").split()
    if user in spared or (only and user not in only) or kills in ("no", "false", "off", "0"):
        return LoginScope("stays", f"it belongs to login {session}, whose processes are left alone")
    if kills in ("yes", "true", "on", "1"):
        return LoginScope("ends", f"it belongs to login {session}, and logging out ends it with every agent", FIX)
    return LoginScope("unknown", f"it belongs to login {session}; whether logging out ends it is not told", FIX)


def _settings(root: Path) -> dict[str, str]:
    """What logind goes by; a line that is commented out in its main file is how its maker has set it."""
    given: dict[str, str] = {}
    made: dict[str, str] = {}
    for text in _files(root):
        for comment, name, value in _SETTING.findall(text):
            (made if comment else given)[name] = value
    return {**made, **given}


def _files(root: Path) -> Iterator[str]:
    """Main file, then additions in the order of their names; of two with one name the first folder's counts."""
    mains = [path for path in (root / folder / "logind.conf" for folder in _FOLDERS) if path.is_file()]
    additions: dict[str, Path] = {}
    for folder in _FOLDERS:
        for path in (root / folder / "logind.conf.d").glob("*.conf"):
            additions.setdefault(path.name, path)
    for path in (*mains[:1], *(additions[name] for name in sorted(additions))):
        try:
            yield path.read_text(errors="replace")
        except OSError:
            continue
