"""How well what is drawn reads: the contrast of WCAG 2.1, measured on the cells of the screen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rich.color import Color
from rich.style import Style
from textual.geometry import Region
from textual.widget import Widget

from screens.widgets.pane import Pane
from screens.widgets.terminal import TerminalWidget
from screens.widgets.tile_wall import TileWall
from tests.screens.driving import Driver

AGENTS: Final = (Pane, TileWall, TerminalWidget)
"""Where agents choose the colours."""
AA: Final = 4.5
"""The least that a text may have."""


def luminance(colour: Color) -> float:
    assert colour.triplet is not None, "every colour is 24-bit when it is drawn"
    levels = [level / 255 for level in colour.triplet]
    red, green, blue = (level / 12.92 if level <= 0.03928 else ((level + 0.055) / 1.055) ** 2.4 for level in levels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def ratio(first: Color, second: Color) -> float:
    """WCAG 2.1 contrast ratio."""
    dark, light = sorted((luminance(first), luminance(second)))
    return (light + 0.05) / (dark + 0.05)


def measured(driver: Driver, but: Sequence[type[Widget]] = AGENTS) -> tuple[int, list[str]]:
    """How many texts there are and which don't read, with their ratio. Under a dialog nothing is meant to be read."""
    screen = driver.room.screen
    frames = screen.query("#dialog, CommandInput, CommandList") if screen.is_modal else [screen]
    inside = [frame.region for frame in frames]
    drawn = [] if screen.is_modal else [pane for kind in but for pane in screen.query(kind)]
    panes = [pane.region for pane in drawn if pane.region]
    read, found = 0, list[str]()
    for y, strip in enumerate(screen._compositor.render_strips()):
        x = 0
        for segment in strip:
            region = Region(x, y, segment.cell_length, 1)
            x += segment.cell_length
            shown = any(frame.contains_region(region) for frame in inside) and not any(
                pane.overlaps(region) for pane in panes
            )
            if shown and any(char.isalnum() or char in "●⚑○◌◔◑✓✗■◼#@" for char in segment.text):
                style = segment.style or Style()
                assert style.color is not None, segment
                assert style.bgcolor is not None, segment
                read += 1
                got = ratio(style.color, style.bgcolor)
                if got < AA:
                    found.append(f"{segment.text.strip()!r} {got:.2f}")
    return read, found
