"""What stands in each cell of a screen, read from rows of text with SGR styles, and where two readings differ."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

Colour = int | tuple[int, int, int] | None
"""Of the palette, of 24 bits, or the terminal's own."""

_SGR = re.compile(r"\x1b\[([0-9:;]*)m")
_LINK = re.compile(r"\x1b\]8;[^\x07\x1b]*(?:\x07|\x1b\\)")
_ON = (1, 2, 3, 5, 7, 8, 9, 53)
_OFF = {22: {1, 2}, 23: {3}, 25: {5}, 27: {7}, 28: {8}, 29: {9}, 55: {53}}
_SYSTEM = (0x000000, 0x800000, 0x008000, 0x808000, 0x000080, 0x800080, 0x008080, 0xC0C0C0)
_BRIGHT = (0x808080, 0xFF0000, 0x00FF00, 0xFFFF00, 0x0000FF, 0xFF00FF, 0x00FFFF, 0xFFFFFF)
_LEVELS = (0, 95, 135, 175, 215, 255)


class Look(NamedTuple):
    """How a cell looks; nothing is left out."""

    fore: Colour = None
    back: Colour = None
    attributes: frozenset[int] = frozenset()
    """By their SGR numbers, without underlining."""
    underline: int = 0
    """0 none, 1 single, 2 double, 3 curly, 4 dotted, 5 dashed."""
    underline_colour: Colour = None


Cell = tuple[str, Look]
_BLANK: Cell = (" ", Look())


def cells(row: str) -> list[Cell]:
    """Each character of a row with its look. Raises ValueError at anything but text, styles and links."""
    look, found = Look(), list[Cell]()
    for number, piece in enumerate(_SGR.split(_LINK.sub("", row))):
        if number % 2:
            look = _after(look, piece)
        elif piece.isprintable():
            found += [(character, look) for character in piece]
        elif "\x1b" in piece:
            raise ValueError(f"{piece!r} is neither text nor style")
        else:
            found += [(character, look) for character in piece]
    return found


def differences(ours: Sequence[str], theirs: Sequence[str]) -> list[str]:
    """Where our rows differ from those that tmux has captured, in words, one for a row.

    tmux 3.3a captures a row up to the last cell that was written to: what was erased in a colour behind it is lost.
    There, and nowhere else, ours may have a ground.
    """
    if len(ours) != len(theirs):
        return [f"{len(ours)} rows, and {len(theirs)} in the pane"]
    found = []
    for y, (row, other) in enumerate(zip(ours, theirs, strict=True)):
        mine, its = cells(row), cells(other)
        for x in range(max(len(mine), len(its))):
            cell, pane = (line[x] if x < len(line) else _BLANK for line in (mine, its))
            if cell != pane and not (x >= len(its) and cell == (" ", Look(back=cell[1].back))):
                found.append(f"row {y} cell {x}: {cell}, in the pane {pane}\n  {row!r}\n  pane: {other!r}")
                break
    return found


def _after(look: Look, parameters: str) -> Look:
    words = [[int(number or 0) for number in word.split(":")] for word in parameters.split(";")]
    while words:
        code, *more = words.pop(0)
        if code == 0:
            look = Look()
        elif code in (4, 21, 24):
            look = look._replace(underline={21: 2, 24: 0}.get(code, more[0] if more else 1))
        elif (code, more) == (5, [3]):
            # tmux 3.3a's capture: it writes every number above 9 as if it were a style and its kind.
            look = _with(look, 53)
        elif code in _ON:
            look = _with(look, code)
        elif code in _OFF:
            look = look._replace(attributes=look.attributes - _OFF[code])
        else:
            look = _coloured(look, code, more, words)
    return look


def _with(look: Look, attribute: int) -> Look:
    return look._replace(attributes=look.attributes | {attribute})


def _coloured(look: Look, code: int, more: list[int], words: list[list[int]]) -> Look:
    if code in (38, 48, 58):
        colour = _extended(more or _spread(words))
        if code == 58:
            return look._replace(underline_colour=_true(colour))
        return look._replace(fore=colour) if code == 38 else look._replace(back=colour)
    if code == 59:
        return look._replace(underline_colour=None)
    if code in (39, 49):
        return look._replace(fore=None) if code == 39 else look._replace(back=None)
    for first, index in ((30, 0), (90, 8)):
        if first <= code < first + 8:
            return look._replace(fore=code - first + index)
        if first + 10 <= code < first + 18:
            return look._replace(back=code - first - 10 + index)
    raise ValueError(f"no style has the number {code}")


def _spread(words: list[list[int]]) -> list[int]:
    """A colour that follows in words of its own: ``5;n`` or ``2;r;g;b``."""
    return [words.pop(0)[0] for _ in range(4 if words[0] == [2] else 2)]


def _extended(numbers: list[int]) -> Colour:
    """``5:n``, ``2:r:g:b`` or ``2:space:r:g:b``."""
    return numbers[1] if numbers[0] == 5 else (numbers[-3], numbers[-2], numbers[-1])


def _true(colour: Colour) -> Colour:
    """tmux 3.3a gives its clients underline colours of the palette as xterm's 24-bit ones."""
    if not isinstance(colour, int):
        return colour
    if colour < 16:
        packed = (_SYSTEM + _BRIGHT)[colour]
        return packed >> 16, packed >> 8 & 255, packed & 255
    if colour >= 232:
        return (8 + (colour - 232) * 10,) * 3
    red, rest = divmod(colour - 16, 36)
    return _LEVELS[red], _LEVELS[rest // 6], _LEVELS[rest % 6]
