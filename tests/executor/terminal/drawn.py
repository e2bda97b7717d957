"""Two readings of one screen as the control room draws them, and where these differ."""

from __future__ import annotations

from collections.abc import Sequence

from rich.style import Style

from screens.ansi import RowRenderer
from themes import terminal_colours


def drawn_differences(ours: Sequence[str], theirs: Sequence[str]) -> list[str]:
    """Where our rows are drawn differently from those that tmux has captured, in words; up to where these end."""
    renderer = RowRenderer(terminal_colours("pam-dark"))
    found = []
    for y, (row, other) in enumerate(zip(ours, theirs, strict=True)):
        # tmux 3.3a's capture writes an overline, 53, as 5:3.
        mine, its = _drawn(renderer, row), _drawn(renderer, other.replace("5:3m", "53m"))
        blank = (" ", renderer.base)
        mine += [blank] * (len(its) - len(mine))
        if mine[: len(its)] != its:
            found.append(f"row {y}: drawn {mine[: len(its)]}\n  pane: {its}")
    return found


def _drawn(renderer: RowRenderer, row: str) -> list[tuple[str, Style | None]]:
    (strip,) = renderer.strips([row])
    return [(character, style) for text, style, _ in strip for character in text]
