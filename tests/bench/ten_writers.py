"""Ten processes that create 100 items each, at once: 1,000 rows, 1,000 events, no error, at most 30 s.

Reference: one process that creates the same 1,000 items.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from store import items, journal, projects
from store.database import open_store
from tests.bench.report import Figure

PROCESSES = 10
EACH = 100
BOUND_S = 30.0

_WRITER = """
import sys
from pathlib import Path
from store import items
from store.database import open_store
store = open_store(Path(sys.argv[1]))
for number in range(int(sys.argv[3])):
    items.create(store, sys.argv[2], f"Task {number}", actor="operator")
"""


def measure() -> Figure:
    """Wall time in seconds; a lost row or event is an error."""
    return Figure("ten_writers_1000_items", round(_write(PROCESSES, EACH), 2), "s", BOUND_S, round(_write(1, 1000), 2))


def _write(processes: int, each: int) -> float:
    with tempfile.TemporaryDirectory(prefix="pam-bench-") as folder:
        path = Path(folder) / "pam.db"
        store = open_store(path)
        project = projects.add(store, "Bench", actor="operator")
        argv = [sys.executable, "-c", _WRITER, str(path), project.id, str(each)]
        began = time.perf_counter()
        writers = [subprocess.Popen(argv) for _ in range(processes)]
        failed = [writer for writer in writers if writer.wait(120)]
        took = time.perf_counter() - began
        rows = len(items.list_all(store, project.id))
        events = len(journal.read(store, topic="work_item.created"))
        store.close()
    if failed or (rows, events) != (processes * each, processes * each):
        raise RuntimeError(f"{len(failed)} writers failed; {rows} rows and {events} events of {processes * each}")
    return took
