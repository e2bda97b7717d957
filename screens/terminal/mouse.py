"""The mouse: what a terminal reports, and how it is told to a program that asked for it."""

from __future__ import annotations

import re
from collections.abc import Set
from typing import Final, NamedTuple

MOVES: Final = 32
WHEEL: Final = 64
_SGR = re.compile(r"\x1b\[<([0-9]+);(-?[0-9]+);(-?[0-9]+)([Mm])")
_FURTHEST: Final = 223
"""Last column that the old encoding can say."""


class Report(NamedTuple):
    """One report: xterm's button code, the cell from the top left, and whether a button was let go."""

    code: int
    x: int
    y: int
    up: bool = False

    @property
    def moves(self) -> bool:
        """Whether it tells of a movement."""
        return bool(self.code & MOVES)

    @property
    def wheel(self) -> bool:
        """Whether the wheel was turned."""
        return bool(self.code & WHEEL)

    @property
    def pressed(self) -> bool:
        """Whether a button is down, or was let go right now."""
        return self.code & 3 != 3


def read(text: str, cell: tuple[float, float] = (1.0, 1.0)) -> Report | None:
    """The report of an SGR sequence; ``cell`` is how large a cell is in its units. None for another sequence."""
    found = _SGR.fullmatch(text)
    if found is None:
        return None
    code, x, y = (int(part) for part in found.groups()[:3])
    return Report(code, int((x - 1) // cell[0]), int((y - 1) // cell[1]), found[4] == "m")


def wanted(report: Report, modes: Set[str]) -> bool:
    """Whether a program with these modes is to hear of it."""
    if report.moves and not report.pressed:
        return "mouse_any" in modes
    if report.moves:
        return bool(modes & {"mouse_any", "mouse_drag"})
    return bool(modes & {"mouse_any", "mouse_drag", "mouse_press"})


def write(report: Report, modes: Set[str]) -> bytes:
    """The report in the encoding that the program asked for; nothing for a cell too far for it."""
    code, x, y, up = report
    if "mouse_sgr" in modes:
        return f"\x1b[<{code};{x + 1};{y + 1}{'m' if up else 'M'}".encode()
    if not 0 <= x < _FURTHEST or not 0 <= y < _FURTHEST:
        return b""
    return b"\x1b[M" + bytes((32 + (code & ~3 | 3 if up else code), 33 + x, 33 + y))
