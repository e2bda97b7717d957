"""Choose a filter by its name."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from screens.confine import one_line
from screens.dialogs.picker import Picker
from store.errors import PamError


class FilterPicker(Picker[str]):
    """The text of the filter that was chosen; ``forget`` takes a name out of the list."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+d", "forget", "Forget", show=False, priority=True)]
    LIST = "filters"
    PLACEHOLDER = "Part of a name"

    def __init__(self, filters: Mapping[str, str], forget: Callable[[str], Awaitable[Mapping[str, str]]]) -> None:
        super().__init__("Saved filters", "↵ filter   ↑↓ choose   ^d forget   esc leave")
        self._filters = filters
        self._forget = forget

    def named(self) -> Iterator[tuple[str, Option]]:
        for name, text in self._filters.items():
            yield name, Option(_line(name, text), id=name)

    def narrow(self) -> None:
        super().narrow()
        nothing = "No saved filter is called so." if self._filters else "No filter is saved any more; escape leaves."
        self.complain("" if self.query_one(OptionList).option_count else nothing)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(self._filters.get(event.option.id or ""))

    def action_forget(self) -> None:
        options = self.query_one(OptionList)
        if options.highlighted is not None:
            name = options.get_option_at_index(options.highlighted).id or ""
            self.run_worker(self._take_out(name), group="forget", exclusive=True)

    async def _take_out(self, name: str) -> None:
        try:
            self._filters = await self._forget(name)
        except PamError as error:
            self.complain(str(error))
        else:
            self.narrow()


def _line(name: str, text: str) -> Content:
    return Content.assemble((one_line(name), "bold $ink"), (f"  {one_line(text)}", "$soft"))
