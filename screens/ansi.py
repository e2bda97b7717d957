"""Captured terminal rows (text with SGR sequences) become Textual strips, and nothing else of them gets through.

The pen and the line-drawing state are carried from row to row, because a capture writes only what changes. A row that
was seen before, entered with the same pen, is looked up. Every table is bounded. Cursor movement, titles, clipboard
writes and queries are swallowed; a control character never reaches the operator's terminal. So are links, but in the
terminal that the operator types into, where they lead to a page, a mailbox or a file; each ends with its row.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import MutableMapping, Sequence
from typing import Final, NamedTuple, TypeVar

from rich.cells import cell_len, get_character_cell_size
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from screens.confine import confined
from screens.sgr import PLAIN, UNDERLINES, Pen, after, rich_style
from screens.underlines import underlined
from themes import TerminalColours

_K = TypeVar("_K")
_V = TypeVar("_V")

MAX_ROW: Final = 32_768
"""Characters of one row that are read; the widest pane tmux can make fits many times."""
MAX_LINES: Final = 4_096
MAX_STYLES: Final = 8_192
MAX_LINKS: Final = 1_024

_TOKEN = re.compile(
    r"(?:\x1b\[|\x9b)(?P<csi>[0-?]*[ -/]*)(?P<final>[@-~])?"
    r"|\x1b\]8;[^;\x00-\x1f\x7f-\x9f]*;(?P<link>[^\x00-\x1f\x7f-\x9f]*)(?:\x07|\x1b\\)"
    r"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c]*(?:\x07|\x9c|\x1b\\|\Z|(?=\x1b))"
    r"|\x1b(?P<charset>[()*+\-./])(?P<set>.)?"
    r"|\x1b[ -/]*[0-~]?"
    r"|(?P<control>[\x00-\x1f\x7f-\x9f])",
    re.DOTALL,
)
_BEYOND_SGR = re.compile(r"\x1b(?!\[[0-9:;]*m)|[\x00-\x1a\x1c-\x1f\x7f-\x9f]")
_SGR = re.compile(r"[0-9:;]*")
"""Parameters of a plain SGR; with ``?`` or ``>`` before them the sequence means something else."""
_LINK = re.compile(r"(?:https?://|mailto:|file://)[!-~]{1,2048}", re.IGNORECASE)
"""What may be handed on: one that holds anything else could end in the midst of itself, and go on as a command."""
_LINE_DRAWING = str.maketrans(
    "`afgjklmnopqrstuvwxyz{|}~",
    "◆▒°±┘┐┌└┼⎺⎻─⎼⎽├┤┴┬│≤≥π≠£·",
)


class _State(NamedTuple):
    """What one row hands to the next."""

    pen: Pen
    drawing: bool


class RowRenderer:
    """Draws captured rows in the colours of one terminal; keep one per pane, or share one between panes."""

    def __init__(
        self,
        colours: TerminalColours,
        *,
        remembers: int = MAX_LINES,
        links: bool = False,
        underlines: bool = False,
    ) -> None:
        """``remembers``: how many rows it looks up instead of drawing them again; ``links``: whether they are handed
        on; ``underlines``: whether the operator's terminal draws them in every form."""
        self.colours = colours
        self._hands_on, self._underlines = links, underlines
        self._remembers = remembers
        self._lines: OrderedDict[tuple[str, _State], tuple[Strip, _State]] = OrderedDict()
        self._styles: dict[Pen, Style] = {}
        self._links: dict[tuple[Pen, str], Style] = {}

    @property
    def base(self) -> Style:
        """Style of a cell that nothing was written to."""
        return self._style(PLAIN)

    def strips(self, rows: Sequence[str]) -> list[Strip]:
        """One strip a row, as wide as its text; the caller crops or pads. The first row starts with a plain pen."""
        state = _State(PLAIN, drawing=False)
        lines = self._lines
        drawn: list[Strip] = []
        for row in rows:
            key = (row[:MAX_ROW], state)
            found = lines.get(key)
            if found is None:
                found = self._draw(*key)
                if len(lines) >= self._remembers:
                    # One by one: to free all of them at once would hold up a key for 40 ms.
                    lines.popitem(last=False)
                lines[key] = found
            drawn.append(found[0])
            state = found[1]
        return drawn

    def _draw(self, row: str, state: _State) -> tuple[Strip, _State]:
        """Rows that hold nothing but text and SGR, nearly all of them, are split; others are read token by token."""
        if state.drawing or _BEYOND_SGR.search(row):
            return self._draw_by_token(row, state)
        pen = state.pen
        text, *pieces = row.split("\x1b[")
        segments: list[Segment] = []
        width = self._write(segments, text, pen) if text else 0
        for piece in pieces:
            parameters, _, text = piece.partition("m")
            pen = after(pen, parameters)
            if text:
                width += self._write(segments, text, pen)
        return Strip(segments, width), _State(pen, drawing=False)

    def _draw_by_token(self, row: str, state: _State) -> tuple[Strip, _State]:
        pen, drawing = state
        segments: list[Segment] = []
        width = end = 0
        link = ""
        for match in _TOKEN.finditer(row):
            if match.start() > end:
                width += self._write(segments, row[end : match.start()], pen, drawing, link)
            end = match.end()
            if match["final"] == "m" and _SGR.fullmatch(match["csi"]):
                pen = after(pen, match["csi"])
            elif match["link"] is not None:
                link = match["link"] if self._hands_on and _LINK.fullmatch(match["link"]) else ""
            elif match["set"]:
                drawing = match["charset"] == "(" and match["set"] == "0"
            elif match["control"] == "\t":
                width += self._write(segments, " " * (8 - width % 8), pen, link=link)
            elif match["control"] in ("\x0e", "\x0f"):
                drawing = match["control"] == "\x0e"
        if end < len(row):
            width += self._write(segments, row[end:], pen, drawing, link)
        return Strip(segments, width), _State(pen, drawing)

    def _write(self, segments: list[Segment], text: str, pen: Pen, drawing: bool = False, link: str = "") -> int:
        """Append ``text``; returns the cells it takes. A mark with nothing to stand on in its segment is dropped."""
        if drawing:
            text = text.translate(_LINE_DRAWING)
        if text.isascii() and text.isprintable():
            segments.append(Segment(text, self._linked(pen, link) if link else self._style(pen)))
            return len(text)
        text = _standing(confined(text))
        if not text:
            return 0
        segments.append(Segment(text, self._linked(pen, link) if link else self._style(pen)))
        return cell_len(text)

    def _style(self, pen: Pen) -> Style:
        style = self._styles.get(pen)
        if style is None:
            style = rich_style(pen, self.colours)
            if self._underlines and pen.attributes & UNDERLINES:
                style = underlined(style, pen, self.colours)
            _bound(self._styles, MAX_STYLES)
            self._styles[pen] = style
        return style

    def _linked(self, pen: Pen, link: str) -> Style:
        """One style for all that a link spans, so that the terminal takes it for one."""
        style = self._links.get((pen, link))
        if style is None:
            style = self._style(pen).update_link(link)
            _bound(self._links, MAX_LINKS)
            self._links[pen, link] = style
        return style


def _standing(text: str) -> str:
    """``text`` without the marks at its start that would combine with a neighbour of another style."""
    start = 0
    while start < len(text) and not get_character_cell_size(text[start]):
        start += 1
    return text[start:]


def _bound(table: MutableMapping[_K, _V], limit: int) -> None:
    """Empty a full table: what is on screen comes back at the next frame, at the cost of one."""
    if len(table) >= limit:
        table.clear()
