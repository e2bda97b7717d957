"""The board without its pictures: which card stands where, what is filtered out, which moves are under way.

A move shows at once. Until the store has answered, what is read of that card keeps its new column; when the store
refuses, the card goes back to where the store says it is.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from datetime import datetime

from screens.filters import Filter
from screens.model import BoardView, CardView
from store.lifecycle import ITEM_EDGES
from store.records import ITEM_STATUSES, Item, ItemStatus, Project


class BoardState:
    """Cards of one project by status; every method that changes something says which columns it touched."""

    def __init__(self, view: BoardView) -> None:
        self.project: Project = view.project
        self.projects: Mapping[str, Project] = view.projects
        """All whose cards are here; empty where it is one."""
        self.filter = Filter()
        self.selected: dict[str, None] = {}
        """Ids of items, in the order in which they were selected."""
        self._columns: dict[ItemStatus, list[CardView]] = {}
        self._where: dict[str, ItemStatus] = {}
        self._moving: dict[str, ItemStatus] = {}
        self.replace(view)

    def replace(self, view: BoardView) -> None:
        """Take a whole new view; moves under way keep their place."""
        self.project, self.projects = view.project, view.projects
        self._columns = {status: [] for status in ITEM_STATUSES}
        self._where = {}
        for card in (card for status in ITEM_STATUSES for card in view.columns.get(status, ())):
            if shown := self._of_here(card):
                shown = self._placed_now(shown)
                self._columns[shown.item.status].append(shown)
                self._where[shown.item.id] = shown.item.status
        for column in self._columns.values():
            column.sort(key=_order)
        self._forget_selected()

    def shown(self, status: ItemStatus) -> list[CardView]:
        """The column's cards that the filter lets through."""
        column = self._columns[status]
        return self.filter.chosen(column)

    def count(self, status: ItemStatus) -> int:
        """How many cards the column has, filter or not."""
        return len(self._columns[status])

    def card(self, item_id: str) -> CardView | None:
        """The card of an item, if it is on this board."""
        status = self._where.get(item_id)
        if status is None:
            return None
        return next((card for card in self._columns[status] if card.item.id == item_id), None)

    def cards(self) -> list[CardView]:
        """Every card, column by column."""
        return [card for column in self._columns.values() for card in column]

    def concerned(self, ids: Collection[str]) -> set[str]:
        """Items to read again when ``ids`` (of items, runs, anything) were touched: their cards and the parents'."""
        wanted = set(ids)
        for card in self.cards():
            item, run = card.item, card.run
            if item.id in ids or (run is not None and run.id in ids):
                wanted.add(item.id)
                if item.parent_id is not None:
                    wanted.add(item.parent_id)
        return wanted

    def update(self, asked: Iterable[str], cards: Mapping[str, CardView]) -> set[ItemStatus]:
        """Take what was read of the items ``asked`` for; an item that was not found is gone."""
        touched: set[ItemStatus] = set()
        for item_id in asked:
            card = cards.get(item_id)
            card = self._of_here(card) if card is not None else None
            if card is not None and self.card(item_id) == card:
                continue
            touched |= self._take(item_id)
            if card is not None:
                touched.add(self._put(card))
        self._forget_selected()
        return touched

    def select(self, item_id: str) -> bool:
        """Select an item, or let go of it; whether it is selected now."""
        if item_id in self.selected:
            del self.selected[item_id]
        else:
            self.selected[item_id] = None
        return item_id in self.selected

    def chosen(self) -> list[CardView]:
        """The cards that are selected, as they are now."""
        return [card for item_id in self.selected if (card := self.card(item_id)) is not None]

    def move(self, item_id: str, status: ItemStatus) -> set[ItemStatus]:
        """Show the card in another column while the store is asked."""
        card = self.card(item_id)
        if card is None:
            return set()
        touched = self._take(item_id)
        self._moving[item_id] = status
        return touched | {self._put(card)}

    def settle(self, item_id: str, status: ItemStatus, card: CardView | None) -> set[ItemStatus]:
        """The store has answered a move to ``status``: the card stands where ``card`` says, None when it is gone.

        Nothing changes while a later move of the same card is under way.
        """
        if self._moving.get(item_id) != status:
            return set()
        del self._moving[item_id]
        return self.update([item_id], {} if card is None else {item_id: card})

    def neighbour(self, item_id: str, step: int) -> CardView | None:
        """The shown card right above (-1) or below (1) in the same column."""
        status = self._where.get(item_id)
        if status is None:
            return None
        column = self.shown(status)
        place = next((index for index, card in enumerate(column) if card.item.id == item_id), None)
        if place is None or not 0 <= place + step < len(column):
            return None
        return column[place + step]

    def swap(self, item_id: str, other_id: str) -> set[ItemStatus]:
        """Show two cards of a column with their places exchanged while the store is asked."""
        first, second = self.card(item_id), self.card(other_id)
        if first is None or second is None:
            return set()
        touched = self._take(item_id) | self._take(other_id)
        self._put(_placed(first, second.item))
        self._put(_placed(second, first.item))
        return touched

    def _of_here(self, card: CardView) -> CardView | None:
        """The card as it is shown on this board; None where it belongs on another one."""
        if not self.projects:
            return card if card.item.project_id == self.project.id else None
        project = self.projects.get(card.item.project_id)
        return replace(card, project=project.slug) if project else None

    def _forget_selected(self) -> None:
        self.selected = {item_id: None for item_id in self.selected if item_id in self._where}

    def _put(self, card: CardView) -> ItemStatus:
        card = self._placed_now(card)
        status = card.item.status
        insort(self._columns[status], card, key=_order)
        self._where[card.item.id] = status
        return status

    def _placed_now(self, card: CardView) -> CardView:
        """In the column to which it is on its way."""
        item = card.item
        status = self._moving.get(item.id, item.status)
        return card if status == item.status else replace(card, item=replace(item, status=status))

    def _take(self, item_id: str) -> set[ItemStatus]:
        status = self._where.pop(item_id, None)
        if status is None:
            return set()
        self._columns[status] = [card for card in self._columns[status] if card.item.id != item_id]
        return {status}


def legal(card: CardView) -> str:
    """Where the card may go, as words: ``todo, done or cancelled``."""
    *most, last = ITEM_EDGES[card.item.status]
    return f"{', '.join(most)} or {last}" if most else last


def beside(status: ItemStatus, step: int) -> ItemStatus | None:
    """The column to the left (-1) or right (1), None at the edge of the board."""
    index = ITEM_STATUSES.index(status) + step
    return ITEM_STATUSES[index] if 0 <= index < len(ITEM_STATUSES) else None


def next_legal(status: ItemStatus, step: int) -> ItemStatus | None:
    """The nearest column to the left (-1) or right (1) that an item of this status may go to."""
    target = beside(status, step)
    while target is not None and target not in ITEM_EDGES[status]:
        target = beside(target, step)
    return target


def _order(card: CardView) -> tuple[int, datetime, str]:
    return card.item.sort_order, card.item.created_at, card.item.id


def _placed(card: CardView, like: Item) -> CardView:
    return replace(card, item=replace(card.item, sort_order=like.sort_order, created_at=like.created_at))
