"""The outline without its pictures: what stands below what, what is folded or filtered out, how far each branch is.

The cursor is kept by its item, wherever that moves. A change that the keys ask for shows at once: until the store has
answered, what is read of the item keeps its new status and its new parent.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from screens.filters import Filter
from screens.model import BoardView, CardView
from screens.tree_branches import Branch, Branches, order
from store.records import ITEM_STATUSES, ItemStatus, Project
from store.unset import UNSET, Unset


class Row(NamedTuple):
    """One line of the outline; a tuple, because ten thousand of them are made at once."""

    id: str
    depth: int
    parent: bool
    """Whether something stands below it."""
    folded: bool
    matched: bool
    """Whether the filter lets it through; else it is seen only for what is below it."""
    last: tuple[bool, ...]
    """For each level down to its own: whether nothing more comes on that level."""


class TreeState:
    """Items of one project; what is shown of them is ``rows``."""

    def __init__(self, view: BoardView) -> None:
        self.project: Project = view.project
        self.rows: Sequence[Row] = ()
        self.folded: set[str] = set()
        """Items whose children are hidden while there is no filter."""
        self.roofed = False
        """Whether a row for the top level, with no id, stands above all others."""
        self.filter = Filter()
        """What narrows the outline; ``narrow`` sets it."""
        self._filter_folded: set[str] = set()
        self._cards: dict[str, CardView] = {}
        self._branches = Branches(self._cards)
        self._places: dict[str, int] = {}
        self._moving: dict[str, ItemStatus] = {}
        self._hanging: dict[str, str | None] = {}
        self._cursor = ""
        self._place = 0
        self._begun = ""
        """Where the cursor was put last; a filter that is being typed leads back to it when it can."""
        self.replace(view)

    # What is seen

    def narrow(self, wanted: Filter) -> None:
        """Show only what a filter lets through, and what that stands below; the cursor goes to what was found."""
        if wanted == self.filter:
            return
        self.filter = wanted
        self._filter_folded = set()
        self.settle()
        if wanted.words and self.rows:
            found = [place for place, row in enumerate(self.rows) if row.matched and row.id]
            begun = self._places.get(self._begun)
            if begun not in found:
                begun = found[0] if found else self._place
            self._place, self._cursor = begun, self.rows[begun].id

    @property
    def place(self) -> int:
        """Where the cursor stands among the rows; 0 when there are none."""
        return self._place

    @property
    def chosen(self) -> CardView | None:
        """The item under the cursor."""
        return self._cards.get(self.rows[self._place].id) if self.rows else None

    @property
    def count(self) -> int:
        """How many items the project has."""
        return len(self._cards)

    @property
    def matches(self) -> int:
        """How many rows the filter lets through by themselves."""
        return sum(row.matched for row in self.rows if row.id)

    @property
    def folds(self) -> set[str]:
        """What is folded now; a filter has folds of its own, so that it shows what it found."""
        return self._filter_folded if self.filter.words else self.folded

    def card(self, item_id: str) -> CardView | None:
        """An item, if it is in this project."""
        return self._cards.get(item_id)

    def cards(self) -> list[CardView]:
        """Every item."""
        return list(self._cards.values())

    def branch(self, item_id: str) -> Branch:
        """What an item and everything below it come to."""
        return self._branches.sum(item_id)

    def children(self, item_id: str) -> Sequence[str]:
        """What stands right below an item, in order."""
        return self._branches.below.get(item_id, ())

    def above(self, item_id: str) -> Iterator[str]:
        """The ancestors of an item, its parent first."""
        return self._branches.above(item_id)

    # The cursor and the folds

    def go(self, place: int) -> bool:
        """Put the cursor on a row, as near as there is one; whether that is another than before."""
        place = max(min(place, len(self.rows) - 1), 0)
        if not self.rows or place == self._place:
            return False
        self._place = place
        self._cursor = self._begun = self.rows[place].id
        return True

    def find(self, item_id: str) -> bool:
        """Put the cursor on an item, unfolding what hides it; False when it is not shown."""
        hiding = self.folds.intersection(self.above(item_id))
        if hiding:
            self.folds.difference_update(hiding)
            self._lay_out()
        place = self._places.get(item_id)
        if place is not None:
            self._place = place
            self._cursor = self._begun = item_id
        return place is not None

    def fold(self, item_id: str, folded: bool) -> bool:
        """Hide or show what is below an item; whether that changes anything."""
        if not item_id or not self._branches.below.get(item_id) or (item_id in self.folds) == folded:
            return False
        (self.folds.add if folded else self.folds.discard)(item_id)
        place = self._places.get(item_id)
        if place is not None:
            self._refold(place, folded)
        return True

    def fold_all(self) -> bool:
        """Fold every branch, or unfold all when all are folded; whether they are folded now."""
        branches = {parent for parent in self._branches.below if parent}
        folded = not branches <= self.folds
        self.folds.clear()
        if folded:
            self.folds.update(branches)
        self._lay_out()
        return folded

    # What was read

    def replace(self, view: BoardView) -> None:
        """Take a whole new view; changes under way keep their place, and so does the cursor."""
        first = not self._cards
        self.project = view.project
        self._cards.clear()
        for card in (card for status in ITEM_STATUSES for card in view.columns.get(status, ())):
            self._cards[card.item.id] = self._overlaid(card)
        self._branches.grow()
        if first:
            self.folded = {id_ for id_ in self._branches.below if id_ and self._over(id_)}
        self.settle()

    def update(self, asked: Iterable[str], cards: Mapping[str, CardView]) -> bool:
        """Take what was read of the items ``asked`` for; one that was not found is gone. Whether anything changed."""
        changed = regrown = False
        for item_id in asked:
            old, new = self._cards.get(item_id), cards.get(item_id)
            if new is not None:
                new = self._overlaid(new) if new.item.project_id == self.project.id else None
            if new == old:
                continue
            changed = True
            regrown = regrown or old is None or new is None or order(old) != order(new) or _moved(old, new)
            if new is None:
                del self._cards[item_id]
            else:
                self._cards[item_id] = new
            if not regrown:
                self._branches.sum_up(item_id)
        if regrown:
            self._branches.grow()
        if regrown or (changed and self.filter.words):
            self.settle()
        return changed

    def concerned(self, ids: Collection[str]) -> set[str]:
        """Items to read again when ``ids`` (of items, runs, anything) were touched: these, and the parents."""
        wanted = set(ids)
        for card in self._cards.values():
            item, run = card.item, card.run
            if item.id in ids or (run is not None and run.id in ids):
                wanted.add(item.id)
        return wanted

    def begin(self, item_id: str, *, status: ItemStatus | None = None, parent: str | Unset | None = UNSET) -> None:
        """Show a change of an item while the store is asked."""
        if status is not None:
            self._moving[item_id] = status
        if not isinstance(parent, Unset):
            self._hanging[item_id] = parent
        if (card := self._cards.get(item_id)) is not None:
            self._cards[item_id] = self._overlaid(card)
            self._branches.grow()
            self.settle()

    def end(self, item_id: str, card: CardView | None, *, status: ItemStatus | None = None) -> None:
        """The store has answered: the item is as ``card`` says, None when it is gone.

        A change of ``status`` that a later one has overtaken changes nothing; without it, a change of parent ends.
        """
        if status is None:
            self._hanging.pop(item_id, None)
        elif self._moving.get(item_id) != status:
            return
        else:
            del self._moving[item_id]
        self.update([item_id], {} if card is None else {item_id: card})

    def settle(self) -> None:
        """Work out the rows anew; the cursor stays on its item, else on what hides it, else where it stood."""
        self._lay_out()

    # Below

    def _overlaid(self, card: CardView) -> CardView:
        item = card.item
        status, parent = self._moving.get(item.id, item.status), self._hanging.get(item.id, item.parent_id)
        if (status, parent) == (item.status, item.parent_id):
            return card
        return replace(card, item=replace(item, status=status, parent_id=parent))

    def _over(self, item_id: str) -> bool:
        """Whether an item and all below it are done with."""
        closed = self._cards[item_id].item.status in ("done", "cancelled")
        return closed and not self._branches.sum(item_id).open

    def _refold(self, place: int, folded: bool) -> None:
        """Only the rows of one branch come or go."""
        row = self.rows[place]._replace(folded=folded)
        end = place + 1
        while end < len(self.rows) and self.rows[end].depth > row.depth:
            end += 1
        below = [] if folded else [*self._walk(*self._sieve(), row)]
        self._take([*self.rows[:place], row, *below, *self.rows[end:]])

    def _lay_out(self) -> None:
        roof = [Row("", 0, False, False, True, (False,))] if self.roofed else []
        self._take([*roof, *self._walk(*self._sieve())])

    def _sieve(self) -> tuple[set[str] | None, set[str] | None]:
        """What the filter lets through, and that with all it stands below; None where there is no filter."""
        if not self.filter.words:
            return None, None
        let = {card.item.id for card in self.filter.chosen(self._cards.values())}
        return let, {*let, *(above for id_ in let for above in self.above(id_))}

    def _take(self, rows: Sequence[Row]) -> None:
        """Show these rows; the cursor stays on its item, else on what hides it, else where it stood."""
        self.rows = rows
        self._places = {row.id: place for place, row in enumerate(rows)}
        place = self._places.get(self._cursor)
        if place is None:
            hidden = (self._places[above] for above in self.above(self._cursor) if above in self._places)
            place = next(hidden, min(self._place, max(len(self.rows) - 1, 0)))
        self._place = place
        self._cursor = self.rows[place].id if self.rows else self._cursor

    def _walk(self, let: set[str] | None, shown: set[str] | None, top: Row | None = None) -> Iterator[Row]:
        """The rows below one, or all, from the top down, without recursion: an outline may be as deep as it likes."""
        below, folds = self._branches.below, self.folds
        stack: list[tuple[str, tuple[bool, ...]]] = []

        def push(parent: str, above: tuple[bool, ...]) -> None:
            ids = below.get(parent, ())
            children = [*ids] if shown is None else [id_ for id_ in ids if id_ in shown]
            final, inner = (*above, True), (*above, False)
            stack.extend((id_, inner if at else final) for at, id_ in enumerate(reversed(children)))

        push(top.id if top else "", top.last if top else ())
        while stack:
            id_, last = stack.pop()
            parent, folded = bool(below.get(id_)), id_ in folds
            yield Row(id_, len(last) - 1, parent, folded and parent, let is None or id_ in let, last)
            if parent and not folded:
                push(id_, last)


def _moved(old: CardView, new: CardView) -> bool:
    return old.item.parent_id != new.item.parent_id
