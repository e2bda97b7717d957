"""Facts about one thing under headings, each with its label, wrapped to the width; scrolls when they are many."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from rich.cells import cell_len
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from screens.widgets.spans import Span, line, wrap
from screens.widgets.toned import Toned

LONGEST: Final = 12
"""Lines that one fact may take."""


class Fact(NamedTuple):
    """A label and what it is; ``mark`` is a glyph before it. One without a label is a heading."""

    label: str
    text: str
    tone: str = "ink"
    mark: str = ""
    note: str = ""
    """What to do about it, on lines of its own."""
    plain: bool = False
    """As it stands, cut and not wrapped: a line of a file, of a screen."""


class Sheet(Toned, ScrollView, can_focus=False):
    """Shows what it is given; the place scrolls it."""

    def __init__(self, *, id: str) -> None:  # noqa: A002
        super().__init__(id=id)
        self._facts: Sequence[Fact] = ()
        self._lines: list[tuple[Span, ...]] = []
        self._for = -1

    def show(self, facts: Sequence[Fact], *, top: bool = False) -> None:
        """Take new facts; ``top``: they are about another thing, so begin at the first."""
        self._facts, self._for = facts, -1
        self._lay_out()
        if top:
            self.scroll_to(y=0, animate=False, immediate=True, force=True)
        self.refresh()

    def scroll_page(self, step: int) -> None:
        """Half a page down or up."""
        self.scroll_relative(y=step * max(self.size.height // 2, 1), animate=False, immediate=True, force=True)

    def on_resize(self) -> None:
        self._lay_out()

    def render_line(self, y: int) -> Strip:
        width, index = self.size.width, y + self.scroll_offset.y
        if width != self._for:
            self._lay_out()
        if index >= len(self._lines):
            return self.blank(width, "column")
        return line([Span(" "), *self._lines[index]], [], width, self.style_of("column"))

    def _lay_out(self) -> None:
        width = self.size.width
        if width == self._for or width < 4:
            return
        self._for = width
        margin = max((cell_len(fact.label) for fact in self._facts if not fact.plain), default=0) + 2
        self._lines = [each for fact in self._facts for each in _laid(fact, margin, width - 2)]
        self.virtual_size = Size(width, len(self._lines))


def _laid(fact: Fact, margin: int, width: int) -> list[tuple[Span, ...]]:
    """The lines of a fact."""
    if not fact.label and not fact.mark and not fact.plain:
        return [(Span(fact.text, fact.tone, bold=bool(fact.text)),)]
    if fact.plain:
        return [(Span(fact.label, "soft"), Span(fact.text, fact.tone))]
    mark = f"{fact.mark} " if fact.mark else ""
    room = max(width - margin - cell_len(mark), 8)
    head = (Span(f"{fact.label:<{margin}}", "soft"), Span(mark, fact.tone))
    indent = Span(" " * (margin + cell_len(mark)))
    wrapped = wrap(fact.text, room, LONGEST)
    laid: list[tuple[Span, ...]] = [(*head, Span(wrapped[0], "ink" if fact.mark else fact.tone))]
    laid += [(indent, Span(each, "ink" if fact.mark else fact.tone)) for each in wrapped[1:]]
    laid += [(indent, Span(each, "soft")) for each in (wrap(fact.note, room, LONGEST) if fact.note else ())]
    return laid
