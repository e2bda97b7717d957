"""Executors of a home as real processes, with what each said when it came up."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from executor.settings import ExecutorSettings

ROOT = Path(__file__).parents[2]
UP_S = 30.0


@dataclass
class ExecutorProcess:
    """One process that is, or wanted to be, the executor."""

    process: subprocess.Popen[str]
    log: Path
    said: str = ""
    frozen: bool = False
    expected_dead: bool = False

    @property
    def pid(self) -> int:
        """Its process."""
        return self.process.pid

    @property
    def lives(self) -> bool:
        """Whether it still runs."""
        return self.process.poll() is None

    def hear(self) -> str:
        """Wait for its word: ``up``, ``busy`` or ``cannot: …``; empty when it ended without one."""
        assert self.process.stdout is not None
        deadline = time.monotonic() + UP_S
        while not self.said and select.select([self.process.stdout], [], [], max(0.0, deadline - time.monotonic()))[0]:
            line = self.process.stdout.readline()
            self.said = line.strip()
            if not line:
                break
        return self.said

    def complaints(self) -> str:
        """The end of what it wrote on standard error."""
        return self.log.with_suffix(".err").read_text(errors="replace")[-1000:]

    def kill(self) -> None:
        """KILL, and reap."""
        self.expected_dead = True
        self.process.kill()
        self._reap()

    def stop(self) -> None:
        """Let it stop in its own way; raises TimeoutExpired when it does not."""
        self.expected_dead = True
        if self.frozen:
            self.thaw()
        assert self.process.stdin is not None
        self.process.stdin.close()
        self._reap()

    def freeze(self) -> None:
        """SIGSTOP: it hangs."""
        self.frozen = True
        self.process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """SIGCONT."""
        self.frozen = False
        self.process.send_signal(signal.SIGCONT)

    def _reap(self) -> None:
        self.process.wait(20)
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None and not pipe.closed:
                pipe.close()


def start(home: Path, settings: ExecutorSettings, log: Path, clock: Path) -> ExecutorProcess:
    """Start one; it has not said anything yet."""
    words = [str(home), json.dumps(asdict(settings)), str(log), str(clock)]
    with log.with_suffix(".err").open("ab") as complaints:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.faults.host", *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=complaints,
            text=True,
            cwd=ROOT,
            env={name: value for name, value in os.environ.items() if name not in ("TMUX", "TMUX_PANE")},
        )
    return ExecutorProcess(process, log)
