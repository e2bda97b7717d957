"""What the operator may say about notices outside of the control room, apart from what sends them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import time
from typing import Literal, cast

Way = Literal["bell", "osc9", "osc777", "notify-send"]

WAYS: tuple[Way, ...] = ("bell", "osc9", "osc777", "notify-send")


@dataclass(frozen=True, slots=True)
class NoticeSettings:
    """``[notify]`` of config.toml."""

    via: tuple[Way, ...] = ()
    """How one is told; not at all unless one of them is named."""
    quiet: tuple[time, time] | None = None
    """From when to when nobody is told, in local time; it may go past midnight."""
    on_end: bool = False
    """Whether the end of a run is told, too."""

    def hushed(self, now: time) -> bool:
        """Whether it is quiet at this time of day."""
        if self.quiet is None:
            return False
        begin, end = self.quiet
        return begin <= now < end if begin <= end else now >= begin or now < end


def ways(words: str) -> tuple[Way, ...]:
    """``"bell, osc9"``, in that order. Raises ValueError that says what is wrong with them."""
    named = words.replace(",", " ").split()
    for name in named:
        if name not in WAYS:
            raise ValueError(f"'{name}' is no way to notify; there are {', '.join(WAYS)}")
    return tuple(dict.fromkeys(cast("list[Way]", named)))


def hours(words: str) -> tuple[time, time]:
    """``"22:00-07:00"``. Raises ValueError that says what is wrong with it."""
    begin, dash, end = words.partition("-")
    try:
        if not dash:
            raise ValueError
        return time.fromisoformat(begin.strip()), time.fromisoformat(end.strip())
    except ValueError:
        raise ValueError('write it as "22:00-07:00"') from None
