"""Turns a capture into rows that stand alone: printable text and SGR styles, each row opening and closing its own.

tmux writes a style once and lets it run on into the next rows, so a row cut out of a capture, or compared with an
older one, would lie. It draws lines with the terminal's second character set; here they become box characters.
Anything else an agent may have put there (links, control characters) is dropped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from executor.tmux.version import TmuxVersion

RAW_SHOW_BUFFER = TmuxVersion(3, 4)
"""Before this release show-buffer encodes what it shows to a control client."""


def captured(replies: Sequence[Sequence[bytes]], version: TmuxVersion) -> tuple[str, ...]:
    """The rows that the command built by ``looking.capture`` printed."""
    if len(replies) == 1:
        return standalone(replies[0])
    rows = replies[1]
    if rows and not rows[-1]:
        rows = rows[:-1]  # the newline that ends a buffer
    return standalone(rows, encoded=version < RAW_SHOW_BUFFER)


_VIS = re.compile(rb"\\(?:([0-3][0-7]{2})|(.))", re.DOTALL)
_VIS_LETTERS = dict(zip(b"abfnrtvs0", b"\a\b\f\n\r\t\v \0", strict=True))


def unvis(data: bytes) -> bytes:
    """Undoes the vis(3) encoding in which tmux before 3.4 shows a buffer to a control client."""
    return _VIS.sub(_unvis_one, data) if b"\\" in data else data


def _unvis_one(found: re.Match[bytes]) -> bytes:
    if found[1]:
        return bytes([int(found[1], 8)])
    letter = found[2][0]
    return bytes([_VIS_LETTERS.get(letter, letter)])


def standalone(rows: Iterable[bytes], *, encoded: bool = False) -> tuple[str, ...]:
    """The rows of one capture, top first, each on its own; ``encoded`` if they need ``unvis`` first."""
    pen = _Pen()
    result = []
    for row in rows:
        text, pen = _standalone(row, pen, encoded)
        result.append(text)
    return tuple(result)


class _Pen(NamedTuple):
    """What tmux has switched on and not off again; each field is the SGR parameters that did it."""

    attributes: tuple[str, ...] = ()
    foreground: str = ""
    background: str = ""
    underline: str = ""
    lines: bool = False
    """Whether the line-drawing character set is on."""

    def after(self, parameters: str) -> _Pen:
        """The pen once SGR ``parameters`` were read. tmux never mixes colours and attributes in one sequence."""
        first, _, rest = parameters.partition(";")
        code = int(first.partition(":")[0] or 0)
        if code == 0:
            return _Pen((rest,) if rest else (), lines=self.lines)
        if code in (39, 49, 59):
            parameters = ""
        if 30 <= code <= 39 or 90 <= code <= 97:
            return self._replace(foreground=parameters)
        if 40 <= code <= 49 or 100 <= code <= 107:
            return self._replace(background=parameters)
        if code in (58, 59):
            return self._replace(underline=parameters)
        return self._replace(attributes=(*self.attributes, parameters))

    @property
    def sgr(self) -> str:
        """One sequence that switches all of it on."""
        parameters = ";".join(filter(None, (*self.attributes, self.foreground, self.background, self.underline)))
        return f"\x1b[{parameters}m" if parameters else ""


_MARK = re.compile(
    r"\x1b\[(?P<sgr>[0-9;:]*)m|(?P<shift>[\x0e\x0f])"
    r"|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b\[[0-?]*[ -/]*[@-~]|[\x00-\x1f\x7f-\x9f]"
)
_OVERLINE = re.compile(r"(?<![0-9:])5:3(?![0-9:])")
"""How tmux writes overline in a capture, by its way with attributes of two digits; it reads as a kind of blinking."""
_LINES = str.maketrans("`afgijklmnopqrstuvwxyz{|}~", "◆▒°±␋┘┐┌└┼⎺⎻─⎼⎽├┤┴┬│≤≥π≠£·")


@lru_cache(maxsize=4096)
def _standalone(row: bytes, pen: _Pen, encoded: bool) -> tuple[str, _Pen]:
    """The row for itself and the pen behind it. Cached: most rows of a screen are those of the capture before."""
    text = (unvis(row) if encoded else row).decode("utf-8", "replace")
    pieces: list[str] = []
    position = 0
    for mark in _MARK.finditer(text):
        _draw(pieces, text[position : mark.start()], pen)
        position = mark.end()
        if mark["sgr"] is not None:
            parameters = _OVERLINE.sub("53", mark["sgr"])
            pen = pen.after(parameters)
            if pieces:
                pieces.append(f"\x1b[{parameters}m")
        elif mark["shift"]:
            pen = pen._replace(lines=mark["shift"] == "\x0e")
    _draw(pieces, text[position:], pen)
    if pieces and pen.sgr:
        pieces.append("\x1b[0m")
    return "".join(pieces), pen


def _draw(pieces: list[str], text: str, pen: _Pen) -> None:
    if text and not pieces:
        pieces.append(pen.sgr)
    if text:
        pieces.append(text.translate(_LINES) if pen.lines else text)
