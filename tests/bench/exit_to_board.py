"""An agent's exit until its card on the board says so: p95 at most 150 ms.

The agent's last program writes down the time and ends; the board is an open control room that hosts the executor.
Reference: the same exit as a tool sees it that asks tmux once a second, as most do: half a second on average, and p95
at 950 ms, is what asking costs before any work; here it is measured with ``has-session`` at 1 Hz.
"""

from __future__ import annotations

import asyncio
import subprocess
import time
from pathlib import Path

from tests.bench.board import Board, open_board
from tests.bench.report import Figure, p95

EXITS = 40
AT_ONCE = 4
BOUND_MS = 150.0
ASKED = 6


def measure() -> Figure:
    """p95 in ms over ``EXITS`` exits."""
    return asyncio.run(_measure())


async def _measure() -> Figure:
    async with open_board(EXITS) as board:
        took: list[float] = []
        for first in range(0, EXITS, AT_ONCE):
            took += await asyncio.gather(*(_exit(board, number) for number in range(first, first + AT_ONCE)))
        asked = [await asyncio.to_thread(_asking, number, board.cwd) for number in range(ASKED)]
    return Figure("exit_to_board_p95", round(p95(took), 1), "ms", BOUND_MS, round(p95(asked), 1))


async def _exit(board: Board, number: int) -> float:
    task = board.tasks[number]
    stamp = board.cwd / f"end-{number}"
    await asyncio.to_thread(board.start, task, f"sleep 0.{3 + number % 4}; exec date +%s%N > {stamp}")
    shown = await board.shows(task, lambda run: run.status == "exited")
    return shown * 1000 - int(stamp.read_text()) / 1e6


def _asking(number: int, folder: Path) -> float:
    """How late a tool that asks once a second notices the end of a program in its session."""
    name = f"asked-{number}"
    tmux = ["tmux", "-L", "bench-reference", "-f", "/dev/null"]
    stamp = folder / name
    script = f"sleep 0.{3 + number}; date +%s%N > {stamp}"
    subprocess.run([*tmux, "new-session", "-d", "-s", name, script], check=True)
    while not subprocess.run([*tmux, "has-session", "-t", f"={name}"], capture_output=True, check=False).returncode:
        time.sleep(1)
    noticed = time.time()
    return noticed * 1000 - int(stamp.read_text()) / 1e6
