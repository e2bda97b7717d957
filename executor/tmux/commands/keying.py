"""What is typed into a run's pane: keys and short text from an allow-list, prompts as one paste."""

from __future__ import annotations

import re
from collections.abc import Sequence

from executor.tmux.commands.targets import PaneTarget, pane_target
from executor.tmux.commands.words import Command
from store.errors import InvalidValue

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
