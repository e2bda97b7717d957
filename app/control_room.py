"""The control room: which screen is shown, whose turn it is on the terminal, and how one leaves."""

from __future__ import annotations

import subprocess
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from datetime import datetime
from typing import ClassVar

from textual.app import App, SuspendNotSupported
from textual.binding import BindingType
from textual.command import Provider

import themes
from screens import actions
from screens.board import BoardScreen
from screens.desk import Desk
from screens.dialogs import Confirm, leaving
from screens.item import ItemScreen
from screens.messages import GoHome, OpenItem, OpenProject, OpenRun, QuitRoom, ShowCard, TakeTerminal
from screens.model import ControlRoomModel
from screens.palette import ActionCommands, CardCommands
from screens.place import NARROW, TALL, PlaceScreen
from screens.run import RunScreen
from store.errors import PamError
from store.records import Event


def local_time() -> datetime:
    """Now, in the zone of this machine."""
    return datetime.now().astimezone()


class ControlRoom(App[None]):
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
        project: str | None = None,
        notice: str = "",
    ) -> None:
        """``keymap``: keys by id of ``screens.actions``; ``project``: the first board's id; ``notice``: said first."""
        super().__init__()
        self.desk = Desk(model, clock, keymap or {})
        self.set_keymap(dict(self.desk.keymap))
        for name in themes.PALETTES:
            self.register_theme(themes.pam_theme(name))
        self.theme = theme if theme in self.available_themes else themes.DEFAULT_THEME
        self._project = project
        self._notice = notice

    def get_css_variables(self) -> dict[str, str]:
        variables = super().get_css_variables()
        return variables if "card-cursor" in variables else {**variables, **themes.borrowed(variables)}

    async def on_mount(self) -> None:
        self.run_worker(self._follow(self.desk.model.journal()), group="journal")
        await self.push_screen(BoardScreen(self.desk, self._project or await self._first_project()))
        if self._notice:
            self._say(self._notice)

    def on_open_run(self, message: OpenRun) -> None:
        self.push_screen(RunScreen(self.desk, message.run_id))

    def on_open_item(self, message: OpenItem) -> None:
        self.push_screen(ItemScreen(self.desk, message.item_id))

    async def on_open_project(self, message: OpenProject) -> None:
        """A board that is open already stays, and so does a dialog over it: the journal may ask for it, too."""
        if isinstance(self.screen, PlaceScreen):
            await self._go_home()
        if any(isinstance(one, BoardScreen) and one.project_id == message.project_id for one in self.screen_stack):
            return
        await self.switch_screen(BoardScreen(self.desk, message.project_id))

    async def on_go_home(self, _: GoHome) -> None:
        await self._go_home()

    async def on_show_card(self, message: ShowCard) -> None:
        await self._go_home()
        if isinstance(self.screen, BoardScreen):
            self.screen.find(message.item)

    def on_take_terminal(self, message: TakeTerminal) -> None:
        """Everything of ours stands still while the program has the terminal."""
        try:
            with self.suspend():
                ended = subprocess.run(message.argv, check=False)
        except (SuspendNotSupported, OSError) as error:
            self._say(f"The terminal could not be handed over: {error}. In another one, try: {' '.join(message.argv)}")
        else:
            if ended.returncode:
                self._say(f"{message.argv[0]} ended with {ended.returncode}; the session may be gone.")

    async def on_quit_room(self, _: QuitRoom) -> None:
        await self.action_quit()

    async def action_quit(self) -> None:
        """Leave; asks once while agents are at work, and says that they go on."""
        if isinstance(self.screen, Confirm):
            self.exit()
            return
        self.run_worker(self._quit(), group="quit", exclusive=True)

    async def _quit(self) -> None:
        facts = self.screen.header.facts if isinstance(self.screen, PlaceScreen) else None
        sure = True if facts is None or not facts.live else await self.push_screen_wait(leaving(facts))
        if sure:
            self.exit()

    async def _follow(self, journal: AsyncIterator[Sequence[Event]]) -> None:
        """Every place hears of every batch; each reads again what it shows of it."""
        async for events in journal:
            for screen in self.screen_stack:
                if isinstance(screen, PlaceScreen):
                    screen.take(events)

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

    def _say(self, sentence: str) -> None:
        if isinstance(self.screen, PlaceScreen):
            self.screen.say(sentence, "bad")
