"""200 agents of which 20 write ten times a second: the executor takes at most 6 % of one core.

Reference: the same fleet listed once a second through libtmux, in a process of its own.
"""

from __future__ import annotations

import subprocess
import sys

from tests.bench.fleet import BUSY, QUIET, cpu_percent, open_fleet
from tests.bench.report import Figure
from tests.support.tmux_server import SOCKET

AGENTS = 200
BUSY_AGENTS = 20
WINDOW_S = 20.0
BOUND = 6.0

LISTING = """
import sys, time
from libtmux.server import Server
server = Server(socket_name=sys.argv[1])
print("up", flush=True)
while True:
    list(server.panes)
    time.sleep(1)
"""


def measure() -> Figure:
    """Percent of one core, executor and control client together."""
    with open_fleet(AGENTS) as fleet:
        fleet.start([BUSY] * BUSY_AGENTS + [QUIET] * (AGENTS - BUSY_AGENTS))
        cpu = fleet.cpu_percent(WINDOW_S)
        reference = _libtmux_cpu()
    return Figure("fleet_200_20_busy_cpu", round(cpu, 2), "% of a core", BOUND, round(reference, 2))


def _libtmux_cpu() -> float:
    with subprocess.Popen([sys.executable, "-c", LISTING, SOCKET], stdout=subprocess.PIPE) as lister:
        assert lister.stdout is not None
        lister.stdout.readline()
        try:
            return cpu_percent(lister.pid, 10)
        finally:
            lister.kill()
