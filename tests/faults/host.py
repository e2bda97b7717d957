"""The program of an executor process: ``python -m tests.faults.host HOME SETTINGS LOG CLOCK``.

It says ``up``, ``busy`` or why it cannot, and stops when its standard input closes. The clock of everything in it is
ahead by the seconds that the file CLOCK holds, so that a step of the system clock can be played.
"""

from __future__ import annotations

import datetime as dt
import json
import logging
import sys
import threading
import time
from pathlib import Path

from executor.background import LoopThread
from executor.lock import ExecutorBusy
from executor.service import host_executor
from executor.settings import ExecutorSettings
from executor.supervision import station
from store import database
from store.errors import PamError
from store.home import Home

BUSY_TIMEOUT_MS = 300
"""A database that another process locks for a second shall be felt, not waited out."""
LONGEST_RETRY_S = 0.5


def main(home_path: str, settings: str, log_path: str, clock_path: str) -> int:
    """Host the executor until standard input closes; 0 for a stop, 3 when busy, 4 when it cannot, 5 when it ended."""
    home = Home(Path(home_path))
    logging.basicConfig(filename=log_path, level=logging.INFO, format="%(asctime)s %(name)s %(levelname)s %(message)s")
    database.PRAGMAS["busy_timeout"] = BUSY_TIMEOUT_MS
    station.FIRST_RETRY_S, station.LONGEST_RETRY_S = 0.05, LONGEST_RETRY_S
    step_clock(Path(clock_path))
    try:
        store = database.open_store(home.database)
        with host_executor(store, home, ExecutorSettings(**json.loads(settings)), hosted_by="headless") as thread:
            say("up")
            asked = threading.Event()
            threading.Thread(target=stop_on_end, args=(thread, asked), daemon=True).start()
            thread.wait()
            return 0 if asked.is_set() else 5
    except ExecutorBusy:
        say("busy")
        return 3
    except PamError as error:
        say(f"cannot: {error}")
        return 4


def say(word: str) -> None:
    """One line for whoever started us."""
    sys.stdout.write(f"{word}\n")
    sys.stdout.flush()


def stop_on_end(thread: LoopThread, asked: threading.Event) -> None:
    """Stop the executor once our standard input has ended."""
    sys.stdin.read()
    asked.set()
    thread.stop()


def step_clock(path: Path) -> None:
    """Put every module's wall clock ahead by the seconds in ``path``, read anew at each look."""
    plain_time = time.time

    def ahead() -> float:
        try:
            return float(path.read_text())
        except (OSError, ValueError):
            return 0.0

    class Stepped(dt.datetime):
        @classmethod
        def now(cls, tz: dt.tzinfo | None = None) -> dt.datetime:  # type: ignore[override]
            return real.now(tz) + dt.timedelta(seconds=ahead())

    real = dt.datetime
    time.time = lambda: plain_time() + ahead()
    dt.datetime = Stepped  # type: ignore[misc]
    for name, module in list(sys.modules.items()):
        if name.split(".")[0] in ("executor", "store", "providers") and getattr(module, "datetime", None) is real:
            module.datetime = Stepped  # type: ignore[attr-defined]


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
