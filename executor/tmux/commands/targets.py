"""Whom a command is for: always by an exact name or id, and only sessions of ours."""

from __future__ import annotations

import re
from typing import NewType

from store.errors import InvalidValue

HUB = "pam-hub"
"""The session control clients attach to; it keeps the server alive and holds no agent."""

SESSION_NAME = re.compile(r"pam-[0-9a-f]{8}")
PANE_ID = re.compile(r"%[0-9]{1,10}")

SessionTarget = NewType("SessionTarget", str)
PaneTarget = NewType("PaneTarget", str)

HUB_PANE = PaneTarget("=" + HUB + ":")


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
