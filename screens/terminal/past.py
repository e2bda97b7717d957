"""What has scrolled off a terminal, looked at without touching it: the agent's pane knows nothing of it."""

from __future__ import annotations

from collections.abc import Sequence

from textual.strip import Strip


class Past:
    """Rows of the past with the present at their end, seen through a window."""

    def __init__(self, rows: Sequence[Strip], height: int) -> None:
        self._rows = rows
        self._height = height
        self._above = 0
        """Rows that are hidden below the window."""

    @property
    def over(self) -> bool:
        """Whether the window is back at the end."""
        return self._above == 0

    def move(self, lines: int) -> None:
        """Up where ``lines`` is negative, as far as there is something."""
        self._above = max(min(self._above - lines, len(self._rows) - self._height), 0)

    def row(self, y: int) -> Strip | None:
        """What is seen on a row of the window; None below the last."""
        at = max(len(self._rows) - self._height, 0) - self._above + y
        return self._rows[at] if 0 <= at < len(self._rows) else None
