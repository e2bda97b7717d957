"""Widgets that draw their own lines take their colours from the stylesheet, by what the colours mean.

``.tone--waiting`` and ``.ground--card`` are component classes; ``pam.tcss`` gives each its value, so a theme changes
every widget at once.
"""

from __future__ import annotations

from functools import partial
from typing import ClassVar, Final

from rich.style import Style
from textual.strip import Strip
from textual.widget import Widget

from screens.widgets.spans import Span, StyleOf

TONES: Final = (
    "ink",
    "soft",
    "rule",
    "accent",
    "on-accent",
    "working",
    "waiting",
    "idle",
    "pending",
    "good",
    "bad",
    "label",
    "person",
    "kind",
)
GROUNDS: Final = ("page", "column", "card", "cursor", "bar", "accent")


class Toned(Widget):
    """A widget that turns spans into styles; styles are made once each and forgotten with the theme."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        *(f"tone--{tone}" for tone in TONES),
        *(f"ground--{ground}" for ground in GROUNDS),
    }

    _tone_styles: dict[tuple[Span, str], Style] | None = None

    def style_of(self, ground: str) -> StyleOf:
        """The function that gives spans on a ground their style."""
        return partial(self._style, ground)

    def blank(self, width: int, ground: str) -> Strip:
        """An empty line."""
        return Strip.blank(width, self._style(ground, Span("")))

    def forget_styles(self) -> None:
        """The theme has changed; a widget that keeps strips drops them here too."""
        self._tone_styles = None

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self.forget_styles()

    def _style(self, ground: str, span: Span) -> Style:
        if self._tone_styles is None:
            self._tone_styles = {}
        ground = span.ground or ground
        key = (Span("", span.tone, span.bold, span.action), ground)
        style = self._tone_styles.get(key)
        if style is None:
            style = Style(
                color=self.get_component_styles(f"tone--{span.tone}").color.rich_color,
                bgcolor=self.get_component_styles(f"ground--{ground}").background.rich_color,
                bold=span.bold,
                meta={"@click": span.action} if span.action else None,
            )
            self._tone_styles[key] = style
        return style
