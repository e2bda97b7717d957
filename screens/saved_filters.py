"""Filters with names: what is typed once is saved, and picked from a list at any place that has a filter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from screens.confine import one_line
from screens.deeds import DeedsScreen
from screens.dialogs import EditLine, FilterPicker
from screens.filtered import FilteredScreen
from screens.filters import Filter
from screens.widgets.footer import Hint
from screens.widgets.spans import clip, quoted

KEY: Final = "filters"
"""Where the model remembers them: filters by name."""
LONGEST: Final = 40
"""Characters of a name."""


class SavedFilters(FilteredScreen):
    """A place whose filters are kept by name; they are the same as those of the other places."""

    def filter_hints(self) -> list[Hint]:
        keep, clear = super().filter_hints()
        return [keep, Hint("^s", "save", f"screen.do('{self.PLACE}.save-filter')", True), clear]

    def action_save_filter(self) -> None:
        self.ask(self._save())

    def action_filters(self) -> None:
        self.ask(self._pick())

    def narrowed(self, wanted: Filter) -> None:
        """Say what in a filter can match nothing."""
        if wanted.trouble:
            self.say(wanted.trouble, "waiting")
        else:
            self.footer.hush()

    async def _save(self) -> None:
        text = " ".join(self.filter.text.split())

        async def save(name: str) -> None:
            known = await saved(self)
            await self.model.remember(KEY, {**known, one_line(name)[:LONGEST]: text})

        name = await self.app.push_screen_wait(EditLine(f"A name for the filter {quoted(text)}", "", save))
        if name:
            self.say(f"Saved as {quoted(name)}; F picks it.", "good")

    async def _pick(self) -> None:
        known: Mapping[str, str] | None = None
        with self.trying("Reading the filters…"):
            known = await saved(self)
        if known is None:
            return
        if not known:
            self.say("No filter has a name yet. Press / to type one; ctrl+s saves it.", "waiting")
            return
        chosen = await self.app.push_screen_wait(FilterPicker(known, self._forget))
        if chosen:
            self.filter.put(chosen)
            self.say(f"Filter: {clip(one_line(chosen), 60)}. esc clears it.")

    async def _forget(self, name: str) -> Mapping[str, str]:
        """Take a filter out; what is left of them."""
        left = {other: text for other, text in (await saved(self)).items() if other != name}
        await self.model.remember(KEY, left or None)
        return left


async def saved(place: DeedsScreen) -> dict[str, str]:
    """The filters by name, as far as what is remembered makes sense."""
    found = await place.model.recall(KEY)
    if not isinstance(found, dict):
        return {}
    return {name: text for name, text in found.items() if isinstance(name, str) and isinstance(text, str)}
