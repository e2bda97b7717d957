"""How many tiles stand on the wall and where each begins: as many as there is room for, as large as they can be."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from textual.geometry import Region, Size

LEAST_WIDTH: Final = 38
LEAST_HEIGHT: Final = 8
"""Cells and lines below which a tile says too little."""
SHAPE: Final = 4.0
"""Cells to a line of a tile that looks like the terminal it shows."""


@dataclass(frozen=True, slots=True)
class Grid:
    """Tiles in columns and rows over a window."""

    columns: int
    rows: int
    size: Size

    @property
    def capacity(self) -> int:
        """How many tiles are seen at once."""
        return self.columns * self.rows

    def places(self, count: int) -> list[Region]:
        """Where each of ``count`` tiles stands; a last row that is not full is stretched to the edge."""
        places: list[Region] = []
        for index in range(min(count, self.capacity)):
            row, column = divmod(index, self.columns)
            across = min(self.columns, count - row * self.columns)
            x, y = column * self.size.width // across, row * self.size.height // self.rows
            right, bottom = (column + 1) * self.size.width // across, (row + 1) * self.size.height // self.rows
            places.append(Region(x, y, right - x, bottom - y))
        return places

    def first_row(self, first: int, cursor: int, count: int) -> int:
        """The row to begin with so that the cursor's tile is seen, moved as little as possible from ``first``."""
        row = cursor // self.columns
        last = max(math.ceil(count / self.columns) - self.rows, 0)
        return min(max(min(first, row), row - self.rows + 1, 0), last)


def grid_for(count: int, size: Size) -> Grid:
    """The grid for so many runs: all of them where they fit, in the shape that is most like a terminal."""
    most_columns, most_rows = max(size.width // LEAST_WIDTH, 1), max(size.height // LEAST_HEIGHT, 1)
    if count >= most_columns * most_rows:
        return Grid(most_columns, most_rows, size)
    fitting = []
    for columns in range(1, min(most_columns, max(count, 1)) + 1):
        rows = max(math.ceil(count / columns), 1)
        if rows <= most_rows:
            fitting.append(Grid(columns, rows, size))
    return min(fitting, key=lambda grid: _strain(grid, count))


def _strain(grid: Grid, count: int) -> float:
    """How far a grid is from good: the shape of its tiles, and the room that its last row leaves over."""
    width, height = max(grid.size.width / grid.columns, 1), max(grid.size.height / grid.rows, 1)
    return abs(math.log(width / height / SHAPE)) + (grid.capacity - count) / grid.capacity
