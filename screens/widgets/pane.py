"""An agent's screen, read only: the bottom lines of what was captured, in its own colours.

Only lines that differ from what is drawn are drawn again.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from functools import partial
from itertools import zip_longest
from typing import Final

from rich.cells import cell_len
from textual import events
from textual.dom import DOMNode
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget

from screens.ansi import RowRenderer
from screens.confine import one_line
from store.errors import PamError
from themes import terminal_colours

ROWS: Final = 80
"""Rows to ask for at least, so that a window may grow without asking anew."""


class Pane(Widget, can_focus=False):
    """Shows captured rows; ``say`` puts a sentence there while there is nothing to show."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002  the name Textual gives it
        super().__init__(id=id)
        self._rows: Sequence[str] = ()
        self._said: tuple[str, ...] = ()
        self._renderer: RowRenderer | None = None
        self._drawn: list[Strip] = []
        self._hidden = False
        self.above = 0
        """Lines that are hidden below the window, because the operator has scrolled up."""

    def scroll(self, lines: int) -> None:
        """Go down, or up where ``lines`` is negative, as far as the capture reaches; at its end it follows again."""
        self.above -= lines
        self._update()

    def show(self, rows: Sequence[str]) -> None:
        """Draw a capture; rows beyond the window are cut, blank rows at its end don't count."""
        self._rows, self._said = rows, ()
        self._update()

    def say(self, *lines: str) -> None:
        """Show sentences in place of a screen."""
        self._rows, self._said = (), tuple(map(one_line, lines))
        self._update()

    def render_line(self, y: int) -> Strip:
        base = self._drawing().base
        if y >= len(self._drawn):
            return Strip.blank(self.size.width, base)
        return self._drawn[y].adjust_cell_length(self.size.width, base)

    def on_resize(self, _: events.Resize) -> None:
        self._update()

    def on_hide(self) -> None:
        self._hidden = True

    def on_show(self) -> None:
        self._hidden = False
        self._update()

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._renderer = None
        self._drawn = []
        self._update()

    def _update(self) -> None:
        """Work out the lines and ask for those that changed; a terminal that lies over it is often busy enough."""
        size = self.size
        if not size or self._hidden:
            return
        drawn = self._sentences() if self._said else self._bottom(size.height)
        pairs = zip_longest(drawn, self._drawn)
        changed = [Region(0, y, size.width, 1) for y, (new, old) in enumerate(pairs) if new is not old and new != old]
        self._drawn = drawn
        if changed:
            self.refresh(*changed)

    def _bottom(self, height: int) -> list[Strip]:
        strips = self._drawing().strips(self._rows)
        base = self._drawing().base.bgcolor
        while strips and is_blank(strips[-1], base):
            strips.pop()
        self.above = max(min(self.above, len(strips) - height), 0)
        end = len(strips) - self.above
        return strips[max(end - height, 0) : end]

    def _sentences(self) -> list[Strip]:
        """The sentences in the middle of the window."""
        width, height = self.size
        renderer = self._drawing()
        indented = [" " * max((width - cell_len(said)) // 2, 1) + said for said in self._said]
        above = [""] * max((height - len(indented)) // 2, 0)
        return renderer.strips([*above, *indented])

    def _drawing(self) -> RowRenderer:
        if self._renderer is None:
            self._renderer = RowRenderer(terminal_colours(self.app.theme))
        return self._renderer


def is_blank(strip: Strip, ground: object) -> bool:
    """Whether nothing of the strip can be seen: only spaces, on the terminal's own ground."""
    return all(
        text.isspace() and style is not None and style.bgcolor == ground and not style.reverse
        for text, style, _ in strip
    )


def follow(owner: DOMNode, pane: Pane, frames: AsyncIterator[Sequence[str]], *, group: str) -> None:
    """``watch`` in a worker of ``owner``, in place of the one that the group has."""
    # A function, not its coroutine: one that is cancelled before it begins would never be awaited.
    owner.run_worker(partial(watch, pane, frames), group=group, exclusive=True)  # type: ignore[arg-type]


async def watch(pane: Pane, frames: AsyncIterator[Sequence[str]]) -> None:
    """Show each frame until the session ends; the last one stays. What can't be seen says why."""
    seen = False
    try:
        async for rows in frames:
            seen = True
            pane.show(rows)
    except PamError as error:
        pane.say(str(error))
    else:
        if not seen:
            pane.say("The session is over; its screen is gone.")
