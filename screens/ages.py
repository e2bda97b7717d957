"""Times as an operator says them: how long ago, how long it took, when."""

from __future__ import annotations

from datetime import datetime, timedelta

MINUTE, HOUR, DAY, WEEK = 60, 3600, 86_400, 604_800


def age(then: datetime, now: datetime) -> str:
    """How long ago, in one unit: ``now`` within the first minute, then ``12m``, ``3h``, ``2d``, ``5w``.

    A clock that runs ahead on another machine counts as ``now``, never as a negative age.
    """
    seconds = int((now - then).total_seconds())
    if seconds < MINUTE:
        return "now"
    for unit, size in (("w", WEEK), ("d", DAY), ("h", HOUR)):
        if seconds >= size * (2 if unit == "w" else 1):
            return f"{seconds // size}{unit}"
    return f"{seconds // MINUTE}m"


def ago(then: datetime, now: datetime) -> str:
    """``age`` as a phrase: ``just now`` or ``12m ago``."""
    short = age(then, now)
    return "just now" if short == "now" else f"{short} ago"


def span(length: timedelta) -> str:
    """A duration in its two largest units: ``41s``, ``4m 07s``, ``2h 05m``, ``3d 4h``."""
    seconds = max(int(length.total_seconds()), 0)
    if seconds < MINUTE:
        return f"{seconds}s"
    if seconds < HOUR:
        return f"{seconds // MINUTE}m {seconds % MINUTE:02}s"
    if seconds < DAY:
        return f"{seconds // HOUR}h {seconds % HOUR // MINUTE:02}m"
    return f"{seconds // DAY}d {seconds % DAY // HOUR}h"


def moment(then: datetime, now: datetime, *, seconds: bool = False) -> str:
    """A point in time in the zone of ``now``: ``12:04`` today, ``3 Nov 12:04`` this year, ``3 Nov 2025`` before.

    ``seconds`` tell apart what happened within a minute: ``12:04:09``.
    """
    local = then.astimezone(now.tzinfo)
    clock = f"{local:%H:%M:%S}" if seconds else f"{local:%H:%M}"
    if local.date() == now.date():
        return clock
    if local.year == now.year:
        return f"{local.day} {local:%b} {clock}"
    return f"{local.day} {local:%b %Y}"
