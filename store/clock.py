"""Time as pam keeps it: timezone-aware UTC, written with microseconds and ``Z`` so that text sorts as time does."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

Clock = Callable[[], datetime]
"""Returns the present as an aware UTC datetime; tests pass their own."""


def utc_now() -> datetime:
    """The system clock."""
    return datetime.now(UTC)


def to_text(moment: datetime) -> str:
    """``2026-11-30T08:59:21.123456Z``; fixed width. Raises ValueError for a naive datetime."""
    if moment.tzinfo is None:
        raise ValueError("a time without a timezone cannot be stored")
    return moment.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def from_text(text: str) -> datetime:
    """The inverse of ``to_text``; any ISO 8601 time with an offset is accepted."""
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError(f"{text!r} has no timezone")
    return moment if moment.tzinfo is UTC else moment.astimezone(UTC)
