"""An agent's exit until ``run.finished`` is in the journal and handed to a reader: p95 at most 50 ms.

The agent's last program writes down the time and ends; a reader of the journal in the executor's process notes when it
hears of it. Reference: how late a plain parent process hears of the same program's end.
"""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

from executor.service import host_executor
from store import journal, runs
from store.records import Event
from tests.bench.board import Quiet, quiet_home
from tests.bench.report import Figure, p95

EXITS = 40
BOUND_MS = 50.0


def measure() -> Figure:
    """p95 in ms over ``EXITS`` exits, one after another."""
    with quiet_home(EXITS) as quiet:
        heard: dict[str, float] = {}

        def hear(events: list[Event]) -> None:
            now = time.time()
            heard.update({str(event.payload["run_id"]): now for event in events if event.topic == "run.finished"})

        with host_executor(quiet.store, quiet.home, quiet.settings, hosted_by="command"):
            tail = journal.Tail(quiet.store, hear).start()
            took = [_exit(quiet, heard, number) for number in range(EXITS)]
            tail.close()
        alone = [_parent(quiet.cwd / f"alone-{number}") for number in range(EXITS)]
    return Figure("exit_to_journal_p95", round(p95(took), 1), "ms", BOUND_MS, round(p95(alone), 1))


def _exit(quiet: Quiet, heard: dict[str, float], number: int) -> float:
    stamp = quiet.cwd / f"end-{number}"
    args = ("sh", "-c", f"sleep 0.2; exec date +%s%N > {stamp}")
    run = runs.start(quiet.store, quiet.tasks[number].id, "shell", str(quiet.cwd), args=args, actor="operator")
    quiet.until(lambda: run.id in heard)
    return heard[run.id] * 1000 - int(stamp.read_text()) / 1e6


def _parent(stamp: Path) -> float:
    subprocess.run(["sh", "-c", f"exec date +%s%N > {stamp}"], check=True)
    return time.time() * 1000 - int(stamp.read_text()) / 1e6
