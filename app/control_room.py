"""The control room: which screen is shown, whose turn it is on the terminal, and how one leaves."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any, ClassVar, Final

from textual.binding import BindingType
from textual.command import Provider
from textual.driver import Driver
from textual.drivers.linux_driver import LinuxDriver
from textual.screen import Screen

import themes
from app.driver import RoomDriver
from app.notice_settings import NoticeSettings
from app.notifying import Notifying
from app.places import SETTLED_S, bring_in
from app.sessions import Sessions
from screens import actions
from screens.board import BoardScreen
from screens.desk import Desk
from screens.dialogs import Confirm, leaving
from screens.messages import QuitRoom
from screens.model import ControlRoomModel
from screens.palette import ActionCommands, CardCommands
from screens.place import NARROW, TALL, PlaceScreen
from store.errors import PamError
from store.records import Event

FRAMES_S: Final = 0.1
"""Textual takes up to three frames to bring to the terminal what a place shows."""


def local_time() -> datetime:
    """Now, in the zone of this machine."""
    return datetime.now().astimezone()


class ControlRoom(Sessions, Notifying):
    """The Textual application; everything it knows comes from the model."""

    TITLE = "pam"
    CSS_PATH = themes.STYLESHEET
    BINDINGS: ClassVar[list[BindingType]] = [*actions.room_bindings()]
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (NARROW, "-wide")]  # noqa: RUF012  as Textual declares them
    VERTICAL_BREAKPOINTS = [(0, "-low"), (TALL, "-tall")]  # noqa: RUF012
    COMMANDS: ClassVar[set[type[Provider] | Callable[[], type[Provider]]]] = {ActionCommands, CardCommands}

    def __init__(
        self,
        model: ControlRoomModel,
        *,
        theme: str = themes.DEFAULT_THEME,
        keymap: Mapping[str, str] | None = None,
        clock: Callable[[], datetime] = local_time,
        palettes: Mapping[str, themes.Palette] = themes.PALETTES,
        project: str | None = None,
        notice: str = "",
        notify: NoticeSettings = NoticeSettings(),  # noqa: B008  frozen
    ) -> None:
        """``keymap``: keys by id of ``screens.actions``; ``project``: the first board's id; ``notice``: said first."""
        super().__init__()
        self.desk = Desk(model, clock, keymap or {})
        self.set_keymap(dict(self.desk.keymap))
        unknown = self.put_on(theme, palettes, model.remember_theme)
        self._project = project
        self._notice = notice or unknown
        self._notices = self.notices(notify)
        self._drawn = asyncio.Event()

    @property
    def _background_screens(self) -> list[Screen[Any]]:
        """What may be seen behind the screen on top. Textual has the one below it there in any case.

        A board below a run would be laid out and drawn at each event, and the run's whole screen with it.
        """
        return [] if self._screen_stack and self.screen.styles.background.a == 1 else super()._background_screens

    def get_driver_class(self) -> type[Driver]:
        found = super().get_driver_class()
        return RoomDriver if found is LinuxDriver else found

    async def on_mount(self) -> None:
        self.hold_keys(place=True)
        self.run_worker(self._follow(self.desk.model.journal()), group="journal")
        self.run_worker(self._heed(self.desk.model.executor()), group="executor")
        self.run_worker(self._notices.run(), group="notices")
        await self.recall()
        await self.push_screen(BoardScreen(self.desk, self._project or await self._first_project()))
        await self.reopen()
        self.set_timer(SETTLED_S, partial(self.run_worker, bring_in, thread=True))
        if self._notice:
            self.complain(self._notice)

    def on_drawn(self) -> None:
        self._drawn.set()

    async def on_quit_room(self, _: QuitRoom) -> None:
        await self.action_quit()

    async def action_quit(self) -> None:
        """Leave; asks once while agents are at work, and says that they go on."""
        if isinstance(self.screen, Confirm):
            self.exit()
            return
        self.hold_keys()
        self.run_worker(self._quit(), group="quit", exclusive=True)

    async def _quit(self) -> None:
        facts = self.screen.header.facts if isinstance(self.screen, PlaceScreen) else None
        sure = True if facts is None or not facts.live else await self.push_screen_wait(leaving(facts))
        self.release_keys(place=True)
        if sure:
            self.exit()

    async def _follow(self, journal: AsyncIterator[Sequence[Event]]) -> None:
        """Every place hears of every batch; each reads again what it shows of it."""
        async for events in journal:
            self._notices.heed(events)
            for place in self._places():
                place.take(events)

    async def _heed(self, executor: AsyncIterator[str]) -> None:
        """The executor begins once there is something to see, which it would hold up."""
        await self._drawn.wait()
        await asyncio.sleep(FRAMES_S)
        async for sentence in executor:
            for place in self._places():
                place.go(place.heed(sentence))

    async def _first_project(self) -> str | None:
        try:
            projects = await self.desk.model.projects()
        except PamError as error:
            self.notify(str(error), severity="error", markup=False)
            return None
        return self.project_of(each.project.id for each in projects)
