"""Every live agent at once, each in a tile with the bottom of its screen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar, Final

from textual.binding import BindingType
from textual.widget import Widget
from textual.widgets import Static

from screens import actions, session
from screens.actions import Here
from screens.bursts import touched
from screens.chips import waits
from screens.desk import Desk
from screens.messages import OpenRun
from screens.model import CardView
from screens.session import Facts
from screens.wall_attach import AttachingWall
from screens.wall_frames import WallFrames
from screens.wall_grid import Grid, grid_for
from screens.wall_state import WallState
from screens.widgets.filter_line import FilterLine
from screens.widgets.pane import ROWS
from screens.widgets.spans import Span
from screens.widgets.tile_wall import TileWall
from screens.widgets.wall_bar import WallBar
from store.records import Event

MANY: Final = 64
"""From this many touched runs on, all of them are read at once."""
_ORDERS: Final = {"need": "who needs you first", "start": "oldest first"}


class WallScreen(AttachingWall):
    """One for the whole control room; only the tiles that are seen are captured."""

    PLACE = "wall"
    BINDINGS: ClassVar[list[BindingType]] = [*actions.bindings("wall")]
    AUTO_FOCUS = ""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self.state = WallState()
        self.bar = WallBar()
        self.tiles = TileWall(desk.clock)
        self.filter = FilterLine()
        self.nobody = Static(id="nobody")
        self.frames = WallFrames(desk.model, self.tiles.see)
        self._first = 0
        """The row of tiles that is seen first."""
        self._read = False

    def compose_place(self) -> Iterator[Widget]:
        yield self.bar
        yield self.nobody
        yield self.tiles
        yield self.filter
        yield self.live

    def take(self, events: Sequence[Event]) -> None:
        self.attaching.heed(events)
        super().take(events)

    def on_mount(self) -> None:
        self.run_worker(self.frames.run(), group="frames")

    def here(self) -> Here:
        view, filtered = self.state.chosen, bool(self.state.words)
        if view is None:
            return Here("wall", filtered=filtered)
        return Here("wall", view.project, CardView(view.item, view.run), view.run, filtered=filtered)

    async def load(self) -> None:
        self.header.crumbs = ("all projects", "Wall")
        self.model.warm_terminal()
        self.state.replace(await self.model.live_runs())
        self._read = True
        self.paint()

    async def changed(self, events: Sequence[Event]) -> None:
        wanted = self.state.concerned(events, touched(events))
        if not self._read or len(wanted) > MANY:
            await self.load()
        elif wanted:
            self.state.update(wanted, await self.model.live_runs(wanted))
            self.paint()

    def tick(self) -> None:
        super().tick()
        self.tiles.tick()

    def covered(self) -> None:
        self.frames.follow(self, (), 0)

    def uncovered(self) -> None:
        super().uncovered()
        if self._read:
            self.paint()

    def remembers(self) -> Facts:
        chosen = self.state.chosen
        return {
            "order": self.state.order,
            "run": chosen.run.id if chosen else None,
            "filter": self.filter.text,
        }

    def restore(self, facts: Facts) -> None:
        if session.text(facts, "order") == "start":
            self.state.order = "start"
        self.filter.put(session.text(facts, "filter"))
        self.state.narrow(self.filter.text)
        self.state.find(session.text(facts, "run"))
        self.paint()

    # What happens

    def on_tile_wall_resized(self) -> None:
        self.paint()

    def on_tile_wall_chosen(self, message: TileWall.Chosen) -> None:
        if self.state.find(message.run_id):
            self.paint()
            if message.again:
                self.action_full()

    def narrow(self) -> None:
        self.state.narrow(self.filter.text)
        self.paint()

    # What the keys do

    def action_enter(self) -> None:
        """Who waits is answered; the terminal of the others is taken."""
        if waits(self.here().run):
            self.action_answer()
        else:
            self.action_attach()

    def go_to_waiting(self, run_id: str) -> None:
        """Here its tile has all that is asked."""
        if self.state.find(run_id):
            self.paint()
        else:
            super().go_to_waiting(run_id)

    def action_full(self) -> None:
        if view := self.state.chosen:
            self.request(OpenRun(view.run.id))

    def action_order(self) -> None:
        self.state.order = "start" if self.state.order == "need" else "need"
        self.state.settle()
        self.paint()
        self.say(f"Order: {_ORDERS[self.state.order]}.")

    def action_side(self, step: int) -> None:
        self._go(self.state.place + step)

    def action_row(self, step: int) -> None:
        target = self.state.place + step * self._grid().columns
        last = len(self.state.shown) - 1
        if target > last and self.state.place // self._grid().columns < last // self._grid().columns:
            target = last
        if 0 <= target <= last:
            self._go(target)

    def action_page(self, step: int) -> None:
        grid = self._grid()
        self._first += step * grid.rows
        self._go(self.state.place + step * grid.capacity)

    def action_edge(self, step: int) -> None:
        self._go(0 if step < 0 else len(self.state.shown) - 1)

    # Below

    def paint(self) -> None:
        """Show what the state says, as far as the window reaches, and follow the screens of just those."""
        if not self._read or not self.is_attached:
            return
        shown, grid = self.state.shown, self._grid()
        self.set_class(not shown, "-nobody")
        if not shown:
            self.nobody.update(_NO_MATCH if self.state.words else _NOBODY)
        self._first = grid.first_row(self._first, self.state.place, len(shown))
        begin = self._first * grid.columns
        seen = shown[begin : begin + grid.capacity]
        chosen = self.state.chosen
        self.tiles.show(seen, grid.places(len(seen)), chosen.run.id if chosen else "")
        if self.is_current:
            self.frames.follow(self, [view.run for view in seen], max(self.app.size.height, ROWS))
        self._say_where(begin, len(seen))
        self.follow_tile()
        self.refresh_hints()

    def _go(self, place: int) -> None:
        if self.state.go(place):
            self.paint()

    def _grid(self) -> Grid:
        return grid_for(len(self.state.shown), self.tiles.size)

    def _say_where(self, begin: int, seen: int) -> None:
        state, shown = self.state, len(self.state.shown)
        agents = f"{state.count} agent{'' if state.count == 1 else 's'}"
        if state.words:
            agents = f"{shown} of {agents} match /{state.words}"
        left = [Span(agents, "accent", True), Span(f" · {_ORDERS[state.order]}", "soft")]
        right = []
        if seen < shown:
            above, below = "▲ " if begin else "", " ▼" if begin + seen < shown else ""
            right.append(Span(f"{above}{begin + 1}–{begin + seen} of {shown}{below}", "ink"))
        self.bar.left, self.bar.right = tuple(left), tuple(right)


_NOBODY = """[b $accent]Nobody is at work[/]

Every live agent has a tile here, with the bottom of its screen.

Press [b $accent]1[/] for the board: there [b $accent]n[/] makes a task, and [b $accent]s[/] starts an agent on it.
"""
_NO_MATCH = """No agent matches the filter.

[b $accent]esc[/] clears it.
"""
