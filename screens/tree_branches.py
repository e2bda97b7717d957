"""What stands below what in the tree, and what each branch comes to: how far it is, who works in it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from screens.chips import waits
from screens.model import CardView


@dataclass(slots=True)
class Branch:
    """What an item and everything below it come to."""

    done: int = 0
    total: int = 0
    """Leaves below it that are not cancelled."""
    open: int = 0
    """Everything below it that is neither done nor cancelled."""
    below: int = 0
    """Everything below it."""
    runs: int = 0
    """The runs of its own and below it, as those below and the next two."""
    live: int = 0
    waiting: int = 0


class Branches:
    """The sums over ``cards``, which its owner changes and then says so."""

    def __init__(self, cards: dict[str, CardView]) -> None:
        self.below: dict[str, list[str]] = {}
        """Children by parent, in their order; what has no parent that is known stands below ``""``."""
        self._cards = cards
        self._sums: dict[str, Branch] = {}

    def sum(self, item_id: str) -> Branch:
        """What an item and everything below it come to."""
        return self._sums.get(item_id) or Branch()

    def above(self, item_id: str) -> Iterator[str]:
        """The ancestors of an item, its parent first."""
        seen = {item_id}
        card = self._cards.get(item_id)
        while card is not None and (parent := card.item.parent_id) in self._cards and parent not in seen:
            seen.add(parent)
            yield parent
            card = self._cards[parent]

    def grow(self) -> None:
        """Items have come, gone, or hang elsewhere: work out all of it anew."""
        self.below = {}
        for card in sorted(self._cards.values(), key=order):
            parent = card.item.parent_id
            self.below.setdefault(parent if parent in self._cards else "", []).append(card.item.id)
        self._sums = {}
        ids = [*self.below.get("", ())]
        for item_id in ids:
            ids.extend(self.below.get(item_id, ()))
        for item_id in reversed(ids):
            self._sums[item_id] = self._added(item_id)

    def sum_up(self, item_id: str) -> None:
        """One item has changed, and hangs where it hung: its branch and those above it are added up anew."""
        for each in (item_id, *self.above(item_id)):
            before, now = self._sums.get(each), self._added(each)
            self._sums[each] = now
            if before == now and each != item_id:
                return

    def _added(self, item_id: str) -> Branch:
        """The item's own run and the branches of its children."""
        card = self._cards[item_id]
        total = Branch(
            runs=card.run_count, live=int(card.run is not None and card.run.live), waiting=int(waits(card.run))
        )
        for child_id in self.below.get(item_id, ()):
            child, status = self.sum(child_id), self._cards[child_id].item.status
            if self.below.get(child_id):
                total.done, total.total = total.done + child.done, total.total + child.total
            elif status != "cancelled":
                total.done, total.total = total.done + (status == "done"), total.total + 1
            total.open += child.open + (status in ("todo", "doing"))
            total.below += child.below + 1
            total.runs += child.runs
            total.live += child.live
            total.waiting += child.waiting
        return total


def order(card: CardView) -> tuple[int, datetime, str]:
    """How items of one level stand."""
    return card.item.sort_order, card.item.created_at, card.item.id
