"""One run: what is known about it, its screen as it is now, what the journal says of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar, Final

from textual.binding import BindingType
from textual.containers import Container
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import ContentSwitcher

from screens import actions, run_signals, stopping
from screens.actions import Here
from screens.attaching import Attaching
from screens.bursts import touched
from screens.desk import Desk
from screens.model import CardView, RunView
from screens.run_log import RunLog
from screens.run_moves import FIND, RunMoves
from screens.sentences import sentence
from screens.shelling import Shelling
from screens.widgets.event_list import EventList
from screens.widgets.filter_line import FilterLine
from screens.widgets.pane import ROWS, Pane, follow
from screens.widgets.rows import Rows
from screens.widgets.run_head import RunHead
from screens.widgets.tabs import TabLine
from screens.widgets.terminal import TerminalWidget
from store.records import Event, Run

TABS: Final = ("terminal", "log", "signals", "events", "shell")
KNOWN: Final = 500
"""Lines of the journal that are read of a run."""
NAMES: Final = ("Terminal", "Log", "Signals", "Events")
"""A shell has a name there only while it runs, so that nobody comes upon it, and starts it, by the way."""
FAR: Final = 1_000_000
"""Lines beyond any end."""


class RunScreen(RunMoves):
    """The live pane is read only; ``a`` attaches in its place, ``t`` opens a shell beside it."""

    PLACE = "run"
    BINDINGS: ClassVar[list[BindingType]] = [*actions.bindings("run")]

    def __init__(self, desk: Desk, run_id: str, *, attach: bool = False) -> None:
        """``attach``: at once, as soon as the run is read."""
        super().__init__(desk)
        self._attach_at_once = attach
        self.run_id = run_id
        self.view: RunView | None = None
        self.head = RunHead(desk.clock)
        self.tabs = TabLine("show_tab", NAMES, id="run-tabs")
        self.pane = Pane()
        leave = desk.keys("terminal.leave")
        self.live = TerminalWidget(leave, id="live")
        self.shell = TerminalWidget(leave, id="shell")
        self.attaching = Attaching(self, self.live, self._attached)
        self.shelling = Shelling(self, self.shell, self._shell_shown)
        self.run_log = RunLog(desk.model, run_id)
        self.signals = Rows(run_signals.HEADINGS, id="signals", nothing=run_signals.NONE)
        self.signals.add_class("-active")
        self.signals.border_subtitle = run_signals.TURNED_AWAY
        self.events = EventList(desk.clock, id="events")
        self.filter = FilterLine(FIND)
        self._second: Timer | None = None
        self._stop_told = 0
        """The event of the last stop that is known."""
        self._watched: tuple[int, str] | None = None

    @property
    def subject(self) -> str:
        return self.run_id

    def compose_place(self) -> Iterator[Widget]:
        yield self.head
        yield self.tabs
        with ContentSwitcher(initial=TABS[0], id="run-body"):
            with Container(id="terminal"):
                yield self.pane
                yield self.live
            yield self.run_log
            yield self.signals
            yield self.events
            yield self.shell
        yield self.filter

    async def on_unmount(self) -> None:
        await self.attaching.end()

    def here(self) -> Here:
        view = self.view
        if view is None:
            return Here("run")
        seen, card = TABS[self.tabs.chosen], CardView(view.item, view.run)
        return Here("run", view.project, card, view.run, filtered=bool(self.run_log.wanted), subject=seen)

    async def load(self) -> None:
        before = self.view
        self.view = view = await self.model.run(self.run_id)
        self.head.executor = self.header.facts.executor
        self.head.view = view
        self.header.crumbs = (view.project.name, view.item.title, view.run.session_name)
        self.model.warm_terminal()
        if self.attaching.run is not None and not view.run.live:
            await self.attaching.end(f"The run is over: {view.run.status}.", "waiting")
        self._watch(view)
        events = await self.model.run_events(self.run_id, KNOWN)
        self.events.show(events)
        self.signals.show(run_signals.signals(events, view.run, self.desk.clock()))
        self._tell_stop(before, view, events)

    async def arrive(self) -> None:
        run = self.here().run
        if self._attach_at_once and run is not None:
            self.action_show_tab(0)
            await self._attach_to(run)

    def take(self, events: Sequence[Event]) -> None:
        self.attaching.heed(events)
        super().take(events)

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
        self.run_log.close()

    def uncovered(self) -> None:
        super().uncovered()
        if self.view is not None:
            self._watch(self.view)
        if TABS[self.tabs.chosen] == "log":
            self.run_log.open()

    def show_log(self) -> None:
        self.action_show_tab(TABS.index("log"))

    def on_terminal_widget_left(self, message: TerminalWidget.Left) -> None:
        if message.terminal is self.shell:
            self.shelling.leave()
        else:
            self.go(self.attaching.end("Back here; the agent goes on.", "good"))

    def on_terminal_widget_ended(self, message: TerminalWidget.Ended) -> None:
        if message.terminal is self.shell:
            self.go(self.shelling.end(message.why))
        else:
            self.go(self.attaching.end(message.why or "The session let go of the terminal.", "waiting"))

    def action_attach(self) -> None:
        if run := self.here().run:
            self.action_show_tab(0)
            self.ask(self._attach_to(run))

    def action_full(self) -> None:
        self.add_class("-full")
        self.action_attach()

    def action_shell(self) -> None:
        self.ask(self.shelling.open(self.here().directory))

    def action_tab(self, step: int) -> None:
        self.action_show_tab((self.tabs.chosen + step) % len(self.tabs.names))

    def action_show_tab(self, index: int) -> None:
        self.tabs.chosen = index
        self.query_one(ContentSwitcher).current = TABS[index]
        self.filter.display = TABS[index] == "log" and bool(self.filter.text)
        if TABS[index] == "shell":
            self.shell.focus()
        elif TABS[index] == "log":
            self.run_log.open()
        self.refresh_hints()

    def action_scroll(self, lines: int) -> None:
        match TABS[self.tabs.chosen]:
            case "log":
                self.run_log.view.go(lines)
            case "signals":
                self.signals.go(self.signals.cursor + lines)
            case "events":
                self.events.scroll_relative(y=lines, animate=False)
            case _:
                self.pane.scroll(lines)
                below = self.pane.above
                self.tabs.names = (f"Terminal, {below} lines up" if below else "Terminal", *self.tabs.names[1:])

    def action_page(self, step: int) -> None:
        self.action_scroll(step * max(self.query_one(ContentSwitcher).size.height, 2) // 2)

    def action_edge(self, step: int) -> None:
        self.action_scroll(step * FAR)

    def _tell_stop(self, before: RunView | None, view: RunView, events: Sequence[Event]) -> None:
        """A stop moves each second while it is under way; how it came out is said once."""
        if stopping.under_way(view):
            self._second = self._second or self.set_interval(1.0, self.head.tick)
        elif self._second is not None:
            self._second.stop()
            self._second = None
        told = next((event for event in events if event.topic == "run.stopped"), None)
        if told is not None and before is not None and told.seq != self._stop_told:
            self.say(f"{view.run.session_name} {sentence(told)}.", "good")
        self._stop_told = told.seq if told else 0

    def _attached(self, run: Run | None) -> None:
        """What the place looks like while the operator types into the agent."""
        self.set_class(run is not None, "-attached")
        if run is None:
            self.remove_class("-full")
            self.set_focus(None)
        else:
            self.live.border_title = f"Attached to {run.session_name}, {self.live.way_out} comes back"

    async def _attach_to(self, run: Run) -> None:
        if not await self.attaching.begin(run):
            await self._take_terminal(run)
        if self.attaching.run is None:
            self.remove_class("-full")

    def _shell_shown(self, shown: bool) -> None:
        """It has a tab as long as it lives; where another is read meanwhile, that one stays."""
        seen = TABS[self.tabs.chosen] == "shell"
        self.tabs.names = (*self.tabs.names[: len(NAMES)], *(["Shell"] if self.shelling.lives else []))
        if shown or seen:
            self.action_show_tab(TABS.index("shell") if shown else 0)

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
        follow(self, self.pane, frames, group="pane")
