"""What the keys of the tree change: an item's status, where it hangs, its children.

A change is drawn before the store is asked. When the store refuses, the item goes back and the reason is said.
"""

from __future__ import annotations

from screens.board_state import next_legal
from screens.desk import Desk
from screens.dialogs import Confirm, NewItemDialog
from screens.model import CardView
from screens.saved_filters import SavedFilters
from screens.tree_state import TreeState
from screens.tree_targets import trouble
from screens.widgets.spans import quoted
from store.records import ItemStatus


class TreeMoves(SavedFilters):
    """The half of the tree that writes; the other half draws."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self.state: TreeState | None = None
        """None until it is read."""
        self.picking = ""
        """The item for which a place to hang is picked."""

    def paint(self) -> None:
        """Draw the outline anew from the state."""
        raise NotImplementedError

    @property
    def _card(self) -> CardView | None:
        return self.state.chosen if self.state else None

    def action_new(self) -> None:
        self.ask(self._new(self._card))

    def action_beside(self) -> None:
        card = self._card
        parent = card.item.parent_id if card else None
        self.ask(self._new(self.state.card(parent) if self.state and parent else None))

    def action_shift(self, step: int) -> None:
        """Give the item the next status in a direction that it may have."""
        card = self._card
        if card is None or self.state is None:
            return
        target = next_legal(card.item.status, step)
        if target is None:
            way = "back" if step < 0 else "on"
            self.say(f"There is no way {way} from {card.item.status}.", "waiting")
        elif target == "cancelled" and self.state.branch(card.item.id).open:
            self.ask(self._cancel(card, self.state.branch(card.item.id).open))
        else:
            self._shift(card, target)

    def action_hang(self) -> None:
        """Begin to pick where the item hangs."""
        if (card := self._card) is not None and self.state is not None:
            self.picking = card.item.id
            self.state.roofed = True
            self.state.settle()
            self.paint()
            self.say(f"Where should {quoted(card.item.title, 30)} hang? Go there and press enter; esc leaves it.")

    def pick(self) -> None:
        """Hang the item below the row under the cursor, or say why not."""
        state, item_id = self.state, self.picking
        if state is None or not state.rows:
            return
        target = state.rows[state.place].id
        if why := trouble(state, item_id, target):
            self.say(why, "waiting")
            return
        self.picking = ""
        state.roofed = False
        state.begin(item_id, parent=target or None)
        state.find(item_id)
        self.paint()
        self.footer.hush()
        self.go(self._hang(state, item_id, target or None))

    def stop_picking(self) -> None:
        """Leave the item where it hangs, with the cursor on it."""
        if self.state is not None:
            item_id, self.picking = self.picking, ""
            self.state.roofed = False
            self.state.settle()
            self.state.find(item_id)
            self.footer.hush()
            self.paint()

    def _shift(self, card: CardView, target: ItemStatus) -> None:
        """Drawn before the next key is read, so that a second press acts on what the first one did."""
        if self.state is not None:
            self.state.begin(card.item.id, status=target)
            self.paint()
            self.go(self._move(self.state, card, target))

    async def _cancel(self, card: CardView, open_below: int) -> None:
        items = "1 open item" if open_below == 1 else f"{open_below} open items"
        sure = await self.app.push_screen_wait(
            Confirm(
                f"Cancel {quoted(card.item.title, 30)}?",
                f"{items} below it {'is' if open_below == 1 else 'are'} cancelled with it; what is done stays done.",
                yes="Cancel it",
                no="Keep it",
            )
        )
        if sure:
            self._shift(card, "cancelled")

    async def _move(self, state: TreeState, card: CardView, target: ItemStatus) -> None:
        async with self.turn:
            with self.trying(f"Changing it to {target}…"):
                await self.model.move_item(card.item.id, target)
        now = await self._read(card)
        state.end(card.item.id, now, status=target)
        self.paint()

    async def _hang(self, state: TreeState, item_id: str, parent_id: str | None) -> None:
        card = state.card(item_id)
        if card is None:
            return
        async with self.turn:
            with self.trying("Moving…"):
                await self.model.reparent_item(item_id, parent_id)
                parent = state.card(parent_id or "")
                self.say(
                    f"It hangs below {quoted(parent.item.title)} now." if parent else "It is at the top level.", "good"
                )
        state.end(item_id, await self._read(card))
        state.find(item_id)
        self.paint()

    async def _read(self, card: CardView) -> CardView | None:
        """The item as the store has it now; as it was, when that can't be read."""
        with self.trying():
            return (await self.model.cards([card.item.id])).get(card.item.id)
        return card

    async def _new(self, under: CardView | None) -> None:
        if self.state is None:
            return
        item = await self.app.push_screen_wait(
            NewItemDialog(self.state.project.id, self.state.cards(), self.model.create_item, under=under)
        )
        if item is not None:
            with self.trying():
                self.state.update([item.id], await self.model.cards([item.id]))
            self.state.find(item.id)
            self.paint()
