"""The pen of a terminal: what select-graphic-rendition sequences make of it, and the Rich style it stands for.

A sequence is read once into an *edit*, which does not depend on the pen it meets, so a few hundred edits serve any
stream. Colours are ``None`` for the default, 0 to 255 for the palette, and ``RGB | 0xrrggbb`` for 24-bit colour.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

from rich.color import Color
from rich.style import Style

from themes import TerminalColours

RGB: Final = 0x1000000
KEEP: Final = -1

BOLD, DIM, ITALIC, UNDERLINE, DOUBLE, REVERSE, CONCEAL, STRIKE, OVERLINE = (1 << bit for bit in range(9))
CURLY, DOTTED, DASHED = (1 << bit for bit in range(9, 12))
"""How a line is drawn; UNDERLINE stands beside them."""
UNDERLINES: Final = UNDERLINE | DOUBLE | CURLY | DOTTED | DASHED
ALL: Final = (1 << 12) - 1

_ON = {1: BOLD, 2: DIM, 3: ITALIC, 7: REVERSE, 8: CONCEAL, 9: STRIKE, 53: OVERLINE}
_UNDERLINES = {0: 0, 2: DOUBLE, 3: UNDERLINE | CURLY, 4: UNDERLINE | DOTTED, 5: UNDERLINE | DASHED}
_OFF = {
    22: BOLD | DIM,
    23: ITALIC,
    24: UNDERLINES,
    27: REVERSE,
    28: CONCEAL,
    29: STRIKE,
    55: OVERLINE,
}
_TRUE_COLOUR = re.compile(r"([34])8;2;([0-9]{1,3});([0-9]{1,3});([0-9]{1,3})")
"""What agents write most, taken the short way."""
_LEVELS = (0, 95, 135, 175, 215, 255)


class Pen(NamedTuple):
    """Foreground, background, attributes and colour of the underline that the next character is drawn with."""

    fore: int | None = None
    back: int | None = None
    attributes: int = 0
    line: int | None = None


class Edit(NamedTuple):
    """What a sequence does to any pen: colours to set (or KEEP), attributes to keep, attributes to add."""

    fore: int | None = KEEP
    back: int | None = KEEP
    keep: int = ALL
    add: int = 0
    line: int | None = KEEP

    def with_attributes(self, off: int, on: int) -> Edit:
        """This edit, then ``off`` taken away and ``on`` added."""
        return self._replace(keep=self.keep & ~off, add=self.add & ~off | on)


PLAIN: Final = Pen()
_RESET: Final = Edit(None, None, 0, 0, None)


def after(pen: Pen, parameters: str) -> Pen:
    """The pen that ``CSI parameters m`` leaves behind; what is not understood leaves it as it was."""
    fore, back, keep, add, line = edit(parameters)
    return Pen(
        pen.fore if fore == KEEP else fore,
        pen.back if back == KEEP else back,
        pen.attributes & keep | add,
        pen.line if line == KEEP else line,
    )


@lru_cache(maxsize=8192)
def edit(parameters: str) -> Edit:
    """Read ``parameters``; both forms of extended colour count, ``38;2;r;g;b`` and ``38:2::r:g:b``.

    Blinking is left out on purpose: nothing on the operator's screen moves by itself.
    """
    if found := _TRUE_COLOUR.fullmatch(parameters):
        layer, *levels = map(int, found.groups())
        return _coloured(Edit(), layer * 10 + 8, _rgb(*levels))
    groups = [[_number(part) for part in group.split(":")] for group in parameters.split(";")]
    result = Edit()
    position = 0
    while position < len(groups):
        group = groups[position]
        position += 1
        if group[0] not in (38, 48, 58):
            result = _simple(result, group)
        elif len(group) > 1:
            result = _coloured(result, group[0], _colon_colour(group))
        else:
            colour, position = _spread_colour(groups, position)
            result = _coloured(result, group[0], colour)
    return result


def rich_style(pen: Pen, colours: TerminalColours) -> Style:
    """The Rich style of a pen on a terminal of these colours; always 24-bit, so no filter has to translate it.

    Of an underline it says whether it is single or double.
    """
    fore, back, bits, _ = pen
    if not bits:
        return Style.from_color(rich_colour(fore, colours, True), rich_colour(back, colours, False))
    return Style(
        color=rich_colour(fore, colours, True),
        bgcolor=rich_colour(back, colours, False),
        bold=bool(bits & BOLD),
        dim=bool(bits & DIM),
        italic=bool(bits & ITALIC),
        underline=bool(bits & UNDERLINE),
        underline2=bool(bits & DOUBLE),
        reverse=bool(bits & REVERSE),
        conceal=bool(bits & CONCEAL),
        strike=bool(bits & STRIKE),
        overline=bool(bits & OVERLINE),
    )


@lru_cache(maxsize=8192)
def rich_colour(colour: int | None, colours: TerminalColours, foreground: bool) -> Color:
    """A pen's colour as Rich has it; ``None`` is that of text or of ground."""
    if colour is None:
        return Color.parse(colours.foreground if foreground else colours.background)
    if colour & RGB:
        return Color.from_rgb(colour >> 16 & 255, colour >> 8 & 255, colour & 255)
    if colour < 16:
        return Color.parse(colours.palette[colour])
    if colour >= 232:
        grey = 8 + (colour - 232) * 10
        return Color.from_rgb(grey, grey, grey)
    red, rest = divmod(colour - 16, 36)
    green, blue = divmod(rest, 6)
    return Color.from_rgb(_LEVELS[red], _LEVELS[green], _LEVELS[blue])


