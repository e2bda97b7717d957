"""What the keys of an item's page change: its fields in a form, its description in an editor, its status."""

from __future__ import annotations

from screens.board_state import next_legal
from screens.deeds import DeedsScreen
from screens.dialogs import Confirm, EditItem, NewItemDialog
from screens.messages import EditFile
from screens.model import ItemView
from screens.model.item import ItemChange
from screens.widgets.spans import quoted
from store.errors import Conflict, PamError
from store.records import Item, ItemStatus

OVERTAKEN = "The description was changed elsewhere meanwhile."


class ItemMoves(DeedsScreen):
    """The half of the page that writes; the other half shows."""

    item_id: str
    view: ItemView | None

    def action_new(self) -> None:
        if self.view is not None:
            self.ask(self._new(self.view))

    def action_edit(self) -> None:
        if self.view is not None:
            self.ask(self._change(self.view))

    def action_edit_file(self) -> None:
        if self.view is not None:
            self.go(self._open_editor(self.view.card.item))

    def action_shift(self, step: int) -> None:
        """Give it the next status in a direction that it may have."""
        view = self.view
        if view is None:
            return
        status = view.card.item.status
        target = next_legal(status, step)
        if target is None:
            self.say(f"There is no way {'back' if step < 0 else 'on'} from {status}.", "waiting")
        elif target == "cancelled" and open_below(view):
            self.ask(self._cancel(view))
        else:
            self.go(self._move(target))

    async def _new(self, view: ItemView) -> None:
        cards = [view.card, *view.children]
        made = await self.app.push_screen_wait(
            NewItemDialog(view.project.id, cards, self.model.create_item, under=view.card)
        )
        if made is not None:
            with self.trying():
                await self.load()

    async def _change(self, view: ItemView) -> None:
        begun = view.card.item.description

        async def save(change: ItemChange, status: ItemStatus | None) -> None:
            nonlocal begun
            now = self.view.card.item.description if self.view else begun
            if change.description is not None and now != begun:
                begun = now
                raise Conflict(f"{OVERTAKEN} ^s again puts yours in its place.")
            if change != ItemChange():
                await self.model.change_item(self.item_id, change)
            if status is not None:
                await self.model.move_item(self.item_id, status)

        if await self.app.push_screen_wait(EditItem(view.card.item, open_below(view), save)):
            self.say("Saved.", "good")

    async def _cancel(self, view: ItemView) -> None:
        below = open_below(view)
        items = "1 open item" if below == 1 else f"{below} open items"
        sure = await self.app.push_screen_wait(
            Confirm(
                f"Cancel {quoted(view.card.item.title, 30)}?",
                f"{items} below it {'is' if below == 1 else 'are'} cancelled with it; what is done stays done.",
                yes="Cancel it",
                no="Keep it",
            )
        )
        if sure:
            await self._move("cancelled")

    async def _move(self, target: ItemStatus) -> None:
        async with self.turn:
            with self.trying(f"Changing it to {target}…"):
                await self.model.move_item(self.item_id, target)
                self.say(f"It is {target} now.", "good")

    async def _open_editor(self, item: Item) -> None:
        with self.trying():
            path = await self.model.draft(item.id, item.description)
            self.request(EditFile(path, lambda: self.go(self._take_draft(item, path))))

    async def _take_draft(self, item: Item, path: str) -> None:
        """What was written replaces the description; it stays in its file until that is done."""
        try:
            text = await self.model.read_draft(path)
            if text == item.description.strip("\n"):
                self.say("The description is as it was.")
            elif not await self._may_replace(item):
                self.say(f"The description is as it was. Your text is in {path}.", "waiting")
                return
            else:
                await self.model.change_item(item.id, ItemChange(description=text))
                self.say("The description is saved.", "good")
            await self.model.drop_draft(path)
        except PamError as error:
            self.say(f"{error} Your text is in {path}.", "bad")

    async def _may_replace(self, item: Item) -> bool:
        now = (await self.model.item(item.id)).card.item.description
        if now == item.description:
            return True
        sure = await self.app.push_screen_wait(
            Confirm(
                f"{OVERTAKEN} Put yours in its place?",
                "What was written there is gone then.",
                yes="Replace it",
                no="Leave it",
            )
        )
        return bool(sure)


def open_below(view: ItemView) -> int:
    """Children that are neither done nor cancelled."""
    return sum(child.item.status in ("todo", "doing") for child in view.children)
