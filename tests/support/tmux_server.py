"""Private tmux servers for tests: their sockets stand in a directory of their own, and each test ends only its own."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import psutil

from executor.hosts.link import Spawn
from executor.settings import ExecutorSettings
from tests.support.waiting import until

T = TypeVar("T")

SOCKET = "pam-test"
DECOY = "mine"
"""A session of the operator's, beside ours on each socket."""


@dataclass
class TmuxSandbox:
    """One test's servers: ``SOCKET`` for pam, and the ``default`` one that pam must never touch."""

    directory: Path
    """TMUX_TMPDIR; short, because a socket's path holds 107 bytes."""
    home: Path
    settings: ExecutorSettings
    _pids: set[int] = field(default_factory=set)

    def tmux(self, *words: str, socket: str = SOCKET) -> str:
        """What a plain tmux process prints; raises CalledProcessError when it fails."""
        return subprocess.run(
            ["tmux", "-u", "-f", "/dev/null", "-L", socket, *words],
            check=True,
            capture_output=True,
            encoding="utf-8",
            timeout=10,
        ).stdout.rstrip("\n")

    def sessions(self, socket: str = SOCKET) -> set[str]:
        """Names of the sessions on a socket; none when no server runs."""
        try:
            return set(self.tmux("list-sessions", "-F", "#{session_name}", socket=socket).splitlines())
        except subprocess.CalledProcessError:
            return set()

    def server_pid(self, socket: str = SOCKET) -> int:
        """The server's process; it is ended with the sandbox."""
        pid = int(self.tmux("display-message", "-p", "#{pid}", socket=socket))
        self._pids.add(pid)
        return pid

    def start_decoys(self) -> None:
        """A session of the operator's on the default socket, and one on ours if it has a server."""
        self.tmux("new-session", "-d", "-s", DECOY, "sleep 1000", socket="default")
        if self.sessions():
            self.tmux("new-session", "-d", "-s", DECOY, "sleep 1000")

    def stop_server(self) -> int:
        """SIGSTOP: from now on the server answers nobody, until ``continue_server``."""
        pid = self.server_pid()
        os.kill(pid, signal.SIGSTOP)
        return pid

    def continue_server(self, pid: int) -> None:
        """Undoes ``stop_server``."""
        os.kill(pid, signal.SIGCONT)

    def spawn(self, session: str, script: str, *args: str) -> Spawn:
        """What to give ``HostLink.spawn`` for a shell script."""
        return Spawn(
            session=session,
            argv=("sh", "-c", script, "sh", *args),
            cwd=str(self.home),
            log_path=str(self.home / "runs" / f"{session}.log"),
        )

    def end(self) -> None:
        """Ends the servers of this sandbox and removes its directory."""
        for pid in self._pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)
        for socket in (self.directory / f"tmux-{os.getuid()}").glob("*"):
            with contextlib.suppress(subprocess.CalledProcessError):
                self._pids.add(int(self.tmux("display-message", "-p", "#{pid}", socket=socket.name)))
                self.tmux("kill-server", socket=socket.name)
        for pid in self._pids:
            self._end_process(pid)
        shutil.rmtree(self.directory, ignore_errors=True)

    def _end_process(self, pid: int) -> None:
        with contextlib.suppress(psutil.NoSuchProcess):
            server = psutil.Process(pid)
            if server.name().startswith("tmux"):
                try:
                    # A server told to end takes more than a second over it by itself.
                    server.wait(0.05)
                except psutil.TimeoutExpired:
                    server.kill()


def make_sandbox(home: Path) -> TmuxSandbox:
    """A sandbox without any server yet. The caller points TMUX_TMPDIR at its ``directory``."""
    directory = Path(tempfile.mkdtemp(prefix="pt-", dir="/tmp"))
    home.mkdir(parents=True, exist_ok=True)
    return TmuxSandbox(directory, home, ExecutorSettings(tmux_socket=SOCKET, reconnect_max_s=0.5))


async def eventually(predicate: Callable[[], T], timeout: float = 10.0) -> T:
    """The first true value of ``predicate``, asked on another thread so that the event loop goes on."""
    return await asyncio.to_thread(until, predicate, timeout)


async def until_answer(ask: Callable[[], Awaitable[T]], timeout: float = 10.0) -> T:
    """The first true answer of an asynchronous question; TimeoutError after ``timeout`` seconds."""
    pause = asyncio.Event()
    async with asyncio.timeout(timeout):
        while not (answer := await ask()):
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(pause.wait(), 0.02)
    return answer
