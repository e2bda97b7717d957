"""A key pressed in an attached pane until its echo is drawn, beside plain ``tmux attach`` in the same kind of terminal.

The reference is plain tmux's 95th percentile; keys of both are pressed in turn, so both meet the same machine.
"""

from __future__ import annotations

import itertools
import sys
import time

from tests.bench.attached import attached
from tests.bench.report import Figure, median, p95
from tests.support.attach_rig import ECHO, Seat

KEYS = 300
PAUSE_S = 0.02
LETTERS = b"qzxjwyQZXJWY"
"""None of them stands in an escape sequence that either draws with."""


def measure() -> Figure:
    """Milliseconds at the 95th percentile."""
    with attached([sys.executable, "-u", "-c", ECHO], b"READY") as here:
        plain = here.plain()
        try:
            ours, theirs = _typed(here.room, plain)
        finally:
            plain.close()
    detail = {"p50": median(ours) * 1e3, "p95": p95(ours) * 1e3, "tmux_p50": median(theirs) * 1e3}
    print("attach_keys", {name: round(value, 2) for name, value in detail.items()}, file=sys.stderr)
    return Figure("key in an attached pane to paint, p95", p95(ours) * 1e3, "ms", 8.0, p95(theirs) * 1e3)


def _typed(room: Seat, plain: Seat) -> tuple[list[float], list[float]]:
    ours: list[float] = []
    theirs: list[float] = []
    letters = itertools.cycle(LETTERS)
    for _ in range(KEYS):
        for seat, taken in ((room, ours), (plain, theirs)):
            end = time.monotonic() + PAUSE_S
            while (left := end - time.monotonic()) > 0:
                room.read(left / 2)
                plain.read(0)
            taken.append(seat.echo(bytes([next(letters)])))
    return ours, theirs
