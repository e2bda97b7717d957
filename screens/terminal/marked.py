"""What the operator has marked on a terminal's screen with the mouse, from cell to cell as in any terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len, set_cell_size


class Marked:
    """From the cell the button went down on to the one the mouse has reached."""

    def __init__(self, x: int, y: int) -> None:
        self._from = self._to = (y, x)

    @property
    def empty(self) -> bool:
        """Whether the mouse has not moved yet."""
        return self._from == self._to

    def reach(self, x: int, y: int) -> None:
        """The mouse is here now."""
        self._to = (y, x)

    def span(self, y: int, width: int) -> tuple[int, int] | None:
        """First cell and the one behind the last on a row; None where nothing is marked."""
        (top, left), (bottom, right) = sorted((self._from, self._to))
        if self.empty or not top <= y <= bottom:
            return None
        start = left if y == top else 0
        end = right + 1 if y == bottom else width
        return (max(start, 0), min(end, width)) if start < end else None

    def text(self, rows: Sequence[str], width: int) -> str:
        """The marked text, without the blanks at the end of rows."""
        lines = []
        for y, row in enumerate(rows):
            if span := self.span(y, width):
                lines.append(_cells(row, *span).rstrip())
        return "\n".join(lines)


def _cells(row: str, start: int, end: int) -> str:
    if row.isascii():
        return row[start:end]
    head = set_cell_size(row, min(end, cell_len(row)))
    return head[len(set_cell_size(head, start)) :] if start < cell_len(head) else ""
