"""One item: what it is, its description, its runs and children, and the screen of the run that speaks for it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

from textual.binding import BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.events import Resize
from textual.widget import Widget
from textual.widgets import Static

from screens import actions, marks
from screens.actions import Here
from screens.ages import ago
from screens.amounts import all_cost, all_tokens
from screens.bursts import touched
from screens.chips import KIND_GLYPHS
from screens.confine import one_line
from screens.desk import Desk
from screens.item_moves import ItemMoves
from screens.messages import OpenItem, OpenRun
from screens.model import CardView, ItemView
from screens.place import TALL
from screens.shelling import Shelling
from screens.widgets.entries import EntryList
from screens.widgets.outline_row import MARKS
from screens.widgets.peek import Peek
from screens.widgets.prose import Prose
from screens.widgets.terminal import TerminalWidget
from store.records import Event, Run
from store.usage import RollUp


class ItemScreen(ItemMoves):
    """Everything about an item on one page."""

    PLACE = "item"
    BINDINGS: ClassVar[list[BindingType]] = [*actions.bindings("item")]

    def __init__(self, desk: Desk, item_id: str) -> None:
        super().__init__(desk)
        self.item_id = item_id
        self.view: ItemView | None = None
        self.entries = EntryList(desk.clock)
        self.peek = Peek(desk.model, ("a", "attaches"))
        self.text = Prose(id="item-text", nothing="No description. e writes one.")
        self.shell = TerminalWidget(desk.keys("terminal.leave"), id="shell")
        self.shelling = Shelling(self, self.shell, self._shell_shown)
        self._amounts: RollUp | None = None

    @property
    def subject(self) -> str:
        return self.item_id

    def compose_place(self) -> Iterator[Widget]:
        yield Static(id="item-head")
        with Horizontal(id="item-body"):
            yield self.text
            yield self.entries
        yield self.peek
        yield self.shell

    def here(self) -> Here:
        view = self.view
        return Here("item", view.project, view.card, view.card.run) if view else Here("item")

    async def load(self) -> None:
        self.view = view = await self.model.item(self.item_id)
        self.header.crumbs = (view.project.name, *(item.title for item in view.ancestors), view.card.item.title)
        self._amounts = (await self.model.amounts([self.item_id])).get(self.item_id)
        self.query_one("#item-head", Static).update(self._head(view))
        self.entries.show(view)
        self.text.show(view.card.item.description)
        self._look()

    async def changed(self, events: Sequence[Event]) -> None:
        view, ids = self.view, touched(events)
        if view is None:
            return
        known = {self.item_id, *(run.id for run in view.runs)}
        known.update(child.item.id for child in view.children)
        if ids & known or any(event.payload.get("parent_id") == self.item_id for event in events):
            await self.load()

    def tick(self) -> None:
        super().tick()
        if self.view is not None:
            self.query_one("#item-head", Static).update(self._head(self.view))
            self.entries.refresh()
            self._look()

    def covered(self) -> None:
        self.peek.close()

    def uncovered(self) -> None:
        super().uncovered()
        self._look()

    def on_resize(self, event: Resize) -> None:
        self._make_room(event.size.height)

    def on_terminal_widget_left(self) -> None:
        self.shelling.leave()

    def on_terminal_widget_ended(self, message: TerminalWidget.Ended) -> None:
        self.go(self.shelling.end(message.why))

    def on_entry_list_opened(self) -> None:
        self.action_open()

    def action_shell(self) -> None:
        self.ask(self.shelling.open(self.here().directory))

    def action_step(self, step: int) -> None:
        self.entries.step(step)

    def action_page(self, step: int) -> None:
        self.text.scroll_relative(y=step * max(self.text.size.height // 2, 1), animate=False)

    def action_open(self) -> None:
        chosen = self.entries.chosen
        link = marks.link(chosen) if isinstance(chosen, Event) else None
        if isinstance(chosen, Run):
            self.request(OpenRun(chosen.id))
        elif isinstance(chosen, CardView):
            self.request(OpenItem(chosen.item.id))
        elif link is not None and link.noun == "run":
            self.request(OpenRun(link.id))
        elif chosen is not None:
            self.say("That happened to this item itself; there is no more to see of it.", "waiting")
        else:
            self.say("Nothing to open yet: s starts a run, n makes a child.", "waiting")

    def _shell_shown(self, shown: bool) -> None:
        """It lies over the page; nothing of that is looked at meanwhile."""
        self.set_class(shown, "-shell")
        if shown:
            self.peek.close()
        self._make_room(self.size.height)

    def _make_room(self, height: int) -> None:
        self.peek.display = height >= TALL and not self.has_class("-shell")
        self.call_after_refresh(self._look)

    def _look(self) -> None:
        if self.view is not None and self.peek.display and self.is_current:
            self.peek.look_at(self.view.card, self.desk.clock())

    def _head(self, view: ItemView) -> Content:
        item, now = view.card.item, self.desk.clock()
        parts: list[str | tuple[str, str]] = [(one_line(item.title), "bold $ink"), "\n"]
        mark, tone = MARKS[item.status]
        parts += [(f"{KIND_GLYPHS[item.kind]} {item.kind}", "$kind"), (f"  {mark} {item.status}", f"bold ${tone}")]
        if item.assignee:
            parts.append((f"  @{one_line(item.assignee)}", "$person"))
        parts += [(f"  #{one_line(label)}", "$label") for label in item.labels]
        made, changed = ago(item.created_at, now), ago(item.updated_at, now)
        parts.append((f"  {item.path}  made {made}, changed {changed}", "$soft"))
        if self._amounts is not None and self._amounts.runs:
            cost = all_cost(self._amounts)
            parts += [("\ntokens ", "$soft"), (all_tokens(self._amounts), "$ink")]
            parts += [("  cost ", "$soft"), (cost, "$ink")] if cost else []
        return Content.assemble(*parts)
