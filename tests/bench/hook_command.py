"""The hook command by itself, in a process of its own each time: at most 40 ms of wall time, median.

An agent waits for its hooks. Reference: an interpreter started the same way that does nothing.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from executor.wrapper import pam_signal
from tests.bench.report import Figure

CALLS = 60
BOUND_MS = 40.0
PYTHON = [sys.executable, "-I", "-S", "-E"]
PAYLOAD = {"hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_response": {"stdout": "line\n" * 1000}}


def measure() -> Figure:
    """Median in ms; the fsync of the spool's line is in it."""
    with tempfile.TemporaryDirectory() as folder:
        spool = Path(folder) / "spool" / "1.jsonl"
        spool.parent.mkdir()
        environ = {"PAM_RUN": "5f0c1f7e-8a54-4c5e-9a5e-0d3f5f4b7a11", "PAM_ATTEMPT": "1", "PAM_SPOOL": str(spool)}
        took = _median([*PYTHON, pam_signal.__file__, "hook", "claude"], environ, json.dumps(PAYLOAD).encode())
        said = len(spool.read_bytes().splitlines())
        if said != CALLS:
            raise RuntimeError(f"{said} of {CALLS} hooks were heard")
        nothing = _median([*PYTHON, "-c", "pass"], environ, b"")
    return Figure("hook_command_median", round(took, 1), "ms", BOUND_MS, round(nothing, 1))


def _median(argv: Sequence[str], environ: dict[str, str], payload: bytes) -> float:
    took = []
    for _ in range(CALLS):
        began = time.perf_counter()
        subprocess.run(argv, env=environ, input=payload, check=True)
        took.append((time.perf_counter() - began) * 1000)
    return statistics.median(took)
