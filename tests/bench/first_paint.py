"""``pam`` on 10,000 items, 200 runs and 1,000,000 events, from its start to the first frame with cards: at most 1 s.

Fifty of the runs go on in sessions of their own while the control room opens; the others have ended. The median of
several starts, each of which also takes over as executor. Reference: an application of Textual that shows one line.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from store import runs
from tests.bench.board import Quiet
from tests.bench.crowd import fill
from tests.bench.fleet import QUIET
from tests.bench.report import Figure, median
from tests.bench.room import COUNTING, agents_home, on_terminal, open_room, until_running
from tests.support.attach_rig import PAM

AGENTS = 50
ENDED = 150
EVENTS = 1_000_000
STARTS = 7
BOUND_S = 1.0


def measure() -> Figure:
    """Median seconds."""
    with agents_home(AGENTS, QUIET) as quiet:
        with open_room(quiet) as room:
            until_running(room, AGENTS)
        columns = {"todo": 5_000, "doing": 950, "done": 3_500, "cancelled": 500}
        fill(quiet.store, quiet.tasks[0].project_id, columns, runs=ENDED, events=EVENTS)  # type: ignore[arg-type]
        assert sum(runs.counts(quiet.store).values()) == AGENTS + ENDED
        pairs = [(_shown((str(PAM),), b"Task 0", quiet), _shown(COUNTING, b"count 0", quiet)) for _ in range(STARTS)]
    took, reference = (median(column) for column in zip(*pairs, strict=True))
    return Figure("first_paint", round(took, 2), "s", BOUND_S, round(reference, 2))


def _shown(argv: Sequence[str], part: bytes, quiet: Quiet) -> float:
    began = time.perf_counter()
    with on_terminal(argv, quiet) as seat:
        seat.until(part, 60)
        return time.perf_counter() - began
