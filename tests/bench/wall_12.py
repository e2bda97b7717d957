"""A wall of 12 busy panes in a window of 200×50: the control room, executor and all, takes at most 15 % of one core.

Each agent prints ten coloured lines a second. Reference: the same panes captured in the same way and drawn with Rich's
``Text.from_ansi``, each as soon as it comes, by an application that does nothing else.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from ptyprocess import PtyProcess

from store import runs
from tests.bench.board import Quiet, quiet_home
from tests.bench.fleet import cpu_percent
from tests.bench.report import Figure

AGENTS = 12
SIZE = (50, 200)
"""Rows and columns of the window."""
SETTLE_S = 3.0
WINDOW_S = 15.0
BOUND = 15.0

BUSY = r"""
n=0
while :; do
  n=$((n+1))
  printf '\033[3%dm●\033[39m \033[1mUpdate\033[22m(src/part_%d.py) \033[2m%d additions, %d removals\033[22m\n' \
    $((n % 7 + 1)) $n $RANDOM $RANDOM
  sleep 0.1
done
"""

_ROOM = """
import sys
from dataclasses import replace
from pathlib import Path
from app.room import control_room, show
from app.settings import load
from store.database import open_store
from store.home import Home
home = Home(Path(sys.argv[1]))
settings = load(home, None, {})
settings = replace(settings, executor=replace(settings.executor, tmux_socket=sys.argv[2]))
store = open_store(home.database)
with control_room(store, settings) as room:
    show(room)
"""

_PLAIN = """
import asyncio, sys
from pathlib import Path
from rich.text import Text
from textual.app import App
from textual.containers import Grid
from textual.widgets import Static
from app.room import _running
from executor.capture import PaneSource
from executor.settings import ExecutorSettings
source = PaneSource(ExecutorSettings(tmux_socket=sys.argv[2]), Path(sys.argv[1]))
class Plain(App):
    CSS = "Grid { grid-size: 4 3; } Static { border: round; height: 1fr; }"
    def compose(self):
        with Grid():
            for session in sys.argv[3:]:
                yield Static(id=session)
    def on_mount(self):
        loop = asyncio.get_running_loop()
        for session in sys.argv[3:]:
            tile = self.query_one(f"#{session}", Static)
            source.subscribe(session, lambda frame, tile=tile: loop.call_soon_threadsafe(
                lambda: tile.update(Text.from_ansi("\\n".join(frame.bottom(tile.size.height)), no_wrap=True))))
with _running(source):
    Plain().run()
"""


class Terminal:
    """A program on a terminal that somebody reads."""

    def __init__(self, script: str, *args: str) -> None:
        env = {**os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor"}
        self._process = PtyProcess.spawn([sys.executable, "-c", script, *args], dimensions=SIZE, env=env)
        self.drawn = ""
        """The last of what it wrote."""
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def press(self, keys: str) -> None:
        """As typed at the terminal."""
        self._process.write(keys.encode())

    def cpu(self) -> float:
        """Percent of one core that it and its tmux clients take, once it has settled."""
        time.sleep(SETTLE_S)
        return cpu_percent(self._process.pid, WINDOW_S)

    def end(self) -> None:
        """End it."""
        self._process.terminate(force=True)
        self._reader.join(10)

    def _read(self) -> None:
        with suppress(EOFError, OSError):
            while True:
                self.drawn = (self.drawn + self._process.read(65_536).decode("utf-8", "replace"))[-100_000:]


def measure() -> Figure:
    """Percent of one core, the room's process and its tmux clients together."""
    with quiet_home(AGENTS) as quiet:
        for task in quiet.tasks:
            runs.start(quiet.store, task.id, "shell", "/", args=("bash", "-c", BUSY), actor="operator")
        where = (str(quiet.home.path), quiet.settings.tmux_socket)
        with _on_a_terminal(_ROOM, *where) as room:
            quiet.until(lambda: runs.counts(quiet.store).get("running") == AGENTS, 60)
            room.press("3")
            quiet.until(lambda: "who needs you first" in room.drawn, 30)
            value = room.cpu()
        with _on_a_terminal(_PLAIN, *where, *_sessions(quiet)) as plain:
            reference = plain.cpu()
    return Figure("wall_12_busy_cpu", round(value, 2), "% of a core", BOUND, round(reference, 2))


def _sessions(quiet: Quiet) -> list[str]:
    return [run.session_name for run in runs.live(quiet.store)]


@contextmanager
def _on_a_terminal(script: str, *args: str) -> Iterator[Terminal]:
    terminal = Terminal(script, *args)
    try:
        yield terminal
    finally:
        terminal.end()
