"""Which widgets are told that they were shown, or have another size.

Textual compares each layout with the one before. One that was worked out in between, because somebody asked where a
widget is, would take the place of the one before, and whoever it shows is never told.
"""

from __future__ import annotations

from typing import Any

from textual._compositor import Compositor, CompositorMap, ReflowResult
from textual.geometry import Size
from textual.screen import Screen
from textual.widget import Widget


class Layouts(Compositor):
    """Compares with the layout that was told last."""

    _told: CompositorMap | None = None

    @property
    def full_map(self) -> CompositorMap:
        before = self._full_map
        found = super().full_map
        if found is not before and self._told is None:
            self._told = before
        return found

    def reflow(self, parent: Widget, size: Size) -> ReflowResult:
        if self._told is not None:
            self._full_map, self._told = self._told, None
        return super().reflow(parent, size)


def keep_told(screen: Screen[Any]) -> None:
    """Have a new screen's widgets told of every layout."""
    screen._compositor = Layouts()
