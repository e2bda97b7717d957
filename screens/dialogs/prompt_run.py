"""A prompt for a running agent, given without going to its terminal: typed by the executor, seen to be taken up."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final, Protocol

from textual.widget import Widget
from textual.widgets import Static

from screens.dialogs.frame import Dialog
from screens.dialogs.start_run import PromptArea
from screens.model.answers import AnswersModel
from screens.model.core import CoreModel
from screens.model.views import RunView
from screens.widgets.pane import ROWS, Pane, watch
from screens.widgets.spans import quoted
from store.records import Delivery

UNDER_WAY: Final = "Typing, then waiting until it is taken up…"


class _Model(AnswersModel, CoreModel, Protocol):
    """The parts of the model that are asked here."""


class PromptRun(Dialog[Delivery]):
    """What became of the prompt; one that is refused stays, with the reason."""

    WIDE = True

    def __init__(self, view: RunView, model: _Model) -> None:
        super().__init__(
            f"A prompt for {view.run.provider}, on {quoted(view.item.title)}", "↵ send   ^j new line   esc leave"
        )
        self._view = view
        self._model = model

    def compose_dialog(self) -> Iterator[Widget]:
        yield Pane(id="asked-pane")
        yield PromptArea(id="prompt", show_line_numbers=False, placeholder="What it is to do next")
        yield Static(UNDER_WAY, id="under-way", markup=False)

    def on_mount(self) -> None:
        self.query_one("#prompt").focus()
        frames = self._model.pane(self._view.run, ROWS)
        # A function, not its coroutine: one that is cancelled before it begins would never be awaited.
        self.run_worker(partial(watch, self.query_one(Pane), frames), group="pane")  # type: ignore[arg-type]

    def on_prompt_area_submitted(self) -> None:
        """It may take a while; Escape leaves it to itself."""
        text = self.query_one(PromptArea).text.strip()
        if not text:
            self.complain("Type what it is to do; Escape leaves it as it is.")
        elif not self._busy:
            self._busy = True
            self.complain("")
            self.add_class("-under-way")
            self.submit(self._send(text))

    async def _send(self, text: str) -> Delivery:
        try:
            return await self._model.prompt(self._view.run, text)
        finally:
            self.remove_class("-under-way")
