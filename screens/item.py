"""One item: what it is, its description, its runs and children, and the screen of the run that speaks for it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

from textual.binding import BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.events import Resize
from textual.widget import Widget
from textual.widgets import Markdown, Static

from screens import actions
from screens.actions import Here
from screens.ages import ago
from screens.bursts import touched
from screens.chips import KIND_GLYPHS
from screens.confine import confined, one_line
from screens.deeds import DeedsScreen
from screens.desk import Desk
from screens.dialogs import NewItemDialog
from screens.messages import OpenItem, OpenRun
from screens.model import ItemView
from screens.place import TALL
from screens.widgets.entries import EntryList
from screens.widgets.peek import Peek
from store.records import Event, Run

_NO_DESCRIPTION = "*No description.*"


class ItemScreen(DeedsScreen):
    """Everything about an item on one page."""

    PLACE = "item"
    BINDINGS: ClassVar[list[BindingType]] = [*actions.bindings("item")]

    def __init__(self, desk: Desk, item_id: str) -> None:
        super().__init__(desk)
        self.item_id = item_id
        self.view: ItemView | None = None
        self.entries = EntryList(desk.clock)
        self.peek = Peek(desk.model, ("a", "attaches"))
        self._described = ""

    def compose_place(self) -> Iterator[Widget]:
        yield Static(id="item-head")
        with Horizontal(id="item-body"):
            with VerticalScroll(id="item-text", can_focus=False):
                yield Markdown(_NO_DESCRIPTION, open_links=False)
            yield self.entries
        yield self.peek

    def here(self) -> Here:
        view = self.view
        return Here("item", view.project, view.card, view.card.run) if view else Here("item")

    async def load(self) -> None:
        self.view = view = await self.model.item(self.item_id)
        self.header.crumbs = (view.project.name, *(item.title for item in view.ancestors), view.card.item.title)
        self.query_one("#item-head", Static).update(self._head(view))
        self.entries.show(view)
        described = "\n".join(map(confined, view.card.item.description.split("\n"))).strip() or _NO_DESCRIPTION
        if described != self._described:
            self._described = described
            await self.query_one(Markdown).update(described)
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
        self.peek.display = event.size.height >= TALL
        self.call_after_refresh(self._look)

    def on_entry_list_opened(self) -> None:
        self.action_open()

    def action_step(self, step: int) -> None:
        self.entries.step(step)

    def action_page(self, step: int) -> None:
        text = self.query_one("#item-text", VerticalScroll)
        text.scroll_relative(y=step * max(text.size.height // 2, 1), animate=False)

    def action_open(self) -> None:
        chosen = self.entries.chosen
        if chosen is not None:
            self.request(OpenRun(chosen.id) if isinstance(chosen, Run) else OpenItem(chosen.item.id))
        else:
            self.say("Nothing to open yet: s starts a run, n makes a child.", "waiting")

    def action_new(self) -> None:
        self.ask(self._new())

    async def _new(self) -> None:
        view = self.view
        if view is None:
            return
        cards = [view.card, *view.children]
        made = await self.app.push_screen_wait(
            NewItemDialog(view.project.id, cards, self.model.create_item, under=view.card)
        )
        if made is not None:
            with self.trying():
                await self.load()

    def _look(self) -> None:
        if self.view is not None and self.peek.display:
            self.peek.look_at(self.view.card, self.desk.clock())

    def _head(self, view: ItemView) -> Content:
        item, now = view.card.item, self.desk.clock()
        parts: list[str | tuple[str, str]] = [(one_line(item.title), "bold $ink"), "\n"]
        parts += [(f"{KIND_GLYPHS[item.kind]} {item.kind}", "$kind"), (f"  {item.status}", "bold $accent")]
        if item.assignee:
            parts.append((f"  @{one_line(item.assignee)}", "$person"))
        parts += [(f"  #{one_line(label)}", "$label") for label in item.labels]
        made, changed = ago(item.created_at, now), ago(item.updated_at, now)
        parts.append((f"  {item.path}  made {made}, changed {changed}", "$soft"))
        return Content.assemble(*parts)
