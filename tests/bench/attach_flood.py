"""A pane that floods while attached: what the control room and its helper spend, how often the room draws, how long
its loop looks at nothing, and how long a key takes.

``yes``, ``seq``, and a program that writes lines and one that redraws its whole screen without pause, both with the
last key in what they write. Frames are seen from outside, and tmux shows a flood some ten times a second where much
changes; stalls are measured within the room (``attached.py``). The figure is the room's CPU at the worst of them; the
reference is that of its helper, which reads it all.
"""

from __future__ import annotations

import itertools
import select
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass

import psutil

from tests.bench.attached import Attached, attached
from tests.bench.report import Figure, median, p95
from tests.support.attach_rig import Seat

LASTS_S = 4.0
KEYS = 60
PAUSE_S = 0.05
LETTERS = b"qzxjwyQZXJWY"
BURST_S = 0.004
"""What is drawn without such a pause is one frame."""
_FLOOD = r"""
import os, select, sys, termios, tty
before = termios.tcgetattr(0)
tty.setraw(0)
n, key = 0, "."
def lines():
    return "".join(f"{n * 500 + i} {key * 20}\r\n" for i in range(500))
def storm():
    columns, rows = os.get_terminal_size()
    half = f"{key * (columns // 2)}{str(n)[-1] * (columns // 2)}"
    return "".join(f"\x1b[{y};1H\x1b[38;2;{n*7%256};{y*5%256};99m{half}" for y in range(1, rows + 1))
draw = {"lines": lines, "storm": storm}[sys.argv[1]]
while key != "\x03":
    n += 1
    os.write(1, draw().encode())
    if select.select([0], [], [], 0)[0]:
        key = chr(os.read(0, 99)[-1])
termios.tcsetattr(0, termios.TCSANOW, before)
os.write(1, b"\x1b[0m\r\n")
"""


@dataclass
class Flood:
    """What one of them was like."""

    room_cpu: float
    helper_cpu: float
    frames_s: float
    stall_ms: float
    """The longest time for which the room's loop looked at nothing, without that for which others had the cores."""
    late_ms: float
    """The same with it."""
    silence_ms: float
    """The longest time in which nothing was drawn."""
    key_p50_ms: float = 0.0
    key_p95_ms: float = 0.0
    """Of keys that the flood shows."""
    tmux_p50_ms: float = 0.0
    tmux_p95_ms: float = 0.0
    """The same in plain tmux."""


def measure() -> Figure:
    """Percent of a core."""
    seen = floods()
    worst = max(flood.room_cpu for flood in seen)
    helper = max(flood.helper_cpu for flood in seen)
    return Figure("control room while its pane floods", worst, "% of a core", 20.0, helper)


def floods() -> list[Flood]:
    """Each of them, told on stderr."""
    seen = []
    with attached(["bash", "--norc", "--noprofile"], b"bash-") as here:
        program = here.home.path / "flood.py"
        program.write_text(_FLOOD)
        python = f"{sys.executable} {program}"
        for line in ("yes", "seq 1 1000000000", f"{python} lines", f"{python} storm"):
            seen.append(_flood(here, line))
            told = {name: round(value, 1) for name, value in asdict(seen[-1]).items()}
            print("attach_flood", line.split("/")[-1], told, file=sys.stderr)
    return seen


def _flood(here: Attached, line: str) -> Flood:
    room = here.room
    us = psutil.Process(room.child.pid)
    helper = next(helper for nursery in us.children() for helper in nursery.children() if helper.children())
    room.write(line.encode() + b"\r")
    _frames(room, 1.0)
    before, helper_before = _cpu(us), _cpu(helper)
    start = time.monotonic()
    frames, silence = _frames(room, LASTS_S)
    end = time.monotonic()
    spent, helper_spent = (_cpu(us) - before) / (end - start), (_cpu(helper) - helper_before) / (end - start)
    keys = _keys(here) if "python" in line else (0.0,) * 4
    stall, late = (each * 1e3 for each in here.stalls(start, end))
    rate = frames / (end - start)
    flood = Flood(spent * 100, helper_spent * 100, rate, stall, late, silence * 1e3, *keys)
    room.write(b"\x03")
    room.settle(0.5)
    room.write(b"clear; echo o''ver\r")
    room.until(b"over", 60)
    room.settle(0.5)
    return flood


def _keys(here: Attached) -> tuple[float, float, float, float]:
    """Median and 95th percentile of ours, and of plain tmux's, in milliseconds."""
    plain = here.plain()
    letters = itertools.cycle(LETTERS)
    try:
        ours, theirs = zip(*(_pressed(here.room, plain, letters) for _ in range(KEYS)), strict=True)
    finally:
        plain.close()
    return median(ours) * 1e3, p95(ours) * 1e3, median(theirs) * 1e3, p95(theirs) * 1e3


def _pressed(room: Seat, plain: Seat, letters: Iterator[int]) -> tuple[float, float]:
    """Both are read all the time: a terminal that is not would hold its program up."""
    taken = []
    for seat in (room, plain):
        _read(room, plain, time.perf_counter() + PAUSE_S, None)
        seat.output.clear()
        key = bytes([next(letters)])
        start = time.perf_counter()
        seat.write(key)
        _read(room, plain, start + 5.0, (seat, key))
        taken.append(time.perf_counter() - start)
    return taken[0], taken[1]


def _read(room: Seat, plain: Seat, end: float, wanted: tuple[Seat, bytes] | None) -> None:
    """Read until then, or until what is wanted has been drawn."""
    while wanted is None or wanted[1] not in wanted[0].output:
        left = end - time.perf_counter()
        if left <= 0:
            assert wanted is None, f"{wanted} was not drawn"
            return
        select.select([room.child.fd, plain.child.fd], [], [], left)
        for seat in (room, plain):
            seat.read(0.0)


def _cpu(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


def _frames(room: Seat, seconds: float) -> tuple[int, float]:
    """Frames that are drawn within so many seconds, and the longest time without one."""
    frames, longest = 0, 0.0
    last = time.monotonic()
    end = last + seconds
    while time.monotonic() < end:
        if room.read(0.1):
            now = time.monotonic()
            if now - last > BURST_S:
                frames += 1
                longest = max(longest, now - last)
            last = now
    room.output.clear()
    return frames, longest
