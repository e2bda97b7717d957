"""The sixteen colours and the ground that agents' screens are drawn with.

The ground is dark in every theme. An agent in a detached session gets no answer when it asks for the terminal's colours
and falls back to dark; its greys and yellows would vanish on paper.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class TerminalColours:
    """Default colours and the palette of 16, as ``#rrggbb``."""

    foreground: str
    background: str
    palette: tuple[str, ...]


_SOFT: Final = (
    "#3b4657", "#ff7f87", "#6fd897", "#f2c063", "#6db3ff", "#cd9bff", "#62d3d3", "#cdd6e3",
    "#8093ad", "#ffa3a8", "#96ecb5", "#ffd98f", "#9ccbff", "#dfbdff", "#92e9e6", "#ffffff",
)  # fmt: skip
_STARK: Final = (
    "#4d4d4d", "#ff6b6b", "#4dff88", "#ffe14d", "#6db3ff", "#ff8cff", "#4dffff", "#e6e6e6",
    "#a6a6a6", "#ff9e9e", "#8affb1", "#fff08a", "#a3d0ff", "#ffb8ff", "#94ffff", "#ffffff",
)  # fmt: skip

TERMINALS: Final[Mapping[str, TerminalColours]] = {
    "pam-dark": TerminalColours("#d5dde8", "#0a0d12", _SOFT),
    "pam-light": TerminalColours("#dfe4ea", "#1b2029", _SOFT),
    "pam-contrast": TerminalColours("#ffffff", "#000000", _STARK),
}


def terminal_colours(theme: str) -> TerminalColours:
    """Colours for agents' screens under a theme; those of ``pam-dark`` where the theme is not ours."""
    return TERMINALS.get(theme, TERMINALS["pam-dark"])
