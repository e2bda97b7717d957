"""The line above the tiles: how many agents there are, who waits, their order, and which of them are seen."""

from __future__ import annotations

from textual.reactive import reactive
from textual.strip import Strip

from screens.widgets.spans import Span, line
from screens.widgets.toned import Toned


class WallBar(Toned):
    """One line; its words are given by the place."""

    left: reactive[tuple[Span, ...]] = reactive(())
    right: reactive[tuple[Span, ...]] = reactive(())

    def render_line(self, _: int) -> Strip:
        return line([Span(" "), *self.left], [*self.right, Span(" ")], self.size.width, self.style_of("page"))
