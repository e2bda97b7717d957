"""A control room in a terminal, attached to an agent, for benchmarks of what is typed and what is drawn."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from executor.settings import ExecutorSettings
from executor.tmux import oneshot
from store import moves, runs
from store.home import Home
from store.records import Run
from tests.bench.board import quiet_home
from tests.support.attach_rig import Seat, terminal_environ

_ROOM = """
import asyncio, sys, threading, time
from pathlib import Path
from app import room as rooms
from app.settings import load
from store.home import Home

TICK_S = 0.005

async def watch(path):
    said = open(path, "w", buffering=1)
    with open(f"/proc/self/task/{threading.get_native_id()}/schedstat") as schedule:
        last, waited = time.monotonic(), 0
        while True:
            await asyncio.sleep(TICK_S)
            now = time.monotonic()
            schedule.seek(0)
            before, waited = waited, int(schedule.read().split()[1])
            late = now - last - TICK_S
            if late > 0.002:
                print(now, late, (waited - before) / 1e9, file=said)
            last = now

def show(room):
    run = room.run_async
    async def watched():
        watching = asyncio.create_task(watch(sys.argv[2]))
        try:
            return await run()
        finally:
            watching.cancel()
    room.run_async = watched
    shown(room)

shown, rooms.show = rooms.show, show
sys.exit(rooms.open_room(load(Home(Path(sys.argv[1])), None, {})))
"""
"""The room as ``pam`` opens it, with a watch in its event loop; the watch takes some 0.5 % of a core."""


@dataclass
class Attached:
    """The room's terminal, and what it is attached to."""

    home: Home
    settings: ExecutorSettings
    run: Run
    room: Seat
    delays: Path
    """What the watch in the room's loop has written."""

    def stalls(self, since: float, until: float) -> tuple[float, float]:
        """The longest time in seconds for which the room's loop looked at nothing, between two monotonic times.

        First without the time for which others had the machine's cores, then with it.
        """
        told = [[float(word) for word in line.split()] for line in self.delays.read_text().splitlines()]
        found = [(late - waited, late) for at, late, waited in told if since <= at <= until]
        return max((own for own, _ in found), default=0.0), max((late for _, late in found), default=0.0)

    def plain(self) -> Seat:
        """Plain tmux on the same session, with no say in its size: two that differ would resize it at each key."""
        argv = oneshot.attach_argv(self.settings, self.run.session_name, read_only=False)
        target = argv.index("-t") + 2
        seat = Seat([*argv[:target], "-f", "ignore-size", *argv[target:]], terminal_environ(self.home.path))
        end = time.monotonic() + 1.0
        # A room whose terminal is not read would be held up.
        while time.monotonic() < end:
            self.room.read(0.01)
            seat.read(0.0)
        return seat


@contextmanager
def attached(argv: Sequence[str], ready: bytes) -> Iterator[Attached]:
    """Such a room; the agent has drawn ``ready`` there when it is yielded."""
    with quiet_home(1) as quiet:
        quiet.home.config.write_text(f'[tmux]\nsocket = "{quiet.settings.tmux_socket}"\n')
        (task,) = quiet.tasks
        moves.move(quiet.store, task.id, "doing", actor="operator")
        run = runs.start(quiet.store, task.id, "shell", str(quiet.cwd), args=tuple(argv), actor="operator")
        delays = quiet.cwd / "delays"
        words = [sys.executable, "-c", _ROOM, str(quiet.home.path), str(delays)]
        room = Seat(words, terminal_environ(quiet.home.path))
        try:
            room.until(lambda: runs.get(quiet.store, run.id).status == "running", 60)
            room.until(b"Task 0", 60)
            room.settle(0.5)
            room.write(b"a")
            room.until(b"Attached to", 60)
            # Not before: whether a preview has shown it is a matter of chance.
            room.until(ready, 60)
            room.settle(0.5)
            yield Attached(quiet.home, quiet.settings, runs.get(quiet.store, run.id), room, delays)
        finally:
            room.close()
