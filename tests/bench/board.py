"""A control room without a terminal over real tmux, for benchmarks that ask when something stands on the board."""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from app.control_room import ControlRoom
from app.room import control_room
from app.settings import load
from executor.settings import ExecutorSettings
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


@dataclass
class Quiet:
    """A home with tasks and a tmux socket of its own, and nothing that runs."""

    store: Store
    home: Home
    settings: ExecutorSettings
    tasks: list[Item]
    cwd: Path

    def until(self, holds: Callable[[], object], within_s: float = 30.0) -> None:
        """Wait until something holds; the resolution is ``LOOK_S``."""
        end = time.monotonic() + within_s
        while not holds():
            if time.monotonic() > end:
                raise TimeoutError("it never came true")
            time.sleep(LOOK_S)


@contextmanager
def quiet_home(tasks: int) -> Iterator[Quiet]:
    """Such a home; all of it is gone afterwards, and so is every session on its socket."""
    # Wrappers report the end of their server while the directory goes.
    with tempfile.TemporaryDirectory(prefix="pam-bench-", ignore_cleanup_errors=True) as folder:
        home = Home(Path(folder) / "home")
        home.make()
        sandbox = make_sandbox(home.path)
        before = os.environ.get("TMUX_TMPDIR")
        os.environ["TMUX_TMPDIR"] = str(sandbox.directory)
        store = open_store(home.database)
        try:
            project = projects.add(store, "Bench", cwd=folder, actor="operator")
            made = [items.create(store, project.id, f"Task {n}", actor="operator") for n in range(tasks)]
            settings = ExecutorSettings(tmux_socket=sandbox.settings.tmux_socket)
            yield Quiet(store, home, settings, made, Path(folder))
        finally:
            store.close()
            sandbox.end()
            os.environ.pop("TMUX_TMPDIR") if before is None else os.environ.update(TMUX_TMPDIR=before)


@asynccontextmanager
async def open_board(tasks: int) -> AsyncIterator[Board]:
    """A board whose control room hosts the executor on a tmux server of its own."""
    with quiet_home(tasks) as quiet:
        for task in quiet.tasks:
            moves.move(quiet.store, task.id, "doing", actor="operator")
        settings = replace(load(quiet.home, None, {}), executor=quiet.settings)
        with control_room(quiet.store, settings, project_id=quiet.tasks[0].project_id) as room:
            async with room.run_test(size=(160, 45)) as pilot:
                await pilot.pause()
                yield Board(quiet.store, room, quiet.tasks, quiet.cwd)
