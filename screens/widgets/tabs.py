"""Names on one line, of which one is shown: the board's columns where only one fits, the parts of a run."""

from __future__ import annotations

from collections.abc import Sequence

from textual.reactive import reactive
from textual.strip import Strip

from screens.widgets.spans import Span, line
from screens.widgets.toned import Toned


class TabLine(Toned):
    """The chosen name stands on a bright ground; a click on another runs the screen's ``action(index)``."""

    names: reactive[Sequence[str]] = reactive(())
    chosen: reactive[int] = reactive(0)

    def __init__(self, action: str, names: Sequence[str] = (), *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._action = action
        self.set_reactive(TabLine.names, tuple(names))

    def render_line(self, _: int) -> Strip:
        spans = [Span(" ")]
        for index, name in enumerate(self.names):
            picked = index == self.chosen
            tone, ground = ("on-accent", "accent") if picked else ("soft", "column")
            spans += [Span(f" {name} ", tone, picked, f"screen.{self._action}({index})", ground), Span(" ")]
        return line(spans, [], self.size.width, self.style_of("page"))
