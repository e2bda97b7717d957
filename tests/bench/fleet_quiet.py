"""50 quiet agents: the executor takes at most 1 % of one core, and starts no process while nothing happens.

Reference: one ``tmux capture-pane`` process for each agent, once a second.
"""

from __future__ import annotations

import subprocess
import sys

from tests.bench.fleet import QUIET, cpu_percent, open_fleet
from tests.bench.report import Figure
from tests.support.tmux_server import SOCKET

AGENTS = 50
WINDOW_S = 35.0
"""Longer than each of the executor's intervals, so that each of them is in it."""
BOUND = 1.0

CAPTURING = """
import subprocess, sys, time
print("up", flush=True)
while True:
    for name in sys.argv[2:]:
        argv = ["tmux", "-L", sys.argv[1], "capture-pane", "-p", "-e", "-t", f"={name}:"]
        subprocess.run(argv, stdout=subprocess.DEVNULL)
    time.sleep(1)
"""


def measure() -> Figure:
    """Percent of one core, executor and control client together; a process started meanwhile is an error."""
    with open_fleet(AGENTS) as fleet:
        fleet.start([QUIET] * AGENTS)
        before = fleet.processes_started()
        cpu = fleet.cpu_percent(WINDOW_S)
        started = fleet.processes_started() - before
        if started:
            raise RuntimeError(f"the executor started {started} processes while nothing happened")
        listing = subprocess.run(
            ["tmux", "-L", SOCKET, "list-sessions", "-F", "#{session_name}"], capture_output=True, text=True, check=True
        )
        reference = _captures([name for name in listing.stdout.split() if name != "pam-hub"])
    return Figure("fleet_50_quiet_cpu", round(cpu, 2), "% of a core", BOUND, round(reference, 2))


def _captures(sessions: list[str]) -> float:
    argv = [sys.executable, "-c", CAPTURING, SOCKET, *sessions]
    with subprocess.Popen(argv, stdout=subprocess.PIPE) as capturing:
        assert capturing.stdout is not None
        capturing.stdout.readline()
        try:
            return cpu_percent(capturing.pid, 10)
        finally:
            capturing.kill()