def _simple(so_far: Edit, group: list[int]) -> Edit:
    code = group[0]
    if code == 0:
        return _RESET
    if code in (4, 21):
        style = 2 if code == 21 else group[1] if len(group) > 1 else 1
        return so_far.with_attributes(UNDERLINES, _UNDERLINES.get(style, UNDERLINE))
    if code in _ON:
        return so_far.with_attributes(0, _ON[code])
    if code in _OFF:
        return so_far.with_attributes(_OFF[code], 0)
    if 30 <= code <= 37 or 90 <= code <= 97:
        return so_far._replace(fore=code - 30 if code < 90 else code - 82)
    if 40 <= code <= 47 or 100 <= code <= 107:
        return so_far._replace(back=code - 40 if code < 100 else code - 92)
    if code == 39:
        return so_far._replace(fore=None)
    if code == 49:
        return so_far._replace(back=None)
    if code == 59:
        return so_far._replace(line=None)
    return so_far


def _coloured(so_far: Edit, code: int, colour: int) -> Edit:
    if colour == KEEP:
        return so_far
    if code == 58:
        return so_far._replace(line=colour)
    return so_far._replace(fore=colour) if code == 38 else so_far._replace(back=colour)


def _colon_colour(group: list[int]) -> int:
    """``38:5:n``, ``38:2:r:g:b`` or ``38:2:space:r:g:b``."""
    if group[1] == 5 and len(group) > 2:
        return _byte(group[2])
    if group[1] == 2 and len(group) >= 5:
        return _rgb(*(group[3:6] if len(group) > 5 else group[2:5]))
    return KEEP


def _spread_colour(groups: list[list[int]], position: int) -> tuple[int, int]:
    """``5;n`` or ``2;r;g;b`` after the 38 or 48 that stands before ``position``; says where to read on."""
    mode = groups[position][0] if position < len(groups) else 0
    values = [group[0] for group in groups[position + 1 : position + 4]]
    if mode == 5 and values:
        return _byte(values[0]), position + 2
    if mode == 2 and len(values) == 3:
        return _rgb(*values), position + 4
    return KEEP, len(groups)


def _number(text: str) -> int:
    """A parameter as a number; an empty one counts as 0, an absurd one as one that means nothing."""
    if not text:
        return 0
    return int(text) if len(text) < 6 and text.isascii() and text.isdigit() else 9999


def _rgb(red: int, green: int, blue: int) -> int:
    return RGB | _byte(red) << 16 | _byte(green) << 8 | _byte(blue)


def _byte(value: int) -> int:
    return min(max(value, 0), 255)
