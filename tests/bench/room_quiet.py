"""The control room, executor and all, idle over 50 quiet agents: at most 2 % of one core, and no process started.

The room shows its board, with the pane of one of the agents. Reference: one ``tmux capture-pane`` process for each
agent, once a second.
"""

from __future__ import annotations

import sys

from store import runs
from tests.bench.fleet import QUIET, captures, cpu_percent
from tests.bench.report import Figure
from tests.bench.room import agents_home, open_room, until_running

AGENTS = 50
WINDOW_S = 65.0
"""Longer than each interval there is: the room looks at the clock once a minute."""
BOUND = 2.0

ROOM = """
import sys
from pathlib import Path
started = Path(sys.argv[1]).open("a", buffering=1)
def note(event, _):
    if event in ("subprocess.Popen", "os.fork", "os.posix_spawn"):
        started.write(event + "\\n")
sys.addaudithook(note)
sys.argv[1:] = []
from app._launch import main
main()
"""


def measure() -> Figure:
    """Percent of one core, the room's process and its tmux clients together; a process started is an error."""
    with agents_home(AGENTS, QUIET) as quiet:
        noted = quiet.cwd / "started"
        with open_room(quiet, argv=(sys.executable, "-c", ROOM, str(noted))) as room:
            until_running(room, AGENTS)
            before = noted.read_text()
            cpu = cpu_percent(room.seat.child.pid, WINDOW_S)
            started = noted.read_text().removeprefix(before).split()
            reference = captures([run.session_name for run in runs.live(quiet.store)])
    if started:
        raise RuntimeError(f"the control room started {len(started)} processes while nothing happened")
    return Figure("room_50_quiet_cpu", round(cpu, 2), "% of a core", BOUND, round(reference, 2))
