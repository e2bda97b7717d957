"""Rows of the engine's library put right where they hold no text: it leaves out those that were only erased in a
colour, and writes a gap, cells that nothing was written to, in the style of the text before.

The library's cells say what is there, 64 bits each.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise
from operator import not_
from typing import Final

_PLAIN: Final = "\x1b[0m"
_SGR: Final = re.compile(r"(\x1b\[[0-9:;]*m)")
_CELL_BYTES: Final = 8
_WIDE: Final = 1 << 42
"""From this bit on a packed cell says how wide it is."""
_CLUSTER: Final = 1
_TAGS: Final = bytes(byte & 3 for byte in range(256))
_JOINER: Final = "\u200d"


@lru_cache(maxsize=1024)
def mended(row: str, packed: bytes) -> str:
    """The row, which the library has written, of these cells. Cached: most rows are those of the frame before."""
    return _plain_gaps(row, packed) if row else _grounds(memoryview(packed).cast("Q").tolist())


def _grounds(cells: list[int]) -> str:
    """A row of cells that hold no text but perhaps a colour, packed as the library packs them."""
    if not any(cells):
        return ""
    pieces: list[str] = []
    last = ""
    for cell in cells:
        tag, colour = cell & 3, cell >> 2 & 0xFFFFFF
        if tag == 2:
            sgr = f"\x1b[0;48;5;{colour & 255}m"
        elif tag == 3:
            sgr = f"\x1b[0;48;2;{colour & 255};{colour >> 8 & 255};{colour >> 16}m"
        else:
            sgr = "\x1b[0m"
        pieces.append(" " if sgr == last else sgr + " ")
        last = sgr
    return "".join(pieces) + "\x1b[0m"


def _plain_gaps(row: str, packed: bytes) -> str:
    """The row with its gaps, which are cells before the last text that nothing was written to, in no style."""
    if bytes(_CELL_BYTES) not in packed.rstrip(b"\0"):
        return row
    pieces = _SGR.split(row)
    text = "".join(pieces[::2])
    gaps = _gaps(text, packed).ljust(len(text), b"\0")
    style, at = "", 0
    for number, piece in enumerate(pieces):
        if number % 2:
            style = "" if piece == _PLAIN else style + piece
            continue
        if style and gaps.find(1, at, at + len(piece)) >= 0:
            pieces[number] = _unstyled(piece, gaps[at : at + len(piece)], style)
        at += len(piece)
    return "".join(pieces)


def _gaps(text: str, packed: bytes) -> bytes:
    """For each character of a row 1 where it stands for a cell that nothing was written to, else 0."""
    cells = memoryview(packed).cast("Q").tolist()
    if max(cells) < _WIDE and _CLUSTER not in packed[::_CELL_BYTES].translate(_TAGS):
        return bytes(map(not_, cells))
    found = bytearray()
    shown = [cell for cell in cells if cell // _WIDE & 3 < 2]  # without the second halves of wide characters
    for cell, following in pairwise([*shown, 0]):
        found.append(not cell)
        if cell & 3 == _CLUSTER:
            # Of a cluster the cell holds the first character; the others go on to where the next cell begins.
            found.append(0)
            begins = chr(following >> 2 & 0x1FFFFF).replace("\0", " ") if following & 3 < 2 else " "
            while len(found) < len(text) and (text[len(found)] != begins or text[len(found) - 1] == _JOINER):
                found.append(0)
    return bytes(found)


def _unstyled(text: str, gaps: bytes, style: str) -> str:
    """Text in a style, but for its gaps."""
    runs = (found.span() for found in re.finditer(rb"\x00+|\x01+", gaps))
    return "".join(f"{_PLAIN}{text[a:b]}{style}" if gaps[a] else text[a:b] for a, b in runs)
