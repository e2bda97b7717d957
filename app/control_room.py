"""The control room: which screen is shown, whose turn it is on the terminal, and how one leaves."""

from __future__ import annotations

import subprocess
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import ClassVar

from textual.app import SuspendNotSupported
from textual.binding import BindingType
from textual.command import Provider
from textual.driver import Driver
from textual.drivers.linux_driver import LinuxDriver

import themes
from app.driver import RoomDriver
from app.looks import Looks
from screens import actions
from screens.board import BoardScreen
from screens.desk import Desk
from screens.dialogs import Confirm, leaving
from screens.item import ItemScreen
from screens.keys_in_order import KeysInOrder
from screens.messages import GoHome, Gone, OpenItem, OpenProject, OpenRun, QuitRoom, ShowCard, TakeTerminal
from screens.model import ControlRoomModel
from screens.palette import ActionCommands, CardCommands
from screens.place import NARROW, TALL, PlaceScreen
from screens.run import RunScreen
from store.errors import PamError
from store.records import Event


def local_time() -> datetime:
    """Now, in the zone of this machine."""
    return datetime.now().astimezone()


class ControlRoom(Looks, KeysInOrder):
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
    ) -> None:
        """``keymap``: keys by id of ``screens.actions``; ``project``: the first board's id; ``notice``: said first."""
        super().__init__()
        self.desk = Desk(model, clock, keymap or {})
        self.set_keymap(dict(self.desk.keymap))
        unknown = self.put_on(theme, palettes, model.remember_theme)
        self._project = project
        self._notice = notice or unknown

    def get_driver_class(self) -> type[Driver]:
        found = super().get_driver_class()
        return RoomDriver if found is LinuxDriver else found

    async def on_mount(self) -> None:
        self.hold_keys(place=True)
        self.run_worker(self._follow(self.desk.model.journal()), group="journal")
        self.run_worker(self._heed(self.desk.model.executor()), group="executor")
        await self.push_screen(BoardScreen(self.desk, self._project or await self._first_project()))
        if self._notice:
            self.complain(self._notice)

    def on_open_run(self, message: OpenRun) -> None:
        self.push_screen(RunScreen(self.desk, message.run_id))

    def on_open_item(self, message: OpenItem) -> None:
        self.push_screen(ItemScreen(self.desk, message.item_id))

    async def on_open_project(self, message: OpenProject) -> None:
        """A board that is open already stays, and so does a dialog over it: the journal may ask for it, too."""
        if isinstance(self.screen, PlaceScreen):
            await self._go_home()
        boards = (place for place in self._places() if isinstance(place, BoardScreen))
        board = next((board for board in boards if board.project_id == message.project_id), None)
        if board is None:
            await self.switch_screen(BoardScreen(self.desk, message.project_id))
        elif board.state is not None:
            self.release_keys(place=True)

    async def on_go_home(self, _: GoHome) -> None:
        await self._go_home()
        self.release_keys(place=True)

    async def on_gone(self, message: Gone) -> None:
        if message.place.is_active:
            await self.pop_screen()
            self.complain(message.sentence)

    async def on_show_card(self, message: ShowCard) -> None:
        await self._go_home()
        if isinstance(self.screen, BoardScreen):
            self.screen.find(message.item)
        self.release_keys(place=True)

    def on_take_terminal(self, message: TakeTerminal) -> None:
        """Everything of ours stands still while the program has the terminal."""
        try:
            with self.suspend():
                ended = subprocess.run(message.argv, check=False)
        except (SuspendNotSupported, OSError) as error:
            self.complain(f"The terminal can't be handed over: {error}. In another one, try: {' '.join(message.argv)}")
        else:
            if ended.returncode:
                self.complain(f"{message.argv[0]} ended with {ended.returncode}; the session may be gone.")
        self.drop_keys()

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
            for place in self._places():
                place.take(events)

    async def _heed(self, executor: AsyncIterator[str]) -> None:
        async for sentence in executor:
            for place in self._places():
                place.go(place.heed(sentence))

    def _places(self) -> Iterator[PlaceScreen]:
        return (screen for screen in self.screen_stack if isinstance(screen, PlaceScreen))

    async def _first_project(self) -> str | None:
        try:
            projects = await self.desk.model.projects()
        except PamError as error:
            self.notify(str(error), severity="error", markup=False)
            return None
        return projects[0].project.id if projects else None

    async def _go_home(self) -> None:
        while len(self.screen_stack) > 2:
            await self.pop_screen()

    def complain(self, sentence: str) -> None:
        for place in self._places():
            place.say(sentence, "bad")
