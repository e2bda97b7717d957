"""Curly, dotted, dashed and coloured underlines, for which Rich has no word.

Rich keeps in each style what it writes for it, and that is where they are put. A style that another is added to, as by
a mark or by the filter of a screen without colours, loses them and is underlined plainly.
"""

from __future__ import annotations

from typing import Final

from rich.color import ColorSystem
from rich.style import Style
from textual.strip import Strip

from screens.sgr import CURLY, DASHED, DIM, DOTTED, UNDERLINES, Pen, rich_colour
from themes import TerminalColours

_CODES: Final = {CURLY: "4:3", DOTTED: "4:4", DASHED: "4:5"}


def underlined(style: Style, pen: Pen, colours: TerminalColours) -> Style:
    """``style``, which is the pen's, with its underline as the program asked for it; for a terminal of 24-bit colour.

    In a sequence of their own: a terminal that does not know them has underlined the text already.
    """
    codes = _codes(pen, colours)
    if not codes:
        return style
    # Unlike any other style: Rich and Textual look up by equality what they have made of one.
    apart = style + Style(meta={"underline": codes})
    apart._ansi = f"{Strip.render_ansi(style, ColorSystem.TRUECOLOR)}m\x1b[{codes}"
    return apart


def _codes(pen: Pen, colours: TerminalColours) -> str:
    bits = pen.attributes
    # Textual mixes dim colours itself at times, and makes another style for it.
    if not bits & UNDERLINES or bits & DIM:
        return ""
    codes = [code for bit, code in _CODES.items() if bits & bit]
    if pen.line is not None and (colour := rich_colour(pen.line, colours, True).triplet):
        codes.append("58:2::" + ":".join(map(str, colour)))
    return ";".join(codes)
