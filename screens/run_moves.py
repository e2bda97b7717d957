"""What the keys of a run's page do beside looking: its log is searched and written out, its conversation goes on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from screens import actions
from screens.actions import BY_ID
from screens.deeds import DeedsScreen
from screens.dialogs import EditLine, StartAgain
from screens.messages import OpenRun
from screens.model import RunView
from screens.run_log import RunLog
from screens.widgets.filter_line import FilterLine
from screens.widgets.footer import Hint
from store.records import Run

FIND: Final = "a text in the log; small and capital letters are the same"
_FIND_HINTS: Final = (
    Hint("↵", "keep, then n N", "", True),
    Hint("esc", "clear", "screen.do('run.leave')", True),
)
_LOG_HINTS: Final = {
    "run.back": "back",
    "run.find": "search",
    "run.find-next": "next",
    "run.find-before": "before",
    "run.last": "follow",
    "run.right": "aside",
    "run.export": "write to a file",
    "run.next-tab": "tabs",
    "run.stop": "stop",
    "everywhere.help": "help",
}


class RunMoves(DeedsScreen):
    """The half of the run's page that acts; the other half shows."""

    view: RunView | None
    run_log: RunLog
    filter: FilterLine

    def show_log(self) -> None:
        """Put the log in sight."""
        raise NotImplementedError

    def refresh_hints(self) -> None:
        if self.filter.typing:
            self.footer.show(_FIND_HINTS)
        elif self.here().subject == "log":
            self.footer.show([*self._log_hints()])
        else:
            super().refresh_hints()

    def _log_hints(self) -> Iterator[Hint]:
        """What is done with a log comes first there."""
        here = self.here()
        for name, word in _LOG_HINTS.items():
            action = BY_ID[name]
            keys = actions.keys_of(action, self.desk.keymap)[0]
            yield Hint(keys, word, f"screen.do('{name}')", not action.why_not(here))

    def on_descendant_focus(self) -> None:
        self.refresh_hints()

    def on_filter_line_changed(self, message: FilterLine.Changed) -> None:
        self.run_log.find(message.text)

    def on_filter_line_left(self) -> None:
        self.set_focus(None)
        self.refresh_hints()

    def action_find(self) -> None:
        self.show_log()
        self.filter.ask()

    def action_find_next(self, step: int) -> None:
        self.show_log()
        if said := self.run_log.find_next(step):
            self.say(said, "waiting")

    def action_aside(self, step: int) -> None:
        self.run_log.view.aside(step)

    def action_leave(self) -> None:
        """What is looked for goes first."""
        if self.run_log.wanted:
            self.filter.action_clear()
        else:
            self.action_back()

    def action_export(self) -> None:
        if self.view is not None:
            self.ask(self._export(self.view.run))

    def action_again(self) -> None:
        """Its conversation goes on, where it can; else the same item is worked on anew."""
        view = self.view
        if view is not None and view.goes_on:
            self.ask(self._again(view))
        else:
            self.action_start()

    async def _export(self, run: Run) -> None:
        size = 0

        async def save(path: str) -> None:
            nonlocal size
            size = await self.model.export_log(run.id, path)

        path = await self.app.push_screen_wait(
            EditLine("Write the log to", f"{run.session_name}.log", save, as_is=True)
        )
        if path:
            self.say(f"Wrote {size:,} bytes of text to {path}.", "good")

    async def _again(self, view: RunView) -> None:
        async def resume(prompt: str) -> Run:
            return await self.model.resume_run(view.run.id, prompt)

        chosen = await self.app.push_screen_wait(StartAgain(view.run, view.item, resume))
        if chosen == "anew":
            self.action_start()
        elif chosen is not None:
            self.request(OpenRun(chosen.id, instead=True))
