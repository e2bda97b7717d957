"""A key on a board of 2,000 cards, 1,000 of them in one column, until it is painted: p95 at most 50 ms.

Fifty agents run meanwhile, each drawing a line a second, and the board shows the pane of the card under the cursor.
Keys walk down the long column, jump to its ends, go to the columns beside it, and narrow all four by a filter.
Reference: an application of Textual that counts keys, on a terminal of the same size, pressed in turn.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator

from tests.bench.crowd import fill, title
from tests.bench.report import Figure, median, p95
from tests.bench.room import COUNTING, agents_home, on_terminal, open_room, rest, until_running

AGENTS = 50
DOING, OTHERS = 950, 1000
WALK = 200
OTHER_KEYS = 15
PAUSE_S = 0.04
BOUND_MS = 50.0
DRAWING = r"n=0; while :; do n=$((n+1)); printf '\033[3%dm line %d\033[0m\n' $((n % 8)) $n; sleep 1; done"


def measure() -> Figure:
    """Milliseconds at the 95th percentile, over every kind of key."""
    with agents_home(AGENTS, DRAWING) as quiet:
        fill(quiet.store, quiet.tasks[0].project_id, {"doing": DOING, "todo": OTHERS // 2, "done": OTHERS // 2})
        with open_room(quiet) as room, on_terminal(COUNTING, quiet) as counting:
            counting.until(b"count 0 of")
            until_running(room, AGENTS)
            ours: dict[str, list[float]] = {}
            theirs: list[float] = []
            for kind, keys, drawn in _pressed():
                for seat in (room.seat, counting):
                    rest(seat, PAUSE_S / 2)
                ours.setdefault(kind, []).append(room.seat.pressed(keys, drawn) * 1000)
                theirs.append(counting.pressed(b"x", re.compile(rb"[0-9]")) * 1000)
    every = [each for some in ours.values() for each in some]
    detail = {kind: f"p50 {median(some):.1f} p95 {p95(some):.1f} max {max(some):.1f}" for kind, some in ours.items()}
    print("board_keys", detail, file=sys.stderr)
    return Figure("board_key_to_paint_p95", round(p95(every), 1), "ms", BOUND_MS, round(p95(theirs), 1))


def _pressed() -> Iterator[tuple[str, bytes, re.Pattern[bytes]]]:
    """What kind of key, the key, and what is drawn only once it has acted."""
    for place in range(1, WALK):
        yield "down", b"j", _cursor(place)
    for _ in range(OTHER_KEYS):
        yield "end", b"G", _cursor(AGENTS + DOING - 1)
        yield "end", b"g", _cursor(0)
    for _ in range(OTHER_KEYS):
        yield "column", b"h", _cursor(AGENTS + DOING)
        yield "column", b"l", _cursor(0)
    yield "filter", b"/0094", re.compile(rb"\b11 of 1000")
    for _ in range(OTHER_KEYS):
        yield "filter", b"9", re.compile(rb"\b1 of 1000")
        yield "filter", b"\x7f", re.compile(rb"\b11 of 1000")


def _cursor(place: int) -> re.Pattern[bytes]:
    """The card with this place in the long column, or right after it, under the cursor."""
    name = f"Task {place}" if place < AGENTS else title(place - AGENTS)
    return re.compile("▌(?:\x1b\\[[0-9;]*m| )*".encode() + name.encode() + rb"(?![0-9])")
