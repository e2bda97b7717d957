"""Attached in place: a terminal on a screen, the right to type into its run, and the way back.

Any place that has a ``TerminalWidget`` can attach with it; the place says what it looks like meanwhile.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from textual.worker import Worker

from screens.keys_in_order import room_of
from screens.model.attach import Attachment
from screens.place import PlaceScreen
from screens.taking_over import take_over
from screens.widgets.terminal import TerminalWidget
from store.errors import LeaseHeld
from store.records import Event, Run

WAY_BACK = "Everything you type goes to the agent. {} comes back; the agent goes on."


class Attaching:
    """One place's attached terminal; ``shown`` is told when it begins (the run) and when it is over (None)."""

    def __init__(self, place: PlaceScreen, terminal: TerminalWidget, shown: Callable[[Run | None], None]) -> None:
        self._place = place
        self._terminal = terminal
        self._shown = shown
        self._attachment: Attachment | None = None
        self._watch: Worker[None] | None = None
        self._turn = asyncio.Lock()
        """One begins or ends at a time: all of this control room's have the same name to the store."""
        self.run: Run | None = None
        """Whose terminal it is now."""

    async def begin(self, run: Run) -> bool:
        """Attach, or ask whether to take the terminal over; False where only tmux itself can show it here."""
        async with self._turn:
            begun = self.run is not None or await self._begin(run)
        if self.run is None:
            room_of(self._place).drop_keys()  # they were meant for the agent
        return begun

    async def _begin(self, run: Run) -> bool:
        place = self._place
        with place.trying("Looking for the session…"):
            try:
                attachment = await place.model.attach(run.id)
            except LeaseHeld as held:
                if not await place.app.push_screen_wait(take_over(held, no="Leave it")):
                    return True
                attachment = await place.model.attach(run.id, force=True)
            if attachment is None:
                return False
            self._open(run, attachment)
        return True

    def heed(self, events: Sequence[Event]) -> None:
        """The journal moved: perhaps somebody took the terminal over."""
        attachment = self._attachment
        if attachment is not None and any(event.topic == "run.lease_released" for event in events):
            self._place.go(attachment.look())

    async def end(self, sentence: str = "", tone: str = "soft") -> None:
        """Let go of the session and of the right to type; the agent goes on."""
        async with self._turn:
            await self._end(sentence, tone)

    async def _end(self, sentence: str, tone: str) -> None:
        attachment, self._attachment = self._attachment, None
        if attachment is None:
            return
        self.run = None
        if self._watch is not None:
            self._watch.cancel()
        await self._terminal.disconnect()
        await attachment.close()
        if self._place.is_attached:
            self._shown(None)
            if sentence:
                self._place.say(sentence, tone)

    def _open(self, run: Run, attachment: Attachment) -> None:
        self.run, self._attachment = run, attachment
        self._shown(run)
        self._terminal.connect(attachment.dial, history=attachment.history)
        self._terminal.focus()
        self._watch = self._place.run_worker(self._lose(attachment), group="lease")
        self._place.say(WAY_BACK.format(self._terminal.way_out))

    async def _lose(self, attachment: Attachment) -> None:
        sentence = await attachment.lost()
        self._terminal.mute()
        # Not from this worker: its end is part of it.
        self._place.go(self.end(sentence, "waiting"))
