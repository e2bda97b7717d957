"""The journal comes in bursts; a screen hears of each once, at most once a frame, and never while it still reads."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Final

from store.records import Event

FRAME: Final = 1 / 30
"""Seconds between two deliveries."""


class Bursts:
    """Collects events and hands them on together."""

    def __init__(self, deliver: Callable[[Sequence[Event]], Awaitable[None]]) -> None:
        self._deliver = deliver
        self._held: list[Event] = []
        self._arrived = asyncio.Event()

    def add(self, events: Iterable[Event]) -> None:
        """Take events; returns at once."""
        self._held.extend(events)
        if self._held:
            self._arrived.set()

    async def run(self) -> None:
        """Deliver until cancelled; whoever starts this owns it."""
        while True:
            await self._arrived.wait()
            await asyncio.sleep(FRAME)
            events, self._held = self._held, []
            self._arrived.clear()
            await self._deliver(events)


def touched(events: Iterable[Event]) -> frozenset[str]:
    """Every id that the events name, of whatever it is: values of ``…_id`` and members of ``ids``."""
    found: set[str] = set()
    for event in events:
        for key, value in event.payload.items():
            if isinstance(value, str) and key.endswith("_id"):
                found.add(value)
            elif isinstance(value, list) and key == "ids":
                found.update(member for member in value if isinstance(member, str))
    return frozenset(found)
