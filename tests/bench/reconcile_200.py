"""Looking over 200 runs and their sessions, plan and all: at most 1 s.

The command ``pam reconcile`` asks the running executor and waits for its answer. Reference: the 200 sessions and their
panes listed once through libtmux.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

from libtmux.server import Server

from tests.bench.fleet import QUIET, open_fleet
from tests.bench.report import Figure, median
from tests.support.tmux_server import SOCKET

RUNS = 200
ROUNDS = 5
BOUND_S = 1.0


def measure() -> Figure:
    """Median seconds of the whole command."""
    with open_fleet(RUNS) as fleet:
        fleet.start([QUIET] * RUNS)
        home = fleet.store.path
        assert home is not None
        environ = {**os.environ, "PAM_HOME": str(home.parent)}
        argv = [str(Path(sys.executable).with_name("pam")), "reconcile", "--json"]
        took = [_timed(argv, environ) for _ in range(ROUNDS)]
        server = Server(socket_name=SOCKET)
        began = time.perf_counter()
        listed = len(list(server.sessions)) + len(list(server.panes))
        reference = time.perf_counter() - began
    assert listed >= 2 * RUNS
    return Figure("reconcile_200_runs", round(median(took), 2), "s", BOUND_S, round(reference, 2))


def _timed(argv: list[str], environ: dict[str, str]) -> float:
    began = time.perf_counter()
    subprocess.run(argv, check=True, stdout=subprocess.DEVNULL, env=environ)
    return time.perf_counter() - began
