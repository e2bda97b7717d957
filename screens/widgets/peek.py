"""A look at the selected card's run without leaving the board."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from textual.containers import Vertical
from textual.content import Content
from textual.timer import Timer
from textual.widget import Widget

from screens import chips
from screens.confine import one_line
from screens.model import CardView, ControlRoomModel
from screens.widgets.pane import ROWS, Pane, follow
from store.records import Run

SETTLE: Final = 0.12
"""Seconds the cursor has to rest on a card before its screen is asked for; scrolling past costs nothing."""


class Peek(Vertical):
    """A drawer with a live pane; it watches one run at a time, and none while it is closed."""

    def __init__(self, model: ControlRoomModel, hint: tuple[str, str]) -> None:
        """``hint`` is a key and its word, shown on the frame."""
        super().__init__(id="peek")
        self._hint = hint
        self._model = model
        self._pane = Pane(id="peek-pane")
        self._run_id: str | None = None
        self._waiting: Timer | None = None

    def compose(self) -> Iterator[Widget]:
        yield self._pane

    def look_at(self, card: CardView | None, now: datetime) -> None:
        """Follow the card's run; the frame says at once whose it is."""
        run, (key, word) = card.run if card else None, self._hint
        self.border_title = self._title(run, now)
        self.border_subtitle = Content.assemble((f"{key} ", "bold $accent"), (word, "$soft")) if run else ""
        if run is not None and run.status in ("pending", "spawning"):
            self._forget(f"{run.session_name} is not up yet.")
        elif run is None:
            self._forget(*_nothing(card))
        elif run.id != self._run_id:
            self._forget()
            self._run_id = run.id
            self._waiting = self.set_timer(SETTLE, lambda: self._follow(run))

    def close(self) -> None:
        """Stop looking."""
        self._forget()

    def _follow(self, run: Run) -> None:
        frames = self._model.pane(run, max(self.app.size.height, ROWS))
        follow(self, self._pane, frames, group="peek")

    def _forget(self, *said: str) -> None:
        if self._waiting is not None:
            self._waiting.stop()
        self.workers.cancel_group(self, "peek")
        self._run_id = None
        self._pane.say(*said)

    def _title(self, run: Run | None, now: datetime) -> Content:
        if run is None:
            return Content("")
        said = chips.state(run)
        chip = one_line(chips.chip(run, now).removeprefix(said.glyph))
        attempts = f"attempt {run.attempt}" + (f"/{run.max_attempts}" if run.max_attempts > 1 else "")
        about = f"{run.session_name} · {run.host or 'no host yet'} · {attempts}"
        glyph = (f"{said.glyph} ", f"bold ${said.tone}")
        return Content.assemble(glyph, (chip, "$ink"), (f" · {one_line(about)}", "$soft"))


def _nothing(card: CardView | None) -> tuple[str, ...]:
    if card is None:
        return ("The screen of the selected card's run appears here.",)
    if card.item.kind in ("milestone", "epic"):
        return (f"Agents work on the tasks of {'an epic' if card.item.kind == 'epic' else 'a milestone'}.",)
    return ("Nobody works on this yet.", "s starts a run.")
