"""A control room in a terminal, attached to an agent, for benchmarks of what is typed and what is drawn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from executor.settings import ExecutorSettings
from store import moves, runs
from store.home import Home
from store.records import Run
from tests.bench.board import quiet_home
from tests.support.attach_rig import PAM, Seat, terminal_environ


@dataclass
class Attached:
    """The room's terminal, and what it is attached to."""

    home: Home
    settings: ExecutorSettings
    run: Run
    room: Seat


@contextmanager
def attached(argv: Sequence[str], ready: bytes) -> Iterator[Attached]:
    """Such a room; the agent has drawn ``ready`` when it is yielded."""
    with quiet_home(1) as quiet:
        quiet.home.config.write_text(f'[tmux]\nsocket = "{quiet.settings.tmux_socket}"\n')
        (task,) = quiet.tasks
        moves.move(quiet.store, task.id, "doing", actor="operator")
        run = runs.start(quiet.store, task.id, "shell", str(quiet.cwd), args=tuple(argv), actor="operator")
        room = Seat([str(PAM)], terminal_environ(quiet.home.path))
        try:
            quiet.until(lambda: room.read(0.01) is None or runs.get(quiet.store, run.id).status == "running")
            room.until(ready)
            room.settle(0.5)
            room.write(b"a")
            room.until(b"Attached to")
            room.settle(0.5)
            yield Attached(quiet.home, quiet.settings, runs.get(quiet.store, run.id), room)
        finally:
            room.close()
