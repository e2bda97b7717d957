"""Processes as the kernel shows them, looked at from outside pam: who belongs to a home, and who is which run."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil

DEAD = (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD)


@dataclass(frozen=True)
class Seen:
    """One living process with what matters here of its environment and command line."""

    pid: int
    parent: int
    run: str
    attempt: int
    home: str
    tmux_tmpdir: str
    argv: tuple[str, ...]

    @property
    def wrapper(self) -> bool:
        """Whether it is one of pam's wrappers."""
        return any("/wrapper/pam_exec-" in word for word in self.argv[:6])

    def wrapper_of(self, home: Path) -> bool:
        """Whether it is a wrapper of this home."""
        return any(word.startswith(f"{home}/wrapper/pam_exec-") for word in self.argv[:6])

    @property
    def control_client(self) -> bool:
        """Whether it is a tmux control client."""
        return "-C" in self.argv and bool(self.argv) and Path(self.argv[0]).name == "tmux"


def everybody() -> Iterator[Seen]:
    """Every living process that may be looked at."""
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if process.status() in DEAD:
                continue
            env = process.environ()
            attempt = env.get("PAM_ATTEMPT", "0")
            yield Seen(
                process.pid,
                process.ppid(),
                env.get("PAM_RUN", ""),
                int(attempt) if attempt.isdigit() else 0,
                env.get("PAM_HOME", ""),
                env.get("TMUX_TMPDIR", ""),
                tuple(process.cmdline()),
            )


def alive(pid: int) -> bool:
    """Whether the pid is a process that is more than its remains."""
    with contextlib.suppress(psutil.Error):
        return psutil.Process(pid).status() not in DEAD
    return False


def send(pid: int, number: int) -> None:
    """Signal a process, unless it is gone."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


def limit_files(pid: int, size: int | None) -> None:
    """Let a process write no file beyond ``size`` bytes, as a full disk does; None takes the limit away (Linux)."""
    with contextlib.suppress(psutil.Error, ProcessLookupError):
        process = psutil.Process(pid)
        hard = process.rlimit(psutil.RLIMIT_FSIZE)[1]
        process.rlimit(psutil.RLIMIT_FSIZE, (hard if size is None else size, hard))


def end_all(home: Path, tmux_tmpdir: Path) -> None:
    """KILL whatever belongs to a world that is over; nobody else has its directories in the environment."""
    for seen in everybody():
        ours = seen.home == str(home) or seen.tmux_tmpdir == str(tmux_tmpdir)
        if ours and seen.pid != os.getpid():
            send(seen.pid, signal.SIGCONT)
            send(seen.pid, signal.SIGKILL)
