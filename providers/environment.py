"""The environment an agent inherits.

An agent gets the operator's environment as it was when the executor started: PATH, HOME, the locale, SSH_AUTH_SOCK, the
keys of its provider, proxies, everything. Left out is what would be untrue in its own pane: variables of the terminal
and tmux that pam was started in, of a run or home of pam around it, and of the make or shell that started it. TERM is
for the pane's tmux to say. The result is written to the run's spec file (0600) and nowhere else.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping

_DROPPED_PREFIXES = ("TMUX", "PAM_", "KITTY_", "WEZTERM_", "ITERM_", "ALACRITTY_", "GHOSTTY_", "KONSOLE_", "TERM_")
_DROPPED = frozenset(
    {
        *("TERM", "TERMINFO", "COLUMNS", "LINES", "WINDOWID", "VTE_VERSION", "WT_SESSION", "LC_TERMINAL", "STY"),
        *("LC_TERMINAL_VERSION", "NVIM", "VIM", "VIMRUNTIME", "INSIDE_EMACS"),
        *("_", "PWD", "OLDPWD", "SHLVL"),
        *("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKE_TERMOUT", "MAKE_TERMERR"),
    }
)


def inherited(environ: Mapping[str, str]) -> dict[str, str]:
    """What an agent inherits of ``environ``; COLORTERM says what pam's panes can draw."""
    kept = {name: value for name, value in environ.items() if not _is_dropped(name)}
    return {**kept, "COLORTERM": "truecolor", **_utf8(environ)}


def _is_dropped(name: str) -> bool:
    return name in _DROPPED or name.startswith(_DROPPED_PREFIXES)


def _utf8(environ: Mapping[str, str]) -> dict[str, str]:
    """A UTF-8 character type where no locale was chosen, as under ``env -i`` or from a service manager (FR-15)."""
    chosen = next((environ[name] for name in ("LC_ALL", "LC_CTYPE", "LANG") if environ.get(name)), "C")
    if chosen not in ("C", "POSIX") or environ.get("LC_ALL"):
        return {}
    return {"LC_CTYPE": "UTF-8" if sys.platform == "darwin" else "C.UTF-8"}
