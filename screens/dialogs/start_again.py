"""A run that is over, and what comes next: its conversation goes on, or another one begins."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from typing import ClassVar, Final, Literal

from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.widget import Widget
from textual.widgets import Button, Static

from screens.confine import one_line
from screens.dialogs.frame import Dialog
from screens.dialogs.start_run import PromptArea, field
from screens.widgets.spans import quoted
from store.records import Item, Run

Again = Run | Literal["anew"]
WHERE: Final = "It goes on where it stopped, on {host}, and knows all that was said. What should it do next?"


class StartAgain(Dialog[Again]):
    """The run that ``resume`` made, or ``anew`` for one that knows nothing of this one."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+n", "anew", "Start anew", show=False, priority=True)]
    WIDE = True

    def __init__(self, run: Run, item: Item, resume: Callable[[str], Awaitable[Run]]) -> None:
        """``resume`` is given the prompt; an empty one lets the agent wait for one."""
        super().__init__(f"Go on with {run.provider} on {quoted(item.title)}", "↵ go on   ^n start anew   esc leave")
        self._run = run
        self._resume = resume

    def compose_dialog(self) -> Iterator[Widget]:
        where = WHERE.format(host=one_line(self._run.host or "its host"))
        yield Static(where, id="consequence", markup=False)
        area = PromptArea("", id="prompt", show_line_numbers=False, placeholder="Nothing yet: it waits for you")
        yield field("Tell it", area)
        with Horizontal(id="answers"):
            yield Button("Go on", id="resume")
            yield Button("Start anew", id="anew")
            yield Button("Leave", id="leave")

    def on_mount(self) -> None:
        self.query_one("#prompt").focus()

    def on_prompt_area_submitted(self) -> None:
        self._go_on()

    def on_button_pressed(self, event: Button.Pressed) -> None:
        match event.button.id:
            case "resume":
                self._go_on()
            case "anew":
                self.action_anew()
            case _:
                self.action_leave()

    def action_anew(self) -> None:
        self.dismiss("anew")

    def _go_on(self) -> None:
        if self.begin():
            self.submit(self._make(self.query_one("#prompt", PromptArea).text.strip()))

    async def _make(self, prompt: str) -> Again:
        return await self._resume(prompt)
