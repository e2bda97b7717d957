"""A control room without a terminal over real tmux, for benchmarks that ask when something stands on the board."""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from app.control_room import ControlRoom
from app.room import control_room
from app.settings import load
from screens.board import BoardScreen
from store import items, moves, projects, runs
from store.database import Store, open_store
from store.home import Home
from store.records import Item, Run
from tests.support.tmux_server import make_sandbox

LOOK_S = 0.001
"""How often the board is looked at; the resolution of what is measured."""


@dataclass
class Board:
    """An open control room on a project with ``tasks``."""

    store: Store
    room: ControlRoom
    tasks: list[Item]
    cwd: Path

    def start(self, task: Item, script: str) -> Run:
        """A pending shell run."""
        return runs.start(self.store, task.id, "shell", str(self.cwd), args=("sh", "-c", script), actor="operator")

    async def shows(self, task: Item, wanted: Callable[[Run], bool], within_s: float = 30.0) -> float:
        """When the board's card of the task shows a run that is as wanted; seconds since the epoch."""
        screen = self.room.screen
        assert isinstance(screen, BoardScreen)
        async with asyncio.timeout(within_s):
            while True:
                card = screen.state.card(task.id) if screen.state else None
                if card is not None and card.run is not None and wanted(card.run):
                    return time.time()
                await asyncio.sleep(LOOK_S)


@asynccontextmanager
async def open_board(tasks: int) -> AsyncIterator[Board]:
    """A board whose control room hosts the executor on a tmux server of its own; all of it is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="pam-bench-") as folder:
        home = Home(Path(folder) / "home")
        home.make()
        sandbox = make_sandbox(home.path)
        before = os.environ.get("TMUX_TMPDIR")
        os.environ["TMUX_TMPDIR"] = str(sandbox.directory)
        settings = load(home, None, {})
        store = open_store(home.database)
        try:
            project = projects.add(store, "Bench", cwd=folder, actor="operator")
            made = [items.create(store, project.id, f"Task {n}", actor="operator") for n in range(tasks)]
            for task in made:
                moves.move(store, task.id, "doing", actor="operator")
            settings = replace(settings, executor=replace(settings.executor, tmux_socket=sandbox.settings.tmux_socket))
            with control_room(store, settings, project_id=project.id) as room:
                async with room.run_test(size=(160, 45)) as pilot:
                    await pilot.pause()
                    yield Board(store, room, made, Path(folder))
        finally:
            store.close()
            sandbox.end()
            os.environ.pop("TMUX_TMPDIR") if before is None else os.environ.update(TMUX_TMPDIR=before)
