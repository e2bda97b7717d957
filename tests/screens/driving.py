"""Driving the control room by keys in a test, over the fake model."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from textual import events
from textual.keys import _character_to_key
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widgets import Input

from app.control_room import ControlRoom
from screens.board import BoardScreen
from screens.dialogs import AnswerRun
from screens.place import PlaceScreen
from screens.run import RunScreen
from tests.screens.fake_model import FakeModel, clock

DEADLINE = 10.0
"""Seconds after which a condition counts as never coming true."""

S = TypeVar("S", bound=Screen[Any])


class Driver:
    """A control room that runs, and hands to press its keys."""

    def __init__(self, room: ControlRoom, pilot: Pilot[None], model: FakeModel) -> None:
        self.room = room
        self.pilot = pilot
        self.model = model

    @property
    def place(self) -> PlaceScreen:
        """The screen that is seen, which is no dialog."""
        assert isinstance(self.room.screen, PlaceScreen)
        return self.room.screen

    @property
    def board(self) -> BoardScreen:
        """The board, whether or not something lies over it."""
        return next(screen for screen in self.room.screen_stack if isinstance(screen, BoardScreen))

    @property
    def title(self) -> str:
        """Title of the card under the cursor, empty when there is none."""
        card = self.board.active.card
        return card.item.title if card else ""

    def titles(self, status: str) -> list[str]:
        """Titles a column shows."""
        assert self.board.state is not None
        return [card.item.title for card in self.board.state.shown(status)]  # type: ignore[arg-type]

    async def press(self, *keys: str) -> None:
        """Press keys; what they start has settled as far as it needs no waiting."""
        await self.pilot.press(*keys)

    def burst(self, *keys: str) -> None:
        """Press keys as a fast typist or a slow line does: all of them are there before the first has acted."""
        for key in keys:
            character = key if len(key) == 1 else None
            self.room.post_message(events.Key(_character_to_key(key) if character else key, character))

    async def write(self, text: str) -> None:
        """Put a text into the focused widget as a terminal does when it is pasted."""
        self.room.post_message(events.Paste(text))
        await self.pilot.pause()

    async def open_run(self, key: str = "enter") -> RunScreen:
        """Open the run of the chosen card; for one that waits, its question comes first."""
        await self.press(key)
        await self.until(lambda: isinstance(self.room.screen, RunScreen | AnswerRun), "a run, or its question")
        if isinstance(self.room.screen, AnswerRun):
            await self.press("f")
        return await self.at(RunScreen)

    async def until(self, condition: Callable[[], object], what: str = "") -> None:
        """Let the application run until something holds."""
        end = time.monotonic() + DEADLINE
        while not condition():
            assert time.monotonic() < end, f"never: {what or condition}"
            await self.pilot.pause(0.005)

    async def drawn(self) -> None:
        """Let the application run until all that it has taken stands on the screen."""
        done = asyncio.Event()
        await self.pilot.pause()
        self.room.screen.call_after_refresh(done.set)
        async with asyncio.timeout(DEADLINE):
            await done.wait()

    async def at(self, kind: type[S]) -> S:
        """Wait until a screen of this kind is seen."""
        await self.until(lambda: isinstance(self.room.screen, kind), f"a {kind.__name__}")
        assert isinstance(self.room.screen, kind)
        return self.room.screen

    async def said(self, part: str) -> str:
        """Wait until the footer says a sentence with this in it."""
        await self.until(lambda: part in self.place.footer.said, f"“{part}” in the footer")
        return self.place.footer.said

    def typed(self, field: str) -> str:
        """What stands in an input of the dialog that is seen; empty where there is none yet."""
        return "".join(line.value for line in self.room.screen.query(f"#{field}").results(Input))

    def text(self) -> str:
        """Everything on the screen, as text."""
        return "\n".join(strip.text for strip in self.room.screen._compositor.render_strips())


@asynccontextmanager
async def driving(
    model: FakeModel,
    *,
    size: tuple[int, int] = (160, 45),
    theme: str = "pam-dark",
    keymap: Mapping[str, str] | None = None,
) -> AsyncIterator[Driver]:
    """A control room on a board that is read."""
    room = ControlRoom(model, theme=theme, clock=clock, keymap=keymap)
    async with room.run_test(size=size) as pilot:
        driver = Driver(room, pilot, model)
        board = await driver.at(BoardScreen)
        await driver.until(lambda: board.state is not None or board.has_class("-empty"), "the board is read")
        await driver.until(lambda: board.footer._hints, "the footer knows its keys")
        yield driver
