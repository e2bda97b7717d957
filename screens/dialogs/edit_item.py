"""An item's fields in one form, its description the largest of them; only what was changed is stored."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.widget import Widget
from textual.widgets import Input, TextArea

from screens.dialogs.frame import Dialog
from screens.dialogs.start_run import field
from screens.model.item import ItemChange
from screens.widgets.choice import Choice
from screens.widgets.confined_lines import TextField
from screens.widgets.spans import quoted
from screens.widgets.text_line import TextLine
from store.lifecycle import ITEM_EDGES
from store.records import Item, ItemStatus

Save = Callable[[ItemChange, ItemStatus | None], Awaitable[None]]


class EditItem(Dialog[bool]):
    """True when something was saved; what was typed is thrown away only when Escape is pressed twice."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+s", "save", "Save", show=False, priority=True)]
    WIDE = True

    def __init__(self, item: Item, open_below: int, save: Save) -> None:
        """``open_below``: items that are cancelled with it."""
        super().__init__(f"Edit {quoted(item.title)}", "^s save   ⇥ next   ←→ choose   esc leave")
        self._item = item
        self._open_below = open_below
        self._save = save
        self._warned = ""
        """What was warned of: leaving, or cancelling."""

    def compose_dialog(self) -> Iterator[Widget]:
        item = self._item
        statuses = (item.status, *ITEM_EDGES[item.status])
        yield field("Title", TextLine(item.title, id="title"))
        yield field("Status", Choice([(each, each) for each in statuses], item.status, id="status"))
        yield field("Assignee", TextLine(item.assignee or "", placeholder="nobody", id="assignee"))
        yield field("Labels", TextLine(" ".join(item.labels), placeholder="none", id="labels"))
        yield field("Description", TextField(item.description, id="text", placeholder="Markdown; none yet"))

    def on_mount(self) -> None:
        area = self.query_one("#text", TextArea)
        area.cursor_blink = False
        area.move_cursor(area.document.end)
        area.focus()

    def on_input_submitted(self) -> None:
        self.action_save()

    def action_leave(self) -> None:
        change, status = self._change()
        if (change == ItemChange() and status is None) or self._warned == "leave":
            self.dismiss(None)
        else:
            self._warned = "leave"
            self.complain("It was changed. esc again throws that away, ^s saves it.")

    def action_save(self) -> None:
        change, status = self._change()
        if change.title == "":
            self.complain("It needs a title.")
        elif status == "cancelled" and self._open_below and self._warned != "cancel":
            self._warned = "cancel"
            below = (
                "1 open item below it is" if self._open_below == 1 else f"{self._open_below} open items below it are"
            )
            self.complain(f"{below} cancelled with it. ^s again does so.")
        elif change == ItemChange() and status is None:
            self.dismiss(None)
        elif self.begin():
            self.submit(self._saved(change, status))

    async def _saved(self, change: ItemChange, status: ItemStatus | None) -> bool:
        await self._save(change, status)
        return True

    def _change(self) -> tuple[ItemChange, ItemStatus | None]:
        """What differs from how it was."""
        item = self._item
        title, assignee, labels = (self.query_one(f"#{name}", Input).value for name in ("title", "assignee", "labels"))
        words = tuple(dict.fromkeys(labels.replace(",", " ").replace("#", " ").split()))
        text, who = self.query_one("#text", TextArea).text, assignee.strip().lstrip("@")
        status = next(each for each in ITEM_EDGES if each == self.query_one("#status", Choice).value)
        change = ItemChange(
            title=None if title.strip() == item.title else title.strip(),
            description=None if text == item.description else text,
            assignee=None if who == (item.assignee or "") else who,
            labels=None if set(words) == set(item.labels) else words,
        )
        return change, None if status == item.status else status
