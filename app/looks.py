"""What the control room wears: the themes there are, the one that is drawn, and that a chosen one is kept."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from textual.app import App
from textual.theme import Theme

import themes
from store.errors import PamError


class Looks(App[None]):
    """``put_on`` once, before it runs."""

    _in_order: dict[str, Theme] | None = None
    """Textual asks for the themes whenever it draws a line."""

    def put_on(self, theme: str, palettes: Mapping[str, themes.Palette], keep: Callable[[str], Awaitable[None]]) -> str:
        """Draw with ``theme``; ``keep`` stores what is chosen later. A sentence when there is no such theme."""
        for name, palette in palettes.items():
            self.register_theme(themes.pam_theme(name, palette))
        known = theme in self.available_themes
        self._keep = keep
        self._kept = theme if known else themes.DEFAULT_THEME
        self.theme = self._kept
        return "" if known else f"There is no theme “{theme}”. Press T to choose one."

    @property
    def available_themes(self) -> dict[str, Theme]:
        """Ours first, as the list of themes shows them."""
        if self._in_order is None:
            found = super().available_themes
            self._in_order = {**{name: found[name] for name in themes.PALETTES if name in found}, **found}
        return self._in_order

    def register_theme(self, theme: Theme) -> None:
        super().register_theme(theme)
        self._in_order = None

    def get_css_variables(self) -> dict[str, str]:
        variables = super().get_css_variables()
        if "card-cursor" not in variables:
            variables |= themes.borrowed(variables)
        self.theme_variables = variables
        return variables

    def refresh_css(self, animate: bool = True) -> None:
        """Before there is a screen no rule was read that a theme could change: they are read once, not twice."""
        if self.screen_stack:
            super().refresh_css(animate)
            return
        self.stylesheet.set_variables(self.get_css_variables())
        self.stylesheet.update(self, animate=animate)

    def watch_theme(self, name: str) -> None:
        if name != self._kept:
            self._kept = name
            self.run_worker(self._remember(name), group="theme", exclusive=True)

    def complain(self, sentence: str) -> None:
        """Tell the operator what went wrong."""
        raise NotImplementedError

    async def _remember(self, name: str) -> None:
        try:
            await self._keep(name)
        except PamError as error:
            self.complain(f"The next start won't have this theme: {error}")
