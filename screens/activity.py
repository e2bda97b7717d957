"""The journal as sentences, newest first: a place of its own, and a drawer over any other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import ClassVar, Final

from textual.binding import BindingType
from textual.containers import Vertical
from textual.timer import Timer
from textual.widget import Widget

from screens import actions, marks, session
from screens.actions import Here
from screens.activity_filter import GRAMMAR, KINDS, lets, wanted
from screens.activity_state import PAGE, ActivityState
from screens.desk import Desk
from screens.filtered import FilteredScreen
from screens.keys_in_order import room_of
from screens.messages import OpenItem, OpenPlace, OpenProject, OpenRun
from screens.session import Facts
from screens.widgets.event_facts import EventFacts
from screens.widgets.filter_line import FilterLine
from screens.widgets.journal import JournalList
from screens.widgets.tabs import TabLine
from store.history import Page, Wanted
from store.journal import COUNTED
from store.records import Event

SETTLED_S: Final = 1.0
"""After this long in sight, what is new counts as looked at."""
BURST: Final = 5
"""Pages of new events that are taken at once; beyond that the newest are read anew."""
_UNREADABLE: Final = ("The journal cannot be read now. Nothing of it is lost.", "g tries again")


class ActivityScreen(FilteredScreen):
    """One for the whole control room."""

    PLACE = "activity"
    BINDINGS: ClassVar[list[BindingType]] = [*actions.bindings("activity")]
    AUTO_FOCUS = ""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self.state = ActivityState()
        self.kinds = TabLine("show_kind", [kind.name for kind in KINDS], id="kinds")
        self.journal = JournalList(desk.clock)
        self.facts = EventFacts(desk.clock)
        self.filter = FilterLine(GRAMMAR)
        self.following = True
        """Whether the cursor stays on the newest event, whatever comes."""
        self._wanted = Wanted()
        self._ends = (0, 0)
        self._reading = False
        self._read = False
        self._looked: Timer | None = None

    def compose_place(self) -> Iterator[Widget]:
        yield self.kinds
        yield self.journal
        yield self.facts
        yield self.filter

    def here(self) -> Here:
        event = self.state.chosen
        narrowed = bool(self.filter.text) or self.kinds.chosen > 0
        if event is None:
            return Here("activity", filtered=narrowed)
        link = marks.link(event)
        return Here("activity", filtered=narrowed, subject=link.noun if link else "nothing")

    async def load(self) -> None:
        self.header.crumbs = ("all projects", "Activity")
        await self._restart()

    async def changed(self, events: Sequence[Event]) -> None:
        if not events:
            return
        self._ends = (self._ends[0], max(self._ends[1], events[-1].seq))
        if any(lets(self._wanted, each.topic, each.actor, each.topic in COUNTED) for each in events):
            await self._take_newer()
        self._say_where()
        self._look()

    def tick(self) -> None:
        super().tick()
        self.journal.refresh()

    def uncovered(self) -> None:
        super().uncovered()
        self._look()

    def remembers(self) -> Facts:
        return {"kind": KINDS[self.kinds.chosen].name, "filter": self.filter.text}

    def restore(self, facts: Facts) -> None:
        kind = session.text(facts, "kind")
        self.kinds.chosen = next((at for at, each in enumerate(KINDS) if each.name == kind), 0)
        self.filter.put(session.text(facts, "filter"))
        self.narrow()

    # What happens

    def on_journal_list_pressed(self, message: JournalList.Pressed) -> None:
        self._go(message.place)
        if message.again:
            self.action_open()

    def on_cursor_lines_scrolled(self) -> None:
        """The cursor goes along with what is seen."""
        first, last = self.journal.seen
        if not first <= self.state.place <= last:
            self._go(first if self.state.place < first else last)

    # What the keys do

    def action_open(self) -> None:
        link = marks.link(self.state.chosen) if self.state.chosen else None
        if link is None:
            return
        match link.noun:
            case "run":
                self.request(OpenRun(link.id))
            case "item":
                self.request(OpenItem(link.id))
            case "project":
                self.request(OpenProject(link.id))
            case "host":
                self.request(OpenPlace("hosts"))

    def action_open_item(self) -> None:
        facts = self.state.chosen.payload if self.state.chosen else {}
        item_id = facts.get("item_id") or facts.get("task_id")
        if item_id:
            self.request(OpenItem(str(item_id)))
        else:
            self.say("This event is about no item. Enter opens what it is about.", "waiting")

    def action_copy(self) -> None:
        link = marks.link(self.state.chosen) if self.state.chosen else None
        if link is not None:
            self.app.copy_to_clipboard(link.id)
            self.say(f"Copied the {link.noun}'s id: {link.id}", "good")

    def action_kind(self, step: int) -> None:
        self.action_show_kind((self.kinds.chosen + step) % len(KINDS))

    def action_show_kind(self, index: int) -> None:
        self.kinds.chosen = index
        self.narrow()

    def action_step(self, step: int) -> None:
        self._go(self.state.place + step)

    def action_page(self, step: int) -> None:
        self._go(self.state.place + step * max(self.journal.size.height - 1, 1))

    def action_edge(self, step: int) -> None:
        self.go(self._restart() if step < 0 else self._to_the_oldest())

    def action_leave(self) -> None:
        if self.kinds.chosen and not self.filter.text:
            self.action_show_kind(0)
        else:
            super().action_leave()

    def action_drawer(self) -> None:
        self.say("All of it is here already.")

    # Below

    def _go(self, place: int) -> None:
        if self.state.go(place):
            self.following = False
            self.journal.follow()
            self._say_where()
            self.refresh_hints()
        if self.state.wants_older or self.state.wants_newer:
            self.go(self._read_on())

    def narrow(self) -> None:
        asked = wanted(self.filter.text, KINDS[self.kinds.chosen])
        if asked != self._wanted:
            self._wanted = asked
            self.run_worker(self._restart(), group="narrow", exclusive=True)

    async def _restart(self) -> None:
        """From the newest event on."""
        asked = self._wanted
        with self.trying("Reading the journal…"):
            self._ends = await self.model.journal_ends()
            page = await self.model.older_events(None, asked, PAGE)
            if asked != self._wanted:
                return
            self.state.begin(page, self._ends[1])
            self.following, self._read = True, True
            self.journal.scroll_to(y=0, animate=False, immediate=True, force=True)
            self._paint()
            await self._look_further(asked)
        if not self._read:
            self.journal.show(self.state, hint=_UNREADABLE)
        self._look()

    async def _look_further(self, asked: Wanted) -> None:
        """What is rare may be far back: go on until a window is full, as long as it is still what is asked for."""
        while self.state.below and len(self.state.events) < self.size.height and asked == self._wanted:
            if not self.is_attached:
                return
            self._append(await self.model.older_events(self.state.bottom, asked, PAGE), asked)

    async def _to_the_oldest(self) -> None:
        asked = self._wanted
        with self.trying("Reading the oldest events…"):
            page = Page(more=True)
            while page.more and not page.events and asked == self._wanted:
                page = await self.model.newer_events(page.reached, asked, PAGE)
            if asked != self._wanted or not page.events:
                return
            oldest = replace(page, reached=0, more=False)
            self.state.begin(oldest, page.reached, above=page.more)
            self.following = False
            self.state.go(len(page.events) - 1)
            self._paint()

    async def _read_on(self) -> None:
        """The next page at the end that the cursor has come near to; one at a time."""
        if self._reading:
            return
        self._reading = True
        asked = self._wanted
        try:
            with self.trying("Reading on…"):
                while asked == self._wanted and self.is_attached:
                    if self.state.wants_older:
                        self._append(await self.model.older_events(self.state.bottom, asked, PAGE), asked)
                    elif self.state.wants_newer:
                        self._prepend(await self.model.newer_events(self.state.top, asked, PAGE), asked)
                    else:
                        break
        finally:
            self._reading = False

    async def _take_newer(self) -> None:
        """What has just happened, unless the cursor is so far back that newer events are not in hand anyway."""
        asked = self._wanted
        for _ in range(BURST):
            if self.state.above or not self._read or asked != self._wanted:
                return
            page = await self.model.newer_events(self.state.top, asked, PAGE)
            self._prepend(page, asked)
            if not page.more:
                return
            self.state.above = False
        await self._restart() if self.following else None

    def _append(self, page: Page, asked: Wanted) -> None:
        if asked == self._wanted:
            cut = self.state.append(page)
            self._paint(shift=-cut)

    def _prepend(self, page: Page, asked: Wanted) -> None:
        if asked != self._wanted:
            return
        fresh = self.state.prepend(page)
        if self.following:
            self.state.go(0)
        self._paint(shift=0 if self.following else fresh)

    def _paint(self, *, shift: int = 0) -> None:
        end = "Looking further back…" if self.state.below else "The journal begins here."
        self.journal.show(self.state, shift=shift, hint=self._hint(), end=end)
        self._say_where()
        self.refresh_hints()

    def _hint(self) -> tuple[str, ...]:
        if self.state.below:
            return ("Looking further back…",)
        if self.filter.text or self.kinds.chosen:
            return ("Nothing in the journal matches.", "esc shows all of it")
        return ("Nothing has happened yet.", "Press 1 for the board: n makes a task, s starts an agent on it")

    def _say_where(self) -> None:
        event = self.state.chosen
        newest = self._ends[1]
        above = "▲ newer, g goes there   " if self.state.above or not self.following else ""
        where = f"{above}{event.seq:,} of {newest:,}" if event else f"{newest:,} events"
        self.facts.show(event, where)

    def _look(self) -> None:
        """Soon all that is in hand counts as looked at, if the newest of it is in sight."""
        if self._looked is None and self._read and self.is_current:
            self._looked = self.set_timer(SETTLED_S, self._saw)

    def _saw(self) -> None:
        self._looked = None
        if self.is_current and not self.state.above:
            self.go(self._remember_seen())

    async def _remember_seen(self) -> None:
        with self.trying():
            await self.model.saw_events(self._ends[1])
            await self._read_header()

    async def _read_header(self) -> None:
        """What is in sight is not new."""
        facts = await self.model.header()
        self.header.facts = replace(facts, unread=0) if self.is_current and self.following else facts


class ActivityDrawer(ActivityScreen):
    """The same over the lower part of a place, which goes on above it."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._modal = True

    def compose_place(self) -> Iterator[Widget]:
        with Vertical(id="drawer") as drawer:
            drawer.border_title = "Activity"
            yield from super().compose_place()

    @property
    def remembered_as(self) -> str:
        return "drawer"

    def action_back(self) -> None:
        self.dismiss()

    def action_drawer(self) -> None:
        self.dismiss()

    def action_place(self, name: str) -> None:
        room = room_of(self)
        self.dismiss()
        room.post_message(OpenPlace(name))
