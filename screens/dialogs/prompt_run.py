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
from screens.widgets.pane import ROWS, Pane, follow
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
        follow(self, self.query_one(Pane), frames, group="pane")

    def on_prompt_area_submitted(self) -> None:
        if text := self.query_one(PromptArea).text.strip():
            self.submit_slowly(partial(self._model.prompt, self._view.run, text))
        else:
            self.complain("Type what it is to do; Escape leaves it as it is.")
