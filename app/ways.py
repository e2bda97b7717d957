"""Which place is shown: screens ask for another one, and only here is one pushed or popped."""

from __future__ import annotations

from collections.abc import Iterator

from app.places import class_of
from app.terminal_turns import TerminalTurns
from screens.board import BoardScreen
from screens.desk import Desk
from screens.messages import GoHome, Gone, OpenDrawer, OpenItem, OpenPlace, OpenProject, OpenRun, ShowCard
from screens.place import PlaceScreen


class Ways(TerminalTurns):
    """The board is at the bottom of the stack; what lies over it comes and goes."""

    desk: Desk

    def on_open_run(self, message: OpenRun) -> None:
        from screens.run import RunScreen

        run = RunScreen(self.desk, message.run_id, attach=message.attach)
        if message.instead and isinstance(self.screen, RunScreen):
            self.switch_screen(run)
        else:
            self.push_screen(run)

    async def on_open_place(self, message: OpenPlace) -> None:
        """The one in sight stays; another takes the place of whatever lies over the board."""
        if isinstance(self.screen, PlaceScreen) and message.name != self.screen.PLACE:
            await self._go_home()
            await self.push_screen(class_of(message.name)(self.desk))
        else:
            self.release_keys(place=True)

    def on_open_drawer(self, _: OpenDrawer) -> None:
        from screens.activity import ActivityDrawer

        self.push_screen(ActivityDrawer(self.desk))

    def on_open_item(self, message: OpenItem) -> None:
        from screens.item import ItemScreen

        self.push_screen(ItemScreen(self.desk, message.item_id))

    async def on_open_project(self, message: OpenProject) -> None:
        """A board that is open already stays, and so does a dialog over it: the journal may ask for it, too."""
        if not self.screen_stack:
            return  # the control room closes
        if isinstance(self.screen, PlaceScreen):
            await self._go_home()
        boards = (place for place in self._places() if isinstance(place, BoardScreen))
        board = next((board for board in boards if board.project_id == message.project_id), None)
        if board is None:
            await self.switch_screen(BoardScreen(self.desk, message.project_id))
            return
        board.only_project()
        if board.state is not None:
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

    def complain(self, sentence: str) -> None:
        for place in self._places():
            place.say(sentence, "bad")

    def _places(self) -> Iterator[PlaceScreen]:
        return (screen for screen in self.screen_stack if isinstance(screen, PlaceScreen))

    async def _go_home(self) -> None:
        while len(self.screen_stack) > 2:
            await self.pop_screen()
