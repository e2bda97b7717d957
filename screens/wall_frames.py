"""The screens of several agents, followed together: what came within a moment is shown in one go.

Each drawing of its own costs a pass over the whole window, so twelve panes shown at once cost little more than one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final

from textual.screen import Screen

from screens.model import ControlRoomModel
from screens.widgets.tile import Sight
from store.errors import PamError
from store.records import Run

TOGETHER: Final = 1 / 30
"""Seconds within which what comes counts as one."""

Show = Callable[[Mapping[str, Sight]], None]


class WallFrames:
    """Follows the runs it is told to, none besides; ``run`` shows what comes until it is cancelled."""

    def __init__(self, model: ControlRoomModel, show: Show) -> None:
        self._model = model
        self._show = show
        self._followed: dict[str, tuple[int, str, str]] = {}
        self._fresh: dict[str, Sight] = {}
        self._arrived = asyncio.Event()

    async def run(self) -> None:
        """Hand on what came, at most once in TOGETHER seconds."""
        while True:
            await self._arrived.wait()
            await asyncio.sleep(TOGETHER)
            self._arrived.clear()
            fresh, self._fresh = self._fresh, {}
            self._show(fresh)

    def follow(self, owner: Screen[None], runs: Sequence[Run], rows: int) -> None:
        """Follow these runs from now on, each anew for another attempt; ``owner``'s workers do it."""
        wanted = {run.id: run for run in runs if run.status == "running"}
        for run_id in [run_id for run_id in self._followed if run_id not in wanted]:
            self._leave(owner, run_id)
        for run_id, run in wanted.items():
            about = (run.attempt, run.session_name, run.pane_id or "")
            if self._followed.get(run_id) != about:
                self._leave(owner, run_id)
                self._followed[run_id] = about
                # A function, not its coroutine: one that is cancelled before it begins would never be awaited.
                owner.run_worker(partial(self._watch, run, rows), group=_group(run_id))  # type: ignore[arg-type]

    def _leave(self, owner: Screen[None], run_id: str) -> None:
        self._followed.pop(run_id, None)
        self._fresh.pop(run_id, None)
        owner.workers.cancel_group(owner, _group(run_id))

    async def _watch(self, run: Run, rows: int) -> None:
        try:
            async for frame in self._model.pane(run, rows):
                self._take(run.id, frame)
        except PamError as error:
            self._take(run.id, str(error))

    def _take(self, run_id: str, sight: Sight) -> None:
        self._fresh[run_id] = sight
        self._arrived.set()


def _group(run_id: str) -> str:
    return f"tile-{run_id}"
