"""A pane that floods while attached: what the control room spends, how often it draws, and its longest silence.

``yes``, ``seq`` and a program that redraws its whole screen without pause, each for a while. The figure is the CPU of
the control room at the worst of the three; the reference is that of its helper, which reads it all.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass

import psutil

from tests.bench.attached import Attached, attached
from tests.bench.report import Figure
from tests.support.attach_rig import Seat

LASTS_S = 4.0
BURST_S = 0.004
"""What is drawn without such a pause is one frame."""
STORM = r"""
import os, shutil
n = 0
while True:
    n += 1
    columns, rows = shutil.get_terminal_size()
    lines = (f"\x1b[{y};1H\x1b[38;2;{n*7%256};{y*5%256};99m{str(n)[-1] * columns}" for y in range(1, rows + 1))
    os.write(1, "".join(lines).encode())
"""


@dataclass
class Flood:
    """What one of them was like."""

    cpu: float
    helper_cpu: float
    frames_s: float
    silence_ms: float


def measure() -> Figure:
    """Percent of a core."""
    seen: dict[str, Flood] = {}
    with attached(["bash", "--norc", "--noprofile"], b"bash-") as here:
        storm = here.home.path / "storm.py"
        storm.write_text(STORM)
        for name, line in (("yes", "yes"), ("seq", "seq 1 1000000000"), ("storm", f"{sys.executable} {storm}")):
            seen[name] = _flood(here, line)
    for name, flood in seen.items():
        print("attach_flood", name, flood, file=sys.stderr)
    worst = max(flood.cpu for flood in seen.values())
    helper = max(flood.helper_cpu for flood in seen.values())
    return Figure("control room while its pane floods", worst, "% of a core", 20.0, helper)


def _flood(here: Attached, line: str) -> Flood:
    room = here.room
    us = psutil.Process(room.child.pid)
    helper = next(child for child in us.children() if child.children() and "helper" in " ".join(child.cmdline()))
    room.write(line.encode() + b"\r")
    _frames(room, 1.0)
    before, helper_before = _cpu(us), _cpu(helper)
    start = time.monotonic()
    frames, silence = _frames(room, LASTS_S)
    took = time.monotonic() - start
    spent, helper_spent = _cpu(us) - before, _cpu(helper) - helper_before
    room.write(b"\x03")
    room.settle(0.5)
    room.write(b"clear\r")
    room.settle(0.5)
    return Flood(spent / took * 100, helper_spent / took * 100, frames / took, silence * 1e3)


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
