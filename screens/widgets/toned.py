"""Widgets that draw their own lines take their colours from the theme, by what the colours mean.

A tone is the name of a text colour of ``themes.palette``, a ground that of what it stands on, so a theme changes every
widget at once. Component classes of the stylesheet could do the same; Textual works all of them out anew whenever a
widget's class or focus changes, which takes longer than drawing it.
"""

from __future__ import annotations

from functools import partial
from typing import ClassVar, Final

from rich.style import Style
from textual.color import Color
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
GROUNDS: Final = {
    "page": "page",
    "column": "column",
    "card": "card",
    "cursor": "card-cursor",
    "bar": "bar",
    "accent": "accent",
}
"""Each with the theme's name for it."""


class Toned(Widget):
    """A widget that turns spans into styles; styles are made once each and forgotten with the theme."""

    BARE: ClassVar[bool] = False
    """Whether its ground ``column`` is its own background, which the stylesheet may change."""

    _tone_styles: dict[tuple[Span, str], Style] | None = None
    _worn: tuple[object, ...] = ()

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
        worn = (id(self.app.theme_variables), self.styles.background if self.BARE else None)
        if worn != self._worn:
            self._worn = worn
            self.forget_styles()

    def _style(self, ground: str, span: Span) -> Style:
        if self._tone_styles is None:
            self._tone_styles = {}
        ground = span.ground or ground
        key = (Span("", span.tone, span.bold, span.action), ground)
        style = self._tone_styles.get(key)
        if style is None:
            style = Style(
                color=self._colour(span.tone).rich_color,
                bgcolor=self._ground(ground).rich_color,
                bold=span.bold,
                meta={"@click": span.action} if span.action else None,
            )
            self._tone_styles[key] = style
        return style

    def _ground(self, name: str) -> Color:
        if self.BARE and name == "column":
            return self.styles.background
        return self._colour(GROUNDS[name])

    def _colour(self, name: str) -> Color:
        """Opaque: a theme of Textual's may say ``ansi_blue 50%``, which no terminal knows."""
        return Color.parse(self.app.theme_variables[name].partition(" ")[0])
