"""50 runs asked for at once: all run within 30 s, and none fails to start.

Reference: 50 sessions with the same program made one after another through libtmux.
"""

from __future__ import annotations

import time

from libtmux.server import Server

from tests.bench.fleet import QUIET, open_fleet
from tests.bench.report import Figure
from tests.support.tmux_server import SOCKET

RUNS = 50
BOUND_S = 30.0


def measure() -> Figure:
    """Seconds until the last one runs."""
    with open_fleet(RUNS) as fleet:
        took = fleet.start([QUIET] * RUNS)
        server = Server(socket_name=SOCKET)
        began = time.perf_counter()
        for number in range(RUNS):
            server.new_session(f"plain-{number}", window_command="sleep 100000")
        reference = time.perf_counter() - began
    return Figure("start_50_runs", round(took, 2), "s", BOUND_S, round(reference, 2))
