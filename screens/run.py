"""One run: what is known about it, its screen as it is now, what the journal says of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import ClassVar, Final

from textual.binding import BindingType
from textual.widget import Widget
from textual.widgets import ContentSwitcher

from screens import actions
from screens.actions import Here
from screens.bursts import touched
from screens.deeds import DeedsScreen
from screens.desk import Desk
from screens.model import CardView, RunView
from screens.widgets.event_list import EventList
from screens.widgets.pane import ROWS, Pane, watch
from screens.widgets.run_head import RunHead
from screens.widgets.tabs import TabLine
from store.records import Event

TABS: Final = ("terminal", "events")
"""In this order; the log and the signals of a run take their places here."""
FAR: Final = 1_000_000
"""Lines beyond any end."""


class RunScreen(DeedsScreen):
    """The live pane is read only; ``a`` attaches."""

    PLACE = "run"
    BINDINGS: ClassVar[list[BindingType]] = [*actions.bindings("run")]

    def __init__(self, desk: Desk, run_id: str) -> None:
        super().__init__(desk)
        self.run_id = run_id
        self.view: RunView | None = None
        self.head = RunHead(desk.clock)
        self.tabs = TabLine("show_tab", [name.capitalize() for name in TABS], id="run-tabs")
        self.pane = Pane(id="terminal")
        self.events = EventList(desk.clock, id="events")
        self._watched: tuple[int, str] | None = None

    def compose_place(self) -> Iterator[Widget]:
        yield self.head
        yield self.tabs
        with ContentSwitcher(initial=TABS[0], id="run-body"):
            yield self.pane
            yield self.events

    def here(self) -> Here:
        view = self.view
        if view is None:
            return Here("run")
        return Here("run", view.project, CardView(view.item, view.run), view.run)

    async def load(self) -> None:
        self.view = view = await self.model.run(self.run_id)
        self.head.view = view
        self.header.crumbs = (view.project.name, view.item.title, view.run.session_name)
        self._watch(view)
        self.events.show(await self.model.run_events(self.run_id))

    async def changed(self, events: Sequence[Event]) -> None:
        if self.view is None or touched(events) & {
            self.run_id,
            self.view.item.id,
            self.view.host and self.view.host.id,
        }:
            await self.load()

    def tick(self) -> None:
        super().tick()
        self.head.tick()

    def covered(self) -> None:
        self.workers.cancel_group(self, "pane")
        self._watched = None

    def uncovered(self) -> None:
        super().uncovered()
        if self.view is not None:
            self._watch(self.view)

    def action_tab(self, step: int) -> None:
        self.action_show_tab((self.tabs.chosen + step) % len(TABS))

    def action_show_tab(self, index: int) -> None:
        self.tabs.chosen = index
        self.query_one(ContentSwitcher).current = TABS[index]

    def action_scroll(self, lines: int) -> None:
        if self.tabs.chosen == TABS.index("events"):
            self.events.scroll_relative(y=lines, animate=False)
            return
        self.pane.scroll(lines)
        below = self.pane.above
        self.tabs.names = (f"Terminal, {below} lines up" if below else "Terminal", *self.tabs.names[1:])

    def action_page(self, step: int) -> None:
        self.action_scroll(step * max(self.pane.size.height or self.events.size.height, 2) // 2)

    def action_edge(self, step: int) -> None:
        self.action_scroll(step * FAR)

    def _watch(self, view: RunView) -> None:
        """Follow the session from the moment it is up, anew for each attempt."""
        run = view.run
        if run.status in ("pending", "spawning"):
            self.pane.say("The session is not up yet.", "It starts as soon as a host takes the run.")
            return
        if self._watched == (run.attempt, run.session_name):
            return
        self._watched = (run.attempt, run.session_name)
        self.call_after_refresh(self._follow, view)

    def _follow(self, view: RunView) -> None:
        frames = self.model.pane(view.run, max(self.app.size.height, ROWS))
        # A function, not its coroutine: one that is cancelled before it begins would never be awaited.
        self.run_worker(partial(watch, self.pane, frames), group="pane", exclusive=True)  # type: ignore[arg-type]
