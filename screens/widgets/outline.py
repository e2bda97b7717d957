"""The outline of a project: a row for each item, with its place in the whole."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from textual import events
from textual.message import Message
from textual.strip import Strip

from screens import chips
from screens.desk import Clock
from screens.model import CardView
from screens.tree_state import Row, TreeState
from screens.widgets.cursor_lines import CursorLines
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


class Outline(CursorLines):
    """Draws a ``TreeState``: one line each row."""

    BARE = True

    @dataclass
    class Pressed(Message):
        """A row was clicked: its place, whether on its fold, and whether it had the cursor and was clicked again."""

        place: int
        fold: bool
        again: bool

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

    @property
    def count(self) -> int:
        return len(self._state.rows) if self._state else 0

    @property
    def place(self) -> int:
        return self._state.place if self._state else 0

    @property
    def seen(self) -> Sequence[Row]:
        """The rows in the window."""
        top = self.scroll_offset.y
        return self._state.rows[top : top + self.size.height] if self._state else ()

    @property
    def tells_amounts(self) -> bool:
        """Whether there is room for tokens in the rows."""
        return columns(self.width).amounts

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
        self.measure()
        if reveal:
            self.reveal()
        self.refresh()

    def redraw(self) -> None:
        """Ages or amounts have changed."""
        self.refresh()

    def draw(self, place: int, width: int) -> Strip:
        state = self._state
        if state is None or place >= self.count:
            return self.blank(width, "column")
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

    def press(self, place: int, event: events.Click) -> None:
        if self._state is None:
            return
        row = self._state.rows[place]
        fold = row.parent and 0 <= event.x - self.gutter.left - fold_at(row) < 2
        self.post_message(self.Pressed(place, fold, place == self._at and event.chain > 1))


def _stripe(card: CardView | None, ground: str) -> Span:
    """The left edge: thick under the cursor, else thin in the colour of a run that lives."""
    if ground == "cursor":
        return Span("▌", "accent")
    run = card.run if card else None
    return Span("▎", chips.state(run).tone) if run is not None and run.live else Span(" ")
