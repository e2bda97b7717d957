"""One column of the board: a thousand cards, of which only the visible lines are ever drawn."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from textual import events
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from screens.desk import Clock
from screens.model import CardView
from screens.widgets import card as cards
from screens.widgets.card import Ground
from screens.widgets.spans import Span, line
from screens.widgets.toned import Toned
from store.records import ItemStatus

FOLDED_WIDTH = 5


class CardColumn(Toned, ScrollView, can_focus=True, inherit_bindings=False):
    """Cards under a status; the focused column is where the keys go."""

    BARE = True

    @dataclass
    class Entered(Message):
        """The cursor came to rest on another card, or on none."""

        column: CardColumn
        card: CardView | None

    @dataclass
    class Focused(Message):
        """The keys came here, by Tab or by a click."""

        column: CardColumn

    @dataclass
    class Opened(Message):
        """A card was clicked that had the cursor already."""

        card: CardView

    def __init__(self, status: ItemStatus, clock: Clock) -> None:
        super().__init__(id=f"column-{status}")
        self.status = status
        self.cursor = 0
        self._clock = clock
        self._cards: list[CardView] = []
        self._tops: list[int] = []
        self._talls: dict[int, tuple[CardView, int]] = {}
        """Lines of each card by its place in memory, at ``_for`` cells."""
        self._for = -1
        self._total = -1
        self._hint: tuple[str, ...] = ()
        self._selected: frozenset[str] = frozenset()
        self.count = "0"
        """How many cards there are, and how many of them are shown where that differs."""
        self._drawn: dict[tuple[int, Ground], list[Strip]] = {}

    @property
    def card(self) -> CardView | None:
        """The card under the cursor."""
        return self._cards[self.cursor] if self._cards else None

    @property
    def width(self) -> int:
        """Cells of a line, the scroll bar's place left out."""
        return self.scrollable_content_region.width

    @property
    def folded(self) -> bool:
        """Whether only its name is shown."""
        return self.has_class("-folded")

    def show(self, shown: Sequence[CardView], total: int, hint: tuple[str, ...]) -> None:
        """Take new cards; the cursor stays on its card, or near it. ``hint`` is said when there are none."""
        if self._for == self.width and (list(shown), total, hint) == (self._cards, self._total, self._hint):
            return
        before, seen = self.card, self._in_sight()
        self._total = total
        self._cards = list(shown)
        self._hint = hint
        index = self._index(before.item.id) if before else None
        self.cursor = min(self.cursor, max(len(self._cards) - 1, 0)) if index is None else index
        self.count = str(total) if len(shown) == total else f"{len(shown)} of {total}"
        self._entitle()
        self._measure()
        if seen or index is None:
            self._reveal()
        if self.card != before:
            self.post_message(self.Entered(self, self.card))

    def go(self, index: int) -> None:
        """Put the cursor on a card by its place, as near as the column allows, and show it."""
        index = max(0, min(index, len(self._cards) - 1))
        if not self._cards or index == self.cursor:
            return
        previous, self.cursor = self.cursor, index
        self._refresh_card(previous)
        self._refresh_card(index)
        self._reveal()
        self.post_message(self.Entered(self, self.card))

    def find(self, item_id: str) -> bool:
        """Put the cursor on an item's card; False when it is not shown here."""
        index = self._index(item_id)
        if index is None:
            return False
        self.fold(False)
        self.go(index)
        return True

    def page(self, direction: int) -> None:
        """Go down (1) or up (-1) by what fits in the window."""
        if self._cards:
            target = self._tops[self.cursor] + direction * max(self.size.height - 2, 1)
            index = bisect_right(self._tops, max(target, 0)) - 1
            self.go(index if index != self.cursor else self.cursor + direction)

    def edge(self, direction: int) -> None:
        """Go to the first (-1) or last (1) card."""
        self.go(0 if direction < 0 else len(self._cards) - 1)

    def fold(self, folded: bool) -> None:
        """Show only the column's name, or its cards again."""
        if folded != self.folded:
            self.set_class(folded, "-folded")
            self._entitle()
            self._measure()

    def mark(self, selected: frozenset[str]) -> None:
        """Draw these items' cards as selected, and no others."""
        if selected != self._selected:
            self._selected = selected
            self._drawn.clear()
            self.refresh()

    def tick(self) -> None:
        """A minute has passed: ages are drawn anew."""
        self._drawn.clear()
        self.refresh()

    def redraw_cursor(self) -> None:
        """The keys came here or went away."""
        self._refresh_card(self.cursor)

    def render_line(self, y: int) -> Strip:
        width = self.width
        if self.folded:
            return self._folded_line(y, width)
        if not self._cards:
            return self._hint_line(y, width)
        row = y + self.scroll_offset.y
        index = bisect_right(self._tops, row) - 1
        offset = row - self._tops[index]
        drawn = self._card_lines(index, width)
        return drawn[offset] if offset < len(drawn) else self.blank(width, "column")

    def on_resize(self, _: events.Resize) -> None:
        self._measure()
        self._reveal()

    def on_focus(self) -> None:
        self.post_message(self.Focused(self))

    def on_click(self, event: events.Click) -> None:
        event.stop()
        index = bisect_right(self._tops, event.y - self.gutter.top + self.scroll_offset.y) - 1
        if not 0 <= index < len(self._cards):
            return
        if index == self.cursor and event.chain > 1:
            self.post_message(self.Opened(self._cards[index]))
        else:
            self.go(index)

    def forget_styles(self) -> None:
        super().forget_styles()
        self._drawn.clear()

    def _index(self, item_id: str) -> int | None:
        return next((index for index, card in enumerate(self._cards) if card.item.id == item_id), None)

    def _measure(self) -> None:
        """Work out where each card begins; a card is followed by one empty line."""
        self._drawn.clear()
        width, top = self.width, 0
        known = self._talls if width == self._for else {}
        self._talls, self._for, self._tops = {}, width, []
        for card in self._cards:
            found = known.get(id(card)) or (card, cards.height(card, width))
            self._talls[id(card)] = found
            self._tops.append(top)
            top += found[1] + 1
        self.virtual_size = Size(width, 0 if self.folded else max(top - 1, 0))
        self.refresh()

    def _entitle(self) -> None:
        self.border_title = "" if self.folded else f"{self.status.upper()} · {self.count}"

    def _in_sight(self) -> bool:
        """Whether the cursor's card is seen; where the wheel has left it, a change elsewhere must not pull back."""
        if not self._cards:
            return True
        top = self._tops[self.cursor] - self.scroll_offset.y
        return -cards.height(self._cards[self.cursor], self.width) < top < self.size.height

    def _reveal(self) -> None:
        if self._cards and not self.folded:
            top = self._tops[self.cursor]
            region = Region(0, top, self.width, cards.height(self._cards[self.cursor], self.width))
            self.scroll_to_region(region, animate=False, immediate=True, force=True)

    def _refresh_card(self, index: int) -> None:
        if index < len(self._tops):
            tall = cards.height(self._cards[index], self.width)
            self.refresh(Region(0, self._tops[index] - self.scroll_offset.y, self.width, tall))

    def _card_lines(self, index: int, width: int) -> list[Strip]:
        ground: Ground = "cursor" if index == self.cursor and self.has_class("-active") else "card"
        drawn = self._drawn.get((index, ground))
        if drawn is None:
            card, now = self._cards[index], self._clock()
            selected = card.item.id in self._selected
            drawn = cards.lines(card, width, ground, self.style_of(ground), now, selected=selected)
            self._drawn[index, ground] = drawn
        return drawn

    def _hint_line(self, y: int, width: int) -> Strip:
        place = y - max((self.size.height - len(self._hint)) // 2 - 1, 0)
        if not 0 <= place < len(self._hint):
            return self.blank(width, "column")
        text = self._hint[place]
        pad = " " * max((width - len(text)) // 2, 1)
        return line([Span(pad + text, "soft")], [], width, self.style_of("column"))

    def _folded_line(self, y: int, width: int) -> Strip:
        letters = f"{self.status.upper()} {len(self._cards)}"
        letter = letters[y - 1] if 0 < y <= len(letters) else " "
        return line([Span(" " * (width // 2) + letter, "soft", True)], [], width, self.style_of("column"))
