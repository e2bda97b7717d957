"""The board: a project's items in four columns, moved and worked on by keys."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar, Final

from textual.binding import BindingType
from textual.containers import Horizontal
from textual.events import Resize
from textual.widget import Widget
from textual.widgets import Static

from screens import actions, session
from screens.actions import Here
from screens.board_several import BoardSeveral
from screens.board_state import BoardState, beside
from screens.bursts import touched
from screens.desk import Desk
from screens.filters import Filter
from screens.messages import OpenItem, OpenProject, OpenRun
from screens.place import TALL
from screens.session import Facts
from screens.welcome import welcome
from screens.widgets.column import CardColumn
from screens.widgets.filter_line import FilterLine
from screens.widgets.peek import Peek
from screens.widgets.tabs import TabLine
from store.records import ITEM_STATUSES, Event, Item, ItemStatus

PEEKABLE: Final = 16
"""Lines from which a peek leaves room for cards."""
MANY: Final = 64
"""From this many touched ids on, the whole board is read at once."""
_HINTS: dict[ItemStatus, tuple[str, ...]] = {
    "todo": ("Nothing to do.", "n makes an item"),
    "doing": ("Nothing under way.", "L moves a card here"),
    "done": ("Nothing done yet.", "L moves a card here"),
    "cancelled": ("Nothing cancelled.",),
}


class BoardScreen(BoardSeveral):
    """One project's board; ``project_id`` None stands for a home without projects."""

    PLACE = "board"
    BINDINGS: ClassVar[list[BindingType]] = [*actions.bindings("board")]
    AUTO_FOCUS = ""
    CLEARS = "unfilter"

    def __init__(self, desk: Desk, project_id: str | None) -> None:
        super().__init__(desk)
        self.project_id = project_id
        self.columns = {status: CardColumn(status, desk.clock) for status in ITEM_STATUSES}
        self.active = self.columns["todo"]
        self.tabs = TabLine("show_column", id="column-tabs")
        self.peek = Peek(desk.model, ("space", "hides"))
        self.filter = FilterLine()
        self.everything = bool(session.flag(desk.session.of(self.remembered_as), "everything"))
        """Whether the cards of all projects are shown."""
        self._peeking: bool | None = None

    def compose_place(self) -> Iterator[Widget]:
        yield Static(id="welcome")
        yield self.tabs
        with Horizontal(id="columns"):
            yield from self.columns.values()
        yield self.peek
        yield self.filter

    def here(self) -> Here:
        column = self.active
        card = None if column.folded else column.card
        project = self.state.project if self.state else None
        run = card.run if card else None
        chosen = len(self.state.selected) if self.state else 0
        filtered = bool(self.filter.text)
        return Here("board", project, card, run, column.status, filtered, column.folded, chosen=chosen)

    async def load(self) -> None:
        self.set_class(self.project_id is None, "-empty")
        if self.project_id is None:
            self.query_one("#welcome", Static).update(welcome(await self.model.first_start()))
            return
        view = await self.model.board(self.project_id, everything=self.everything)
        archived = " (archived)" if view.project.status == "archived" else ""
        self.header.crumbs = ("All projects",) if self.everything else (view.project.name + archived,)
        if self.state is None:
            self.state = BoardState(view)
            self._activate("doing" if self.state.count("doing") else "todo")
        else:
            self.state.replace(view)
        self.paint(ITEM_STATUSES)

    async def changed(self, events: Sequence[Event]) -> None:
        if self.project_id is None:
            await self._find_project()
            return
        if self.state is None:
            await self.load()  # the first reading may have begun before these events
            return
        ids = touched(events)
        whole = {"project.updated", "project.archived", "work_item.deleted", "work_item.reparented"}
        whole |= {"project.created"} if self.everything else set()
        if len(ids) > MANY or any(event.topic in whole for event in events):
            await self.load()
            return
        wanted = self.state.concerned(ids) - {self.state.project.id}
        if wanted:
            self.paint(self.state.update(wanted, await self.model.cards(wanted)))

    def tick(self) -> None:
        super().tick()
        for column in self.columns.values():
            column.tick()
        self._look()

    def covered(self) -> None:
        self.peek.close()

    def uncovered(self) -> None:
        super().uncovered()
        self._look()
        if self.project_id is None:
            self.go(self._find_project())

    @property
    def remembered_as(self) -> str:
        return f"board {self.project_id}"

    def remembers(self) -> Facts:
        card = self.active.card
        return {
            "column": self.active.status,
            "card": card.item.id if card else None,
            "folded": [status for status, column in self.columns.items() if column.folded],
            "peek": self._peeking,
            "filter": self.filter.text,
            "everything": self.everything,
        }

    def restore(self, facts: Facts) -> None:
        if self.state is None or not facts:
            return
        for status in session.names(facts, "folded"):
            if status in ITEM_STATUSES:
                self.columns[status].fold(True)
        peeking = session.flag(facts, "peek")
        if peeking is not None:
            self._peeking = peeking
            self.peek.display = peeking and self.size.height >= PEEKABLE
        self.filter.put(session.text(facts, "filter"))
        self.state.filter = Filter.of(self.filter.text)
        self.paint(ITEM_STATUSES)
        status = session.text(facts, "column")
        if status in ITEM_STATUSES:
            self._activate(status)
        card = self.state.card(session.text(facts, "card"))
        if card is not None and not self.columns[card.item.status].folded:
            self.find(card.item)

    def find(self, item: Item) -> None:
        """Put the cursor on an item's card."""
        self._activate(item.status)
        self.active.find(item.id)

    # What happens

    def on_resize(self, event: Resize) -> None:
        if self._peeking is None:
            self.peek.display = event.size.height >= TALL and self.project_id is not None
        elif self._peeking:
            self.peek.display = event.size.height >= PEEKABLE
        self.call_after_refresh(self._look)

    def on_card_column_entered(self, message: CardColumn.Entered) -> None:
        if message.column is self.active:
            self._look()
            self.refresh_hints()

    def on_card_column_focused(self, message: CardColumn.Focused) -> None:
        if message.column is not self.active and message.column is self.focused:
            self._activate(message.column.status)

    def on_card_column_opened(self) -> None:
        self.action_open()

    def narrow(self) -> None:
        if self.state is not None:
            self.state.filter = Filter.of(self.filter.text)
            self.narrowed(self.state.filter)
            self.paint(ITEM_STATUSES)

    def filter_left(self) -> None:
        """The keys go to what was found: to the column they were in, else to the first that has any."""
        found = [status for status in ITEM_STATUSES if self.columns[status].card]
        if found and self.active.card is None:
            self._activate(found[0])
        self.active.focus()

    def on_paste(self) -> None:
        self.say("A card has no place for what was pasted. Press n first: it becomes a new item.", "waiting")

    # What the keys do

    def action_column(self, step: int) -> None:
        status: ItemStatus | None = beside(self.active.status, step)
        if status is not None:
            self._activate(status)

    def action_show_column(self, index: int) -> None:
        self._activate(ITEM_STATUSES[index])

    def action_step(self, step: int) -> None:
        self.active.go(self.active.cursor + step)

    def action_page(self, step: int) -> None:
        self.active.page(step)

    def action_edge(self, step: int) -> None:
        self.active.edge(step)

    def action_open(self) -> None:
        card = self.active.card
        if card is not None and card.waiting:
            self.action_answer()
        elif card is not None:
            self.request(OpenRun(card.run.id) if card.run else OpenItem(card.item.id))

    def action_peek(self) -> None:
        if self.size.height < PEEKABLE:
            self.say("The window is too low for a peek. Enter opens the run.", "waiting")
            return
        self._peeking = not self.peek.display
        self.peek.display = self._peeking
        if self._peeking:
            self.call_after_refresh(self._look)
        else:
            self.peek.close()

    def action_collapse(self) -> None:
        self.active.fold(not self.active.folded)
        self.paint([self.active.status])

    def action_unfilter(self) -> None:
        if not self.let_go():
            self.filter.action_clear()

    def action_everything(self) -> None:
        self.go(self._show_all(not self.everything))

    def only_project(self) -> None:
        """Show its own project, and no other."""
        if self.everything:
            self.go(self._show_all(False))

    # Below

    def _activate(self, status: ItemStatus) -> None:
        column = self.columns[status]
        if not column.has_class("-active"):
            self.active.remove_class("-active")
            column.add_class("-active")
            self.active.redraw_cursor()
            column.redraw_cursor()
        self.active = column
        self.tabs.chosen = ITEM_STATUSES.index(status)
        if not self.filter.typing:
            self.set_focus(column)  # at once: a column that hears of its focus late must not take the keys back
        self._look()
        self.refresh_hints()

    def follow(self, item_id: str, status: ItemStatus) -> None:
        """Keep the cursor with a card that moved, when the keys were on it."""
        if self.columns[status].find(item_id):
            self._activate(status)

    def paint(self, statuses: Iterable[ItemStatus]) -> None:
        state = self.state
        if state is None:
            return
        for status in statuses:
            shown, total = state.shown(status), state.count(status)
            hint = ("Nothing matches the filter.", "esc clears it") if total and not shown else _HINTS[status]
            self.columns[status].show(shown, total, hint)
        self.tabs.names = tuple(f"{status.upper()} {self.columns[status].count}" for status in ITEM_STATUSES)
        self._look()
        self.refresh_hints()

    def _look(self) -> None:
        if self.peek.display and self.is_current:
            self.peek.look_at(self.here().card, self.desk.clock())

    async def _show_all(self, everything: bool) -> None:
        self.everything = everything
        with self.trying("Reading every project…" if everything else "Reading the project…"):
            await self.load()
            count = len(self.state.projects) if self.state else 0
            name = self.state.project.name if self.state else ""
            self.say(f"The cards of {count} projects; P shows one." if everything else f"The cards of {name}.")

    async def _find_project(self) -> None:
        """Open the project that was made elsewhere while there was none; a dialog that is open goes first."""
        projects = await self.model.projects()
        if projects and self.is_active:
            self.post_message(OpenProject(projects[0].project.id))
