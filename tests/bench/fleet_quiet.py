"""50 quiet agents: the executor takes at most 1 % of one core, and starts no process while nothing happens.

Reference: one ``tmux capture-pane`` process for each agent, once a second.
"""

from __future__ import annotations

import subprocess

from tests.bench.fleet import QUIET, captures, open_fleet
from tests.bench.report import Figure
from tests.support.tmux_server import SOCKET

AGENTS = 50
WINDOW_S = 35.0
"""Longer than each of the executor's intervals, so that each of them is in it."""
BOUND = 1.0


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
        reference = captures([name for name in listing.stdout.split() if name != "pam-hub"])
    return Figure("fleet_50_quiet_cpu", round(cpu, 2), "% of a core", BOUND, round(reference, 2))
