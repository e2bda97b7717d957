"""Attached in a tile: the terminal lies over the tile's screen, and the wall goes on around it."""

from __future__ import annotations

from typing import Final

from textual.geometry import Region

from screens.attaching import Attaching
from screens.desk import Desk
from screens.filtered import FilteredScreen
from screens.widgets.terminal import TerminalWidget
from screens.widgets.tile_wall import TileWall
from store.records import Run

LEAST: Final = (40, 6)
"""Columns and rows of a tile's screen below which the run's own screen is the better place to type."""


class AttachingWall(FilteredScreen):
    """A wall with one terminal, which lies over the tile that is attached."""

    tiles: TileWall

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self.live = TerminalWidget(desk.keys("terminal.leave"), id="wall-live")
        self.attaching = Attaching(self, self.live, self._attached)

    async def on_unmount(self) -> None:
        await self.attaching.end()

    def on_terminal_widget_left(self) -> None:
        self.go(self.attaching.end("Back here; the agent goes on.", "good"))

    def on_terminal_widget_ended(self, message: TerminalWidget.Ended) -> None:
        self.go(self.attaching.end(message.why or "The session let go of the terminal.", "waiting"))

    def action_attach(self) -> None:
        run = self.here().run
        if run is None:
            return
        if self._room(run) is None:
            super().action_attach()
        else:
            self.ask(self._attach_in_tile(run))

    def follow_tile(self) -> None:
        """The tiles moved: the terminal goes with its own, or lets go where that is out of sight."""
        run = self.attaching.run
        if run is None:
            return
        room = self._room(run)
        if room is None:
            self.go(self.attaching.end("Its tile is out of sight; the agent goes on.", "waiting"))
        else:
            self._lay_over(room)

    async def _attach_in_tile(self, run: Run) -> None:
        room = self._room(run)
        if room is not None:
            self._lay_over(room)
        if not await self.attaching.begin(run):
            super().action_attach()

    def _room(self, run: Run) -> Region | None:
        """Where on the screen the tile's own screen is, when there is enough of it."""
        tile = self.tiles.tiles.get(run.id)
        if tile is None or tile.body.width < LEAST[0] or tile.body.height < LEAST[1]:
            return None
        return tile.body.translate(self.tiles.region.offset)

    def _lay_over(self, room: Region) -> None:
        self.live.styles.width, self.live.styles.height = room.size
        self.live.absolute_offset = room.offset

    def _attached(self, run: Run | None) -> None:
        self.set_class(run is not None, "-attached")
        if run is None:
            self.set_focus(None)
        self.refresh_hints()
