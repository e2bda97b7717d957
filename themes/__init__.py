"""Textual CSS and palettes."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from themes.palette import DEFAULT_THEME, PALETTES, borrowed, pam_theme
from themes.terminal import TerminalColours, terminal_colours

STYLESHEET: Final = Path(__file__).with_name("pam.tcss")
"""The one stylesheet of the control room."""

__all__ = [
    "DEFAULT_THEME",
    "PALETTES",
    "STYLESHEET",
    "TerminalColours",
    "borrowed",
    "pam_theme",
    "terminal_colours",
]
