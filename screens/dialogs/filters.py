"""Choose a filter by its name."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input, OptionList
from textual.widgets.option_list import Option

from screens.confine import one_line
from screens.dialogs.frame import Dialog
from screens.widgets.text_line import TextLine
from store.errors import PamError


class FilterPicker(Dialog[str]):
    """The text of the filter that was chosen; typing narrows the list, ``forget`` takes a name out of it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,ctrl+n", "step(1)", "Next", show=False),
        Binding("up,ctrl+p", "step(-1)", "Before", show=False),
        Binding("ctrl+d", "forget", "Forget", show=False, priority=True),
    ]
    WIDE = True

    def __init__(self, filters: Mapping[str, str], forget: Callable[[str], Awaitable[Mapping[str, str]]]) -> None:
        super().__init__("Saved filters", "↵ filter   ↑↓ choose   ^d forget   esc leave")
        self._filters = filters
        self._forget = forget

    def compose_dialog(self) -> Iterator[Widget]:
        yield TextLine(placeholder="Part of a name", id="line")
        yield OptionList(id="filters")

    def on_mount(self) -> None:
        self.query_one("#line").focus()
        self._list("")

    def on_input_changed(self, event: Input.Changed) -> None:
        self._list(event.value)

    def on_input_submitted(self) -> None:
        self.query_one(OptionList).action_select()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(self._filters.get(event.option.id or ""))

    def action_step(self, step: int) -> None:
        options = self.query_one(OptionList)
        if step > 0:
            options.action_cursor_down()
        else:
            options.action_cursor_up()

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
            self._list(self.query_one("#line", Input).value)

    def _list(self, typed: str) -> None:
        words = typed.casefold().split()
        found = [(name, text) for name, text in self._filters.items() if all(word in name.casefold() for word in words)]
        shown = self.query_one(OptionList)
        shown.clear_options()
        shown.add_options([Option(_line(name, text), id=name) for name, text in found])
        shown.highlighted = 0 if found else None
        nothing = "No saved filter is called so." if self._filters else "No filter is saved any more; escape leaves."
        self.complain("" if found else nothing)


def _line(name: str, text: str) -> Content:
    return Content.assemble((one_line(name), "bold $ink"), (f"  {one_line(text)}", "$soft"))
