"""One line of a widget made of spans, cut to its width with an ellipsis; the right part keeps its place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

ELLIPSIS = "…"


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


def wrap(text: str, width: int, lines: int) -> list[str]:
    """``text`` over at most ``lines`` lines, broken at spaces, the last one clipped; one empty line for no text."""
    done: list[str] = []
    words = text.split(" ")
    while words and len(done) < lines - 1:
        taken = words.pop(0)
        while words and cell_len(taken) + 1 + cell_len(words[0]) <= width:
            taken += " " + words.pop(0)
        done.append(clip(taken, width))
    if words or not done:
        done.append(clip(" ".join(words), width))
    return done


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
