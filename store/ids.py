"""Ids: UUID4 strings, their 8-digit short form, and how a prefix finds its row."""

from __future__ import annotations

import re
from collections.abc import Callable

from peewee import TextField

from store.errors import Ambiguous, InvalidValue, NotFound
from store.models import Row

SHORTEST_PREFIX = 4
_HEX = re.compile(r"[0-9a-f-]+")


def short(id_: str) -> str:
    """First 8 hex digits (PAM-PATH-002)."""
    return id_[:8]


def draw(new_id: Callable[[], str], column: TextField) -> str:
    """A new id whose first 8 digits are not taken in ``column``'s table: session names and paths are made of them."""
    model = column.model
    while True:
        candidate = new_id()
        prefix = short(candidate)
        if not model.select().where(column.between(prefix, prefix + "~")).exists():
            return candidate


def resolve(model: type[Row], noun: str, text: str) -> str:
    """The full id that ``text`` (an id or a prefix of 4 or more digits) names.

    Raises NotFound, Ambiguous, or InvalidValue for something that cannot be an id.
    """
    wanted = text.strip().lower()
    if not _HEX.fullmatch(wanted):
        raise NotFound(f"There is no {noun} {text!r}. Ids are hexadecimal; list them to see which exist.", id=text)
    if len(wanted.replace("-", "")) < SHORTEST_PREFIX:
        raise InvalidValue(
            f"{text!r} is too short: give at least {SHORTEST_PREFIX} digits of the {noun}'s id.", id=text
        )
    column = model.id  # type: ignore[attr-defined]
    wanted = _dashed(wanted)
    found = model.select(column).where(column.between(wanted, wanted + "~")).limit(10)
    matches = [str(row.id) for row in found]  # type: ignore[attr-defined]
    if not matches:
        raise NotFound(f"There is no {noun} {text!r}.", id=text)
    if len(matches) > 1:
        raise Ambiguous(
            f"{text!r} names {len(matches)} {noun}s: {', '.join(matches)}. Give more digits.", id=text, matches=matches
        )
    return matches[0]


def _dashed(digits: str) -> str:
    """Put the dashes of a UUID where a prefix written without them lacks them."""
    plain = digits.replace("-", "")
    parts = [plain[:8], plain[8:12], plain[12:16], plain[16:20], plain[20:]]
    return "-".join(part for part in parts if part)
