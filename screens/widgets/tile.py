"""One run on the wall as lines: a frame with its chip and host, its item, what it asks, the bottom of its screen.

A tile is no widget: the wall draws all of them in one, which costs a third of what widgets inside each other do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import zip_longest
from typing import Final, NamedTuple

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual.geometry import Region
from textual.strip import Strip

from screens import chips
from screens.ansi import RowRenderer
from screens.confine import one_line
from screens.model import RunView
from screens.widgets.card import run_spans
from screens.widgets.pane import is_blank
from screens.widgets.spans import Span, StyleOf, line, wrap

ROOMY: Final = 12
"""Lines from which a tile has room for a question of three lines; below, it is cut after two."""

Sight = Sequence[str] | str
"""An agent's rows; or, as one sentence, why there are none."""
Line = Sequence[Segment]


class Brush(NamedTuple):
    """What a tile is drawn with."""

    style_of: Callable[[str], StyleOf]
    """By ground."""
    drawing: RowRenderer
    now: datetime


class _Edges(NamedTuple):
    """The lines of a frame."""

    top_left: str
    top: str
    top_right: str
    side: str
    bottom_left: str
    bottom_right: str


_THIN: Final = _Edges(*"╭─╮│╰╯")
_THICK: Final = _Edges(*"┏━┓┃┗┛")


@dataclass(slots=True)
class Tile:
    """A run, where its tile stands on the wall, and what was last seen of its screen."""

    view: RunView
    place: Region
    cursor: bool = False
    sight: Sight = ""
    lines: list[Line] = field(default_factory=list)
    """As they are drawn, each as wide as the tile."""

    @property
    def body(self) -> Region:
        """Where on the wall the agent's screen is drawn: there a terminal has room, too."""
        above = 2 + len(self._asked())
        x, y, width, height = self.place
        return Region(x + 1, y + above, max(width - 2, 0), max(height - above - 1, 0))

    def draw(self, brush: Brush) -> None:
        """Work out every line."""
        width, height = self.place.size
        framed = [self._framed(part, brush) for part in self._head(width - 2, brush)]
        self.lines = [self._top(brush), *framed][: height - 1]
        self.lines += [self._framed(part, brush) for part in self._screen(brush)]
        self.lines.append(self._bottom(brush))

    def see(self, sight: Sight, brush: Brush) -> list[Region]:
        """Take what was seen of the screen; says where on the wall something is another than before."""
        self.sight = sight
        body = self.body
        first, changed = body.y - self.place.y, []
        for index, part in enumerate(self._screen(brush), first):
            drawn = self._framed(part, brush)
            if drawn != self.lines[index]:
                self.lines[index] = drawn
                changed.append(index)
        x, y, width, _ = self.place
        return [Region(x, y + begin, width, end - begin + 1) for begin, end in _stretches(changed)]

    # The frame

    def _top(self, brush: Brush) -> Line:
        """The chip on the left, the host on the right; without the chip's source where there is no room for all."""
        width, (name, trouble) = self.place.width, _host(self.view)
        chip = run_spans(self.view.run, brush.now)
        right = [Span(f" {name} ", "bad" if trouble else "soft")]
        room = width - 6 - _cells(right)
        if _cells(chip) > room:
            chip = chip[:-1]
        left = [Span(" "), *chip, Span(" ")]
        edges, tone = self._edges
        rule = edges.top * max(width - 4 - _cells(left) - _cells(right), 0)
        spans = [Span(edges.top_left + edges.top, tone), *left, Span(rule, tone), *right]
        return list(line([*spans, Span(edges.top + edges.top_right, tone)], [], width, brush.style_of("page")))

    def _bottom(self, brush: Brush) -> Line:
        edges, tone = self._edges
        rule = edges.bottom_left + edges.top * max(self.place.width - 2, 0) + edges.bottom_right
        return list(line([Span(rule, tone)], [], self.place.width, brush.style_of("page")))

    def _framed(self, part: Line, brush: Brush) -> Line:
        edges, tone = self._edges
        side = Segment(edges.side, brush.style_of("page")(Span("", tone)))
        return [side, *part, side]

    @property
    def _edges(self) -> tuple[_Edges, str]:
        """Thick under the cursor; in the colour of a question where there is one."""
        rest = "accent" if self.cursor else "rule"
        return _THICK if self.cursor else _THIN, "waiting" if chips.waits(self.view.run) else rest

    # What stands in it

    def _head(self, width: int, brush: Brush) -> Iterator[Line]:
        style_of = brush.style_of("cursor" if self.cursor else "column")
        yield list(line([Span(" "), Span(one_line(self.view.item.title), "ink", True)], [], width, style_of))
        for index, text in enumerate(self._asked()):
            mark = Span("   " if index else " ⚑ ", "waiting", True)
            yield list(line([mark, Span(text, "waiting", True)], [], width, style_of))

    def _asked(self) -> list[str]:
        if not chips.waits(self.view.run):
            return []
        asked = chips.note(self.view.run) or "It waits for you; its screen says for what."
        return wrap(asked, max(self.place.width - 6, 1), 3 if self.place.height >= ROOMY else 2)

    def _screen(self, brush: Brush) -> list[Line]:
        _, _, width, height = self.body
        base = brush.drawing.base
        if isinstance(self.sight, str):
            strips, above = brush.drawing.strips([f" {said}" for said in wrap(self.sight, width - 2, height)]), 0
        else:
            strips = brush.drawing.strips(self.sight)
            while strips and is_blank(strips[-1], base.bgcolor):
                strips.pop()
            above = max(len(strips) - height, 0)
        shown: list[Strip | None] = [*strips[above:], *[None] * height]
        return [_fitted(strip, width, base) for strip in shown[:height]]


def _fitted(strip: Strip | None, width: int, base: Style) -> Line:
    """The segments of a strip in exactly ``width`` cells."""
    if strip is None:
        return [Segment(" " * width, base)]
    if strip.cell_length > width:
        return _cut(strip, width)
    return [*strip, Segment(" " * (width - strip.cell_length), base)] if strip.cell_length < width else list(strip)


def _cut(strip: Strip, width: int) -> Line:
    kept: list[Segment] = []
    for segment in strip:
        size = cell_len(segment.text)
        if size >= width:
            return [*kept, Segment(set_cell_size(segment.text, width), segment.style)]
        kept.append(segment)
        width -= size
    return kept


def _host(view: RunView) -> tuple[str, bool]:
    """Where it runs, and whether nothing can come from there."""
    if view.host is None:
        return "no host yet", False
    name = one_line(view.host.name)
    if view.host.status == "online" and not view.host.instance_suspect:
        return name, False
    return f"✗ {name} {'suspect' if view.host.instance_suspect else view.host.status}", True


def _stretches(indexes: Sequence[int]) -> Iterator[tuple[int, int]]:
    """First and last of each stretch of neighbours."""
    begin = 0
    for at, (index, after) in enumerate(zip_longest(indexes, indexes[1:])):
        if after != index + 1:
            yield indexes[begin], index
            begin = at + 1


def _cells(spans: Sequence[Span]) -> int:
    return sum(cell_len(span.text) for span in spans)
