"""Where the operator was comes back at the next start; of several control rooms, the one that is left last decides."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable
from typing import Final

from rich.console import RenderableType
from textual import events, on

from app.places import PLACES, class_of
from app.ways import Ways
from screens.board import BoardScreen
from screens.messages import OpenItem, OpenRun
from screens.session import KEY
from store.errors import PamError

SETTLED_S: Final = 2.0
"""After this long what was done is written down, so that little is lost with the control room."""
MOST_OVER: Final = 3
"""Items and runs that are opened again over one another."""
PARTING_S: Final = 2.0
"""How long leaving may take; a disk that hangs holds up nobody."""

log = logging.getLogger("pam.session")


class Sessions(Ways):
    """``recall`` before the first place is shown."""

    def __init__(self) -> None:
        super().__init__()
        self._settling = False
        self._written: object = None
        self._writing = asyncio.Lock()

    async def recall(self) -> None:
        """Read what the last control room has left; where that is not to be had, begin anew."""
        session = self.desk.session
        try:
            session.take(await self.desk.model.recall(KEY))
        except PamError as error:
            log.warning("the last session cannot be read: %s", error)
        session.heard = self._settle

    def project_of(self, known: Iterable[str]) -> str | None:
        """Of these projects, the one that was open; else the first."""
        ids = list(known)
        return self.desk.session.project if self.desk.session.project in ids else next(iter(ids), None)

    async def reopen(self) -> None:
        """Show the place that was seen, over the board, and the item or run that was open over that."""
        session, model = self.desk.session, self.desk.model
        over = session.over[-MOST_OVER:]
        if session.place in PLACES:
            await self.push_screen(class_of(session.place)(self.desk))
        for place, subject in over:
            try:
                if place == "run":
                    await model.run(subject)
                    self.on_open_run(OpenRun(subject))
                elif place == "item":
                    await model.item(subject)
                    self.on_open_item(OpenItem(subject))
            except PamError as error:
                log.info("what was open last is not to be had any more: %s", error)

    def exit(self, result: None = None, return_code: int = 0, message: RenderableType | None = None) -> None:
        self._note()
        self.desk.session.heard = _no_more
        super().exit(result, return_code, message)

    @on(events.Unmount)
    async def part(self) -> None:
        """Written even when nothing has changed: another control room may have written meanwhile."""
        self._written = None
        try:
            await asyncio.wait_for(self._write_down(), PARTING_S)
        except TimeoutError:
            log.warning("the session could not be written within %s s", PARTING_S)

    def _settle(self) -> None:
        if not self._settling:
            self._settling = True
            self.set_timer(SETTLED_S, self._settled)

    async def _settled(self) -> None:
        self._settling = False
        self._note()
        await self._write_down()

    def _note(self) -> None:
        session, places = self.desk.session, list(self._places())
        if not places:
            return
        seen = [place.PLACE for place in places if place.PLACE in PLACES and not place.is_modal]
        boards = [place.project_id for place in places if isinstance(place, BoardScreen) and place.project_id]
        session.place, session.project = seen[-1] if seen else "", boards[-1] if boards else ""
        session.over = [(place.PLACE, place.subject) for place in places if place.subject]
        for place in places:
            place.note()

    async def _write_down(self) -> None:
        async with self._writing:
            whole = self.desk.session.whole()
            if whole == self._written:
                return
            try:
                await self.desk.model.remember(KEY, whole)
                self._written = whole
            except PamError as error:
                log.warning("the session cannot be written: %s", error)


def _no_more() -> None:
    """The control room is being left."""
