"""One line of a widget made of spans, cut to its width with an ellipsis; the right part keeps its place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from rich.cells import cell_len, get_character_cell_size, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from screens.confine import one_line

ELLIPSIS = "…"
_CLOSING = frozenset("、。，．：；？！）」』】〉》〕”’…")
"""What no line begins with."""


class Span(NamedTuple):
    """Text with the name of its colour; ``action`` is what a click on it does.

    ``ground`` is what it stands on where that is not the line's own.
    """

    text: str
    tone: str = "ink"
    bold: bool = False
    action: str = ""
    ground: str = ""


StyleOf = Callable[[Span], Style]


def line(left: Sequence[Span], right: Sequence[Span], width: int, style_of: StyleOf) -> Strip:
    """A strip of exactly ``width`` cells. ``right`` is dropped whole when less than a third is left for ``left``."""
    if width <= 0:
        return Strip([])
    taken = sum(cell_len(span.text) for span in right)
    if taken and width - taken - 1 < width // 3:
        right, taken = (), 0
    room = width - taken - (1 if taken else 0)
    segments = _clipped(left, room, style_of)
    used = sum(segment.cell_length for segment in segments)
    segments.append(Segment(" " * (width - taken - used), style_of(Span(""))))
    segments += [Segment(span.text, style_of(span)) for span in right]
    return Strip(segments, width)


def clip(text: str, width: int) -> str:
    """``text`` in at most ``width`` cells, its end replaced by an ellipsis when it is cut."""
    if cell_len(text) <= width:
        return text
    return set_cell_size(text, width - 1).rstrip() + ELLIPSIS if width > 0 else ""


def quoted(title: str, width: int = 40) -> str:
    """A title in quotation marks, short enough to stand in a sentence."""
    return f"“{clip(one_line(title), width)}”"


def wrap(text: str, width: int, lines: int) -> list[str]:
    """``text`` over at most ``lines`` lines, the last one clipped; one empty line for no text.

    Broken at spaces and beside wide characters; inside a word only where the line would stay nearly empty.
    """
    done: list[str] = []
    while len(done) < lines - 1 and cell_len(text) > width > 0:
        cut = _break(text, width)
        done.append(clip(text[:cut].rstrip(), width))
        text = text[cut:].lstrip()
    return [*done, clip(text, width)] if text or not done else done


def _break(text: str, width: int) -> int:
    """How many characters the first line takes, one at least."""
    cells, best, before = 0, 0, 1
    for index, character in enumerate(text):
        size = get_character_cell_size(character)
        if size and (character == " " or (2 in (size, before) and character not in _CLOSING)):
            best = index
        if cells + size > width:
            return max(best if cell_len(text[:best]) > width // 3 else index, 1)
        cells, before = cells + size, size or before
    return len(text)


def _clipped(spans: Sequence[Span], room: int, style_of: StyleOf) -> list[Segment]:
    segments: list[Segment] = []
    for span in spans:
        size = cell_len(span.text)
        if size > room:
            if cut := clip(span.text, room):
                segments.append(Segment(cut, style_of(span)))
            break
        if span.text:
            segments.append(Segment(span.text, style_of(span)))
        room -= size
    return segments
