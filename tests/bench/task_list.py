"""``pam task list`` on 1,000 items, as a command: at most three bare interpreters and 60 ms.

Reference: ``python3 -c pass`` with the interpreter that pam runs on, timed in turn with it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from store import items, projects
from store.database import open_store
from store.home import Home
from tests.bench.report import Figure, median

ITEMS = 1000
ROUNDS = 15


def measure() -> Figure:
    """Median wall time of the command, in ms."""
    with tempfile.TemporaryDirectory(prefix="pam-bench-") as folder:
        home = Home(Path(folder))
        store = open_store(home.database)
        project = projects.add(store, "Bench", actor="operator")
        for number in range(ITEMS):
            items.create(store, project.id, f"Task {number}", labels=("bench",), actor="operator")
        store.close()
        pam = [str(Path(sys.executable).with_name("pam")), "task", "list", "--project", project.slug]
        bare = [sys.executable, "-c", "pass"]
        _time(pam, home)
        pairs = [(_time(pam, home), _time(bare, home)) for _ in range(ROUNDS)]
    took, reference = (median(column) for column in zip(*pairs, strict=True))
    return Figure("task_list_1000_items", round(took, 1), "ms", round(3 * reference + 60, 1), round(reference, 1))


def _time(argv: list[str], home: Home) -> float:
    environ = {**os.environ, "PAM_HOME": str(home.path)}
    began = time.perf_counter()
    subprocess.run(argv, check=True, stdout=subprocess.DEVNULL, env=environ)
    return (time.perf_counter() - began) * 1000
