"""Textual CSS and palettes."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from themes.few_colours import FEW_COLOURS
from themes.palette import DEFAULT_THEME, PALETTES, Palette, borrowed, pam_theme
from themes.terminal import TerminalColours, terminal_colours

STYLESHEET: Final = Path(__file__).with_name("pam.tcss")
"""The one stylesheet of the control room."""

__all__ = [
    "DEFAULT_THEME",
    "FEW_COLOURS",
    "PALETTES",
    "STYLESHEET",
    "Palette",
    "TerminalColours",
    "borrowed",
    "pam_theme",
    "terminal_colours",
]
