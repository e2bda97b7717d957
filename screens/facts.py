"""The facts of an event in words; a fact that is missing, or of a shape nobody expected, is left out."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import timedelta

from screens import ages
from screens.confine import one_line

Facts = Mapping[str, object]
_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def word(facts: Facts, key: str, otherwise: str) -> str:
    """A fact, or another word in its place."""
    value = facts.get(key)
    return one_line(str(value)) if value else otherwise


def colon(facts: Facts, key: str) -> str:
    """``: the fact``."""
    value = facts.get(key)
    return f": {one_line(str(value))}" if value else ""


def number(facts: Facts, key: str, before: str, after: str = "") -> str:
    """A whole number between two words."""
    value = facts.get(key)
    return f"{before}{value}{after}" if isinstance(value, int) and not isinstance(value, bool) else ""


def lasted(facts: Facts, key: str, before: str, after: str = "") -> str:
    """Seconds as a span between two words."""
    value = facts.get(key)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < 1e9:
        return ""
    return f"{before}{ages.span(timedelta(seconds=value))}{after}"


def listed(facts: Facts, key: str) -> str:
    """The members of a list, by commas: ``title and labels``."""
    value = facts.get(key)
    words = [one_line(str(each)).replace("_", " ") for each in value] if isinstance(value, list) else []
    *most, last = words or [""]
    return f"{', '.join(most)} and {last}" if most else last


def counted(facts: Facts, key: str, noun: str) -> str:
    """``3 steps``; the length of a list, or a number as it is."""
    value = facts.get(key)
    count = len(value) if isinstance(value, list) else value
    if isinstance(count, bool) or not isinstance(count, int):
        return ""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def plain(facts: Facts) -> str:
    """All facts as they are, ids and lists shortened: ``attempt 1 · provider claude``."""
    return " · ".join(
        f"{one_line(str(key)).replace('_', ' ')} {_plain(value)}"
        for key, value in facts.items()
        if value not in (None, "", [], {})
    )


def _plain(value: object) -> str:
    if isinstance(value, Mapping):
        return f"({plain(value)})"
    if isinstance(value, list):
        return one_line(", ".join(map(str, value))) if len(value) <= 3 else f"{len(value)} of them"
    return one_line(value[:8] if isinstance(value, str) and _ID.fullmatch(value) else str(value))
