"""What the keys of the board change: a card's column, its place, its existence.

A move is drawn before the store is asked. When the store refuses, the card goes back and the reason is said.
"""

from __future__ import annotations

from collections.abc import Iterable

from screens import actions
from screens.actions import BY_ID
from screens.board_state import BoardState, beside, legal, next_legal
from screens.desk import Desk
from screens.dialogs import Confirm, NewItemDialog
from screens.model import CardView
from screens.saved_filters import SavedFilters
from screens.widgets.column import CardColumn
from screens.widgets.spans import quoted
from store.records import Item, ItemStatus


class BoardMoves(SavedFilters):
    """The half of the board that writes; the other half draws."""

    columns: dict[ItemStatus, CardColumn]
    active: CardColumn
    """The column that the keys go to."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self.state: BoardState | None = None
        """None until it is read."""
        self._offer: tuple[str, ItemStatus] | None = None
        """A card and where the key that was just refused moves it when it is pressed again."""

    def paint(self, statuses: Iterable[ItemStatus]) -> None:
        """Draw columns anew from the state."""
        raise NotImplementedError

    def follow(self, item_id: str, status: ItemStatus) -> None:
        """Go with a card that moved."""
        raise NotImplementedError

    def find(self, item: Item) -> None:
        """Put the cursor on an item's card."""
        raise NotImplementedError

    def action_new(self) -> None:
        self.ask(self._new())

    def action_delete(self) -> None:
        if card := self.active.card:
            self.ask(self._delete(card))

    def action_shift(self, step: int) -> None:
        """Move the card to the column beside; where that is no legal edge, say which there are."""
        card = self.active.card
        if card is None:
            return
        status = card.item.status
        target, beyond = beside(status, step), next_legal(status, step)
        if target is None:
            self.say(f"There is no column to the {'left' if step < 0 else 'right'} of {status}.", "waiting")
        elif beyond is not None and (target == beyond or self._offer == (card.item.id, beyond)):
            self._shift(card, beyond)
        else:
            key = actions.keys_of(BY_ID["board.move-left" if step < 0 else "board.move-right"], self.desk.keymap)[0]
            again = f" {key} again moves it to {beyond}." if beyond else ""
            self.say(f"A {status} item can't become {target}; it can become {legal(card)}.{again}", "waiting")
            self._offer = (card.item.id, beyond) if beyond else None

    async def action_do(self, name: str) -> None:
        if name not in ("board.move-left", "board.move-right"):
            self._offer = None
        await super().action_do(name)

    def action_reorder(self, step: int) -> None:
        card = self.active.card
        if card is None or self.state is None:
            return
        other = self.state.neighbour(card.item.id, step)
        if other is not None and other.item.project_id != card.item.project_id:
            self.say("That card is of another project. P shows one project, and there cards have an order.", "waiting")
        elif other is None:
            self.say(f"It is the {'first' if step < 0 else 'last'} card of the column.", "waiting")
        else:
            self.paint(self.state.swap(card.item.id, other.item.id))
            self.go(self._reorder(self.state, card, other, step))

    def _shift(self, card: CardView, target: ItemStatus) -> None:
        """Drawn before the next key is read, so that a second press acts on what the first one did."""
        self._offer = None
        if self.state is not None:
            self.paint(self.state.move(card.item.id, target))
            self.follow(card.item.id, target)
            self.go(self._move(self.state, card, target))

    async def _move(self, state: BoardState, card: CardView, target: ItemStatus) -> None:
        item_id = card.item.id
        async with self.turn:
            with self.trying(f"Moving to {target}…"):
                await self.model.move_item(item_id, target)
        now: CardView | None = card
        with self.trying():
            now = (await self.model.cards([item_id])).get(item_id)
        there = self.active.card
        self.paint(state.settle(item_id, target, now))
        if now is not None and there is not None and there.item.id == item_id:
            self.follow(item_id, now.item.status)

    async def _reorder(self, state: BoardState, card: CardView, other: CardView, step: int) -> None:
        both = [card.item.id, other.item.id]
        async with self.turn:
            with self.trying("Reordering…"):
                if step > 0:
                    await self.model.reorder_item(card.item.id, after=other.item.id)
                else:
                    await self.model.reorder_item(card.item.id, before=other.item.id)
        with self.trying():
            self.paint(state.update(both, await self.model.cards(both)))

    async def _new(self) -> None:
        if self.state is None:
            return
        here, several = self.active.card, bool(self.state.projects)
        project_id = here.item.project_id if here and several else self.state.project.id
        cards = [card for card in self.state.cards() if card.item.project_id == project_id]
        name = self.state.projects[project_id].name if several else ""
        item = await self.app.push_screen_wait(NewItemDialog(project_id, cards, self.model.create_item, of=name))
        if item is not None:
            with self.trying():
                self.paint(self.state.update([item.id], await self.model.cards([item.id])))
            self.find(item)

    async def _delete(self, card: CardView) -> None:
        lost = ["its history of runs"] if card.run_count else []
        if card.children_total:
            lost.insert(0, "everything under it")
        consequence = f"The item goes with {' and '.join(lost)}." if lost else "The item is gone for good."
        sure = await self.app.push_screen_wait(
            Confirm(f"Delete {quoted(card.item.title)}?", consequence, yes="Delete it", no="Keep it")
        )
        if sure:
            with self.trying("Deleting…"):
                await self.model.delete_item(card.item.id)
                self.say(f"Deleted {quoted(card.item.title)}.", "good")
