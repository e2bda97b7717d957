"""Bursts of events are handed on together, one delivery at a time (design §3)."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from screens.bursts import Bursts
from store.records import Event
from tests.screens.fake_model import NOW


def events(first: int, last: int) -> list[Event]:
    return [Event(seq, "run.created", "operator", {}, NOW) for seq in range(first, last + 1)]


async def test_a_burst_is_one_delivery_and_nothing_is_lost_while_one_is_read() -> None:
    delivered: list[list[int]] = []
    reading, go_on, second = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def deliver(batch: Sequence[Event]) -> None:
        delivered.append([event.seq for event in batch])
        reading.set()
        if len(delivered) == 2:
            second.set()
        await go_on.wait()

    bursts = Bursts(deliver)
    owner = asyncio.create_task(bursts.run())
    for seq in range(1, 101):
        bursts.add(events(seq, seq))
    await asyncio.wait_for(reading.wait(), 5)
    for seq in range(101, 151):
        bursts.add(events(seq, seq))
    assert delivered == [list(range(1, 101))], "the second burst waits for the first to be read"
    go_on.set()
    await asyncio.wait_for(second.wait(), 5)
    assert delivered == [list(range(1, 101)), list(range(101, 151))]
    owner.cancel()
