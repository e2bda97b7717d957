"""Reading a hook's payload without trusting it: the value that is expected, or nothing."""

from __future__ import annotations

from collections.abc import Mapping

LINE_MAX = 300


def text(payload: Mapping[str, object], *path: str) -> str | None:
    """The string at the path of keys, when it is one and not empty."""
    found = at(payload, *path)
    return found if isinstance(found, str) and found else None


def number(payload: Mapping[str, object], *path: str) -> int | None:
    """The whole number at the path of keys, not negative."""
    found = at(payload, *path)
    return found if isinstance(found, int) and not isinstance(found, bool) and found >= 0 else None


def at(payload: object, *path: str) -> object:
    """What stands at the path of keys, None where the path ends early."""
    for key in path:
        if not isinstance(payload, Mapping):
            return None
        payload = payload.get(key)
    return payload


def one_line(said: str | None) -> str:
    """Text in one line of at most ``LINE_MAX`` characters."""
    line = " ".join((said or "").split())
    return line if len(line) <= LINE_MAX else line[: LINE_MAX - 1] + "…"
