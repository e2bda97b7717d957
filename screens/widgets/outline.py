"""The outline of a project: ten thousand rows, of which only the visible ones are ever drawn."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from textual import events
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from screens import chips
from screens.desk import Clock
from screens.model import CardView
from screens.tree_state import Row, TreeState
from screens.widgets.outline_row import Told, columns, fold_at, headings, spans
from screens.widgets.spans import Span, line
from screens.widgets.toned import Toned
from store.usage import RollUp

Trouble = Callable[[str], str]
"""Why a row is no target for what is being moved; empty when it is one."""


class OutlineHead(Toned):
    """Names the columns of the outline, where it has some that do not say by themselves what they are."""

    def render_line(self, _: int) -> Strip:
        left, right = headings(columns(self.size.width - 1))
        return line(left, [*right, Span("  ")], self.size.width, self.style_of("column"))


class Outline(Toned, ScrollView, can_focus=True, inherit_bindings=False):
    """Draws a ``TreeState``: one line each row."""

    BARE = True

    @dataclass
    class Pressed(Message):
        """A row was clicked: its place, whether on its fold, and whether it had the cursor and was clicked again."""

        place: int
        fold: bool
        again: bool

    @dataclass
    class Scrolled(Message):
        """Other rows are seen now."""

    @dataclass
    class Shaped(Message):
        """The window has another width: whether there are columns that need a name."""

        columns: bool

    def __init__(self, clock: Clock) -> None:
        super().__init__(id="outline")
        self._clock = clock
        self._state: TreeState | None = None
        self._amounts: Mapping[str, RollUp] = {}
        self._trouble: Trouble | None = None
        self._hint: tuple[str, ...] = ()
        self._at = 0

    @property
    def seen(self) -> Sequence[Row]:
        """The rows in the window."""
        top = self.scroll_offset.y
        return self._state.rows[top : top + self.size.height] if self._state else ()

    @property
    def tells_amounts(self) -> bool:
        """Whether there is room for tokens in the rows."""
        return columns(self._width).amounts

    def show(
        self,
        state: TreeState,
        amounts: Mapping[str, RollUp],
        hint: tuple[str, ...] = (),
        trouble: Trouble | None = None,
        *,
        reveal: bool = True,
    ) -> None:
        """Draw the state as it is now. ``hint`` is said where there are no rows; ``trouble`` greys rows out."""
        at = self._at - self.scroll_offset.y
        reveal = reveal or 0 <= at < self.size.height
        self._state, self._amounts, self._hint, self._trouble = state, amounts, hint, trouble
        self._at = state.place
        self.virtual_size = Size(self._width, len(state.rows))
        if reveal:
            self._reveal()
        self.refresh()

    def follow(self) -> None:
        """The cursor has moved, and nothing else: only the two rows that it concerns are drawn."""
        if self._state is not None and self._at != self._state.place:
            before, self._at = self._at, self._state.place
            self._refresh_row(before)
            self._refresh_row(self._at)
            self._reveal()

    def redraw(self) -> None:
        """Ages or amounts have changed."""
        self.refresh()

    def render_line(self, y: int) -> Strip:
        state, width, place = self._state, self._width, y + self.scroll_offset.y
        if state is None or place >= len(state.rows):
            return self.blank(width, "column") if state and state.rows else self._hint_line(y, width)
        row = state.rows[place]
        ground = "cursor" if place == self._at else "column"
        style = self.style_of(ground)
        dim = None if self._trouble is None else bool(self._trouble(row.id))
        if not row.id:
            top = Span("⌂ Top level, below nothing", "soft" if dim else "ink", not dim)
            return line([_stripe(None, ground), Span("  "), top], [], width, style)
        card = state.card(row.id)
        if card is None:
            return self.blank(width, ground)
        told = Told(row, card, state.branch(row.id), self._amounts.get(row.id), dim)
        left, right = spans(told, columns(width), self._clock(), _stripe(card, ground))
        return line(left, [*right, Span(" ")], width, style)

    def on_resize(self, _: events.Resize) -> None:
        self.post_message(self.Shaped(self.tells_amounts))
        if self._state is not None:
            self.virtual_size = Size(self._width, len(self._state.rows))
            self._reveal()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        if round(old_value) != round(new_value):
            self.post_message(self.Scrolled())

    def on_click(self, event: events.Click) -> None:
        event.stop()
        place = event.y - self.gutter.top + self.scroll_offset.y
        if self._state is None or not 0 <= place < len(self._state.rows):
            return
        row = self._state.rows[place]
        fold = row.parent and 0 <= event.x - self.gutter.left - fold_at(row) < 2
        self.post_message(self.Pressed(place, fold, place == self._at and event.chain > 1))

    @property
    def _width(self) -> int:
        return self.scrollable_content_region.width

    def _reveal(self) -> None:
        if self._state is not None and self._state.rows:
            region = Region(0, self._at, 1, 1)
            self.scroll_to_region(region, animate=False, immediate=True, force=True)

    def _refresh_row(self, place: int) -> None:
        y = place - self.scroll_offset.y
        if 0 <= y < self.size.height:
            self.refresh(Region(0, y, self.size.width, 1))

    def _hint_line(self, y: int, width: int) -> Strip:
        place = y - max((self.size.height - len(self._hint)) // 2 - 1, 0)
        if not 0 <= place < len(self._hint):
            return self.blank(width, "column")
        text = self._hint[place]
        return line([Span(" " * max((width - len(text)) // 2, 1) + text, "soft")], [], width, self.style_of("column"))


def _stripe(card: CardView | None, ground: str) -> Span:
    """The left edge: thick under the cursor, else thin in the colour of a run that lives."""
    if ground == "cursor":
        return Span("▌", "accent")
    run = card.run if card else None
    return Span("▎", chips.state(run).tone) if run is not None and run.live else Span(" ")
