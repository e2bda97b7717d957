"""Who made a pane and for which attempt of a run: the mark a pane bears from the command that made it.

The home stands for the pam that made it: two homes may share a tmux server, and neither touches the other's sessions.
"""

from __future__ import annotations

from dataclasses import dataclass

HOME_DIGITS = 8
_SEPARATOR = ":"


@dataclass(frozen=True, slots=True)
class Epoch:
    """One incarnation; the run is the one the session is named after."""

    home: str
    attempt: int


def home_of(instance_id: str) -> str:
    """The short name of a home, from the id its host gives (PAM-HOST-008)."""
    return instance_id.replace("-", "")[:HOME_DIGITS]


def mark(home: str, attempt: int) -> str:
    """What the pane of an attempt is marked with."""
    return f"{home}{_SEPARATOR}{attempt}"


def epoch_of(mark: str) -> Epoch | None:
    """Whose pane it is; None for one that no pam made."""
    home, separator, attempt = mark.partition(_SEPARATOR)
    return Epoch(home, int(attempt)) if separator and attempt.isdecimal() else None
