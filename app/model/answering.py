"""One answer to one question: pressed once the question can be answered, and again only while it is still to be seen.

A dialog takes no keys for some tenths of a second after it was drawn, and what says that it was drawn comes before. A
key that is pressed once too often may answer the next question; so nothing is pressed again on a mere suspicion.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import Final, Self

from app.model.access import ACTOR
from executor.capture import STYLE, Frame, PaneSource
from executor.ledger import Ledger
from screens.chips import waits
from screens.model.answers import Taken
from store import deliveries, runs
from store.clock import utc_now
from store.errors import Conflict
from store.records import Delivery, Run

FRESH_S: Final = 1.0
"""How old a question is before it is answered."""
TAKEN_S: Final = 2.5
"""How long an agent may take to go on before it is looked whether the question still stands there."""
GIVEN_UP_S: Final = 10.0
"""How long after the first key it may take all in all."""
AGAIN: Final = 2
"""How often the keys are pressed once more, at most."""
TYPED_S: Final = 6.0
"""How long the executor may take to press them."""
LOOK_S: Final = 0.1
ROWS: Final = 30
"""Bottom rows of the screen in which a question stands."""


async def settled(reads: Ledger, made: Delivery, seconds: float) -> Delivery:
    """A delivery once nothing more will become of it, or as it is when the time is up."""
    delivery = made
    end = asyncio.get_running_loop().time() + seconds
    while not delivery.over and asyncio.get_running_loop().time() < end:
        await asyncio.sleep(LOOK_S / 2)
        delivery = await reads.call(deliveries.get, made.id)
    return delivery


class Answering:
    """The answer to what a run asks, as it was when it was shown."""

    def __init__(self, reads: Ledger, writes: Ledger, panes: PaneSource, run: Run, shows: Sequence[str]) -> None:
        """``shows``: texts of which one is on the screen while it can be answered."""
        self._reads = reads
        self._writes = writes
        self._panes = panes
        self._run = run
        self._shows = shows

    async def carry_out(self, keys: Sequence[str], text: str) -> Taken:
        """As ``AnswersModel.answer`` says."""
        await asyncio.sleep(max(FRESH_S - self._age(), 0))
        if not self._asks_it(await self._now()):
            raise Conflict("It waits for something else now, or not at all. Nothing was typed; look at it again.")
        with _Screen(self._panes, self._run.session_name, self._shows) as screen:
            begun = asyncio.get_running_loop().time()
            stood = await screen.comes_up()
            for more in range(AGAIN + 1):
                await self._press(keys, text)
                if await self._goes_on(TAKEN_S):
                    return "answered"
                if text or not stood or not screen.stands or more == AGAIN or not await self._untouched():
                    break
            if stood and not screen.stands:
                return "pressed"
            if await self._goes_on(GIVEN_UP_S - (asyncio.get_running_loop().time() - begun)):
                return "answered"
        raise Conflict(f"It was typed, and {self._run.session_name} still waits. Attach to see what it wants.")

    def _age(self) -> float:
        asked_at = self._run.activity_at
        return (utc_now() - asked_at).total_seconds() if asked_at else FRESH_S

    async def _press(self, keys: Sequence[str], text: str) -> None:
        made = await self._writes.call(deliveries.queue_keys, self._run.id, keys, typed=text, actor=ACTOR)
        delivery = await settled(self._reads, made, TYPED_S)
        if not delivery.over:  # it must not be typed at some later time, into something else
            why = "The executor did not get to it in time; nothing was typed. Try again."
            refused = await self._writes.call(deliveries.refuse, made.id, why, actor=ACTOR)
            delivery = refused or delivery
        if delivery.status in ("refused", "unconfirmed"):
            raise Conflict(delivery.reason or f"It was {delivery.status}.")

    async def _goes_on(self, seconds: float) -> bool:
        """Whether the run left its question within this time."""
        end = asyncio.get_running_loop().time() + seconds
        while self._asks_it(await self._now()):
            if asyncio.get_running_loop().time() >= end:
                return False
            await asyncio.sleep(LOOK_S)
        return True

    async def _untouched(self) -> bool:
        """Whether nothing was said of the run since: not even that it waits."""
        now = await self._now()
        return self._asks_it(now) and now.activity_at == self._run.activity_at

    async def _now(self) -> Run:
        return await self._reads.call(runs.get, self._run.id)

    def _asks_it(self, now: Run) -> bool:
        return waits(now) and (now.attempt, now.activity_note) == (self._run.attempt, self._run.activity_note)


class _Screen:
    """Whether the question stands on the run's screen, as it was last seen; live inside its block."""

    def __init__(self, panes: PaneSource, session: str, shows: Sequence[str]) -> None:
        self._panes = panes
        self._session = session
        self._shows = shows
        self._rows: Sequence[str] = ()
        self._changed = asyncio.Event()

    @property
    def stands(self) -> bool:
        """Whether it is to be seen."""
        seen = STYLE.sub("", "\n".join(self._rows))
        return any(text in seen for text in self._shows)

    async def comes_up(self) -> bool:
        """Whether it is to be seen; it has a moment to be drawn."""
        with suppress(TimeoutError):
            async with asyncio.timeout(FRESH_S if self._shows else 0):
                while not self.stands:
                    self._changed.clear()
                    await self._changed.wait()
        return self.stands

    def __enter__(self) -> Self:
        loop = asyncio.get_running_loop()

        def deliver(frame: Frame) -> None:
            with suppress(RuntimeError):  # the control room has closed meanwhile
                loop.call_soon_threadsafe(self._take, frame)

        self._subscription = self._panes.subscribe(self._session, deliver)
        return self

    def __exit__(self, *_: object) -> None:
        self._subscription.close()

    def _take(self, frame: Frame) -> None:
        self._rows = frame.bottom(ROWS)
        self._changed.set()
