"""A hook fires until the activity stands on the board: p95 at most 150 ms.

Measured from the start of the hook command, with claude's payload for a permission, through recipe and ingest edge.
Reference: that command alone, p95 of its wall time.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time

from executor.wrapper.install import programs
from tests.bench.board import Board, open_board
from tests.bench.report import Figure, p95

HOOKS = 40
BOUND_MS = 150.0


def measure() -> Figure:
    """p95 in ms over ``HOOKS`` signals."""
    return asyncio.run(_measure())


async def _measure() -> Figure:
    async with open_board(1) as board:
        (task,) = board.tasks
        run = await asyncio.to_thread(board.start, task, "sleep 1000")
        await board.shows(task, lambda seen: seen.status == "running")
        home = board.cwd / "home"
        environ = {**os.environ, "PAM_RUN": run.id, "PAM_ATTEMPT": "1", "PAM_SPOOL": str(home / "spool" / "1.jsonl")}
        helper = [sys.executable, "-I", "-S", "-E", str(home / "wrapper" / programs()[1].name)]
        took, alone = [], []
        for number in range(HOOKS):
            shown, process = await _signal(board, helper, environ, f"note {number}")
            took.append(shown)
            alone.append(process)
    return Figure("hook_to_board_p95", round(p95(took), 1), "ms", BOUND_MS, round(p95(alone), 1))


async def _signal(board: Board, helper: list[str], environ: dict[str, str], note: str) -> tuple[float, float]:
    began = time.time()
    asked = {"hook_event_name": "PermissionRequest", "tool_name": "Bash", "tool_input": {"command": note}}
    argv, payload = [*helper, "hook", "claude"], json.dumps(asked).encode()
    process = asyncio.create_task(asyncio.to_thread(_timed, argv, environ, payload))
    shown = await board.shows(board.tasks[0], lambda run: run.activity_note == f"Bash: {note}")
    return (shown - began) * 1000, await process


def _timed(argv: list[str], environ: dict[str, str], payload: bytes) -> float:
    began = time.time()
    subprocess.run(argv, env=environ, check=True, input=payload)
    return (time.time() - began) * 1000
