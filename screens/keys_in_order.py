"""Keys act one at a time, each where the one before it led.

A terminal hands over a burst of keys at once, and each is looked up while the last is still on its way: of ``n`` and a
title typed quickly, the title's letters would act on the board. So a key waits until the one before has been handled
and, where that opens something, until what it opens has the keys.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from typing import Final

from textual import events
from textual.actions import SkipAction
from textual.app import App
from textual.message_pump import MessagePump
from textual.screen import Screen

LONGEST: Final = 3.0
"""Seconds that keys wait for what was opened. After that they are dropped: they were meant for it, not for what is
seen instead."""
PATIENCE: Final = 0.3
"""Seconds after which Escape does not wait any more, and drops what was typed before it."""
STUCK: Final = 1.0
"""Seconds after which a key counts as handled in any case: the widget that had it may be gone."""
Straight = Callable[[str, tuple[float, float]], str]
"""Takes what the terminal sends as it is, and how large a cell is for its mouse; gives back what is for the screens."""


def room_of(node: MessagePump) -> KeysInOrder:
    """The control room that a screen or widget stands in."""
    room = node.app
    assert isinstance(room, KeysInOrder)
    return room


class KeysInOrder(App[None]):
    """``hold_keys`` is for whoever opens something; a dialog that is shown takes the keys by itself."""

    def __init__(self) -> None:
        super().__init__()
        self.straight: Straight | None = None
        """Who has the keys before any screen: an agent's terminal that the operator types into."""
        self._waiting: deque[events.Key | events.Paste] = deque()
        self._passing: asyncio.TimerHandle | None = None
        self._held: asyncio.TimerHandle | None = None
        self._for_place = False
        self._since = 0.0
        self._last = ""

    async def on_event(self, event: events.Event) -> None:
        if not isinstance(event, events.Key | events.Paste) or event.is_forwarded:
            await super().on_event(event)
        elif (self._passing or self._held or self._waiting) and not self._breaks_off(event):
            self._waiting.append(event)
        else:
            self._begin()
            await self._let_in(event)

    @property
    def taker(self) -> Straight | None:
        """Who has what the terminal sends now; while keys wait that were typed before, the rest lines up behind."""
        return None if self._waiting or self._passing or self._held else self.straight

    async def on_mount(self) -> None:
        self.screen_change_signal.subscribe(self, self._screen_changed, immediate=True)

    def on_unmount(self) -> None:
        self._waiting.clear()
        for timer in (self._passing, self._held):
            if timer is not None:
                timer.cancel()

    def hold_keys(self, *, place: bool = False) -> None:
        """A dialog, or another place, is about to take the keys: they wait LONGEST seconds at most."""
        self._let_go()
        loop = asyncio.get_running_loop()
        self._held, self._since = loop.call_later(LONGEST, self.drop_keys), loop.time()
        self._for_place = place

    def release_keys(self, *, place: bool = False) -> None:
        """A dialog has the keys, or is done with; while another place is awaited, only ``place`` counts."""
        if place or not self._for_place:
            self._let_go()
            if self._last == "enter":
                self._skip_enter()
            self._next()

    def drop_keys(self) -> None:
        """What was typed ahead was meant for something that did not come, or is gone."""
        self._waiting.clear()
        self._let_go()

    def _breaks_off(self, event: events.Key | events.Paste) -> bool:
        """Whether the operator won't wait for what takes long to open."""
        impatient = self._held is not None and asyncio.get_running_loop().time() - self._since > PATIENCE
        if impatient and isinstance(event, events.Key) and event.key == "escape":
            self.drop_keys()
            return True
        return False

    def _begin(self) -> None:
        self._passing = asyncio.get_running_loop().call_later(STUCK, self._passed)

    def action_command_palette(self) -> None:
        """Over a dialog the key is the dialog's own."""
        if self.screen.is_modal:
            raise SkipAction
        self.hold_keys()
        super().action_command_palette()

    async def _let_in(self, event: events.Key | events.Paste) -> None:
        if not self.screen_stack:
            return  # the control room closes
        self._last = event.key if isinstance(event, events.Key) else ""
        way, timer = (self.focused or self.screen).ancestors_with_self, self._passing
        await super().on_event(event)
        # Messages of a widget are handled in order, so a callback that takes the key's way, widget by widget, comes
        # after it. The second round comes after what the key made the widgets say, such as an input's Submitted.
        self._take([*way, *way], lambda: self._passed(timer))

    def _take(self, way: Sequence[MessagePump], then: Callable[[], None]) -> None:
        for index, pump in enumerate(way):
            if pump.call_later(self._take, way[index + 1 :], then):
                return
        then()

    def _passed(self, timer: asyncio.TimerHandle | None = None) -> None:
        """The key is handled; ``timer`` is what it was begun with, None when that has run out."""
        if self._passing is not None and timer in (None, self._passing):
            self._passing.cancel()
            self._passing = None
            self._next()

    def _next(self) -> None:
        if self._waiting and not self._passing and not self._held:
            self._begin()
            self.call_later(self._let_in, self._waiting.popleft())

    def _skip_enter(self) -> None:
        """Enter pressed twice answers once: the second is no answer to what comes next."""
        while self._waiting and isinstance(self._waiting[0], events.Key) and self._waiting[0].key == "enter":
            self._waiting.popleft()

    def _let_go(self) -> None:
        if self._held is not None:
            self._held.cancel()
        self._held, self._for_place = None, False

    def _screen_changed(self, screen: Screen[object]) -> None:
        """A new dialog has the keys once it has handled what was sent to it so far: that gives a field the focus."""
        if self._held is not None and screen.is_modal and not screen.is_mounted:
            self._take([screen, self], lambda: self.release_keys(place=True))
