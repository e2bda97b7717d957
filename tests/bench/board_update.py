"""A run says something until its card on the board is painted with it: p95 at most 150 ms.

The board holds 2,000 cards, 1,000 of them in the run's column, while 50 agents draw a line a second. Reference: the
same event until one who follows the journal, and does nothing else, has it.
"""

from __future__ import annotations

import re
import threading
import time

from store import journal, runs, signals
from store.database import Store
from store.records import Event, Run, Signal
from tests.bench.board_keys import AGENTS, DOING, DRAWING, OTHERS
from tests.bench.crowd import fill
from tests.bench.report import Figure, p95
from tests.bench.room import agents_home, open_room, rest, until_running
from tests.support.attach_rig import Seat

ROUNDS = 60
PAUSE_S = 0.15
BOUND_MS = 150.0


class Follower:
    """One who follows the journal, and knows when it said something."""

    def __init__(self, store: Store, of: str) -> None:
        self._of = of
        self._heard = threading.Event()
        self.at = 0.0
        self.tail = journal.Tail(store, self._take).start()

    def forget(self) -> None:
        """Wait for the next one."""
        self._heard.clear()

    def since(self, began: float) -> float:
        """Milliseconds from ``began`` until the event was there."""
        if not self._heard.wait(5):
            raise AssertionError("the journal never told of it")
        return (self.at - began) * 1000

    def _take(self, events: list[Event]) -> None:
        if not self._heard.is_set() and any(event.payload.get("run_id") == self._of for event in events):
            self.at = time.perf_counter()
            self._heard.set()


def measure() -> Figure:
    """Milliseconds at the 95th percentile."""
    with agents_home(AGENTS, DRAWING) as quiet:
        fill(quiet.store, quiet.tasks[0].project_id, {"doing": DOING, "todo": OTHERS // 2, "done": OTHERS // 2})
        with open_room(quiet) as room:
            until_running(room, AGENTS)
            run = runs.list_all(quiet.store, task_id=quiet.tasks[0].id)[0]
            follower = Follower(quiet.store, run.id)
            took, heard = [], []
            for number in range(ROUNDS):
                rest(room.seat, PAUSE_S)
                follower.forget()
                began = time.perf_counter()
                _say(quiet.store, run, number)
                took.append(_drawn(room.seat, f"May I go on to {number}".encode(), began))
                heard.append(follower.since(began))
            follower.tail.close()
    return Figure("board_update_p95", round(p95(took), 1), "ms", BOUND_MS, round(p95(heard), 1))


def _say(store: Store, run: Run, number: int) -> None:
    said = {"activity": "waiting", "note": f"May I go on to {number}?"}
    signals.ingest(store, Signal(run.id, run.attempt, "progress", "hook:claude", seq=10**12 + number, payload=said))


def _drawn(seat: Seat, part: bytes, began: float) -> float:
    """Milliseconds from ``began`` until it is drawn."""
    seat.output.clear()
    while not re.search(part + rb"\?", seat.output):
        if time.perf_counter() - began > 10:
            raise AssertionError(f"{part!r} was never drawn: {bytes(seat.output[-2000:])!r}")
        seat.read(1.0)
    return (time.perf_counter() - began) * 1000
