"""An executor in a process of its own over many real agents, for benchmarks that ask what it costs."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import psutil

from store import runs
from store.database import Store
from store.records import Item, Run
from tests.bench.board import quiet_home
from tests.support.tmux_server import SOCKET
from tests.support.waiting import until

QUIET = "exec sleep 100000"
BUSY = "while :; do printf '\\r%s working' $RANDOM; sleep 0.1; done"

_HOST = """
import sys
from pathlib import Path
started = 0
def count(event, _):
    global started
    started += event in ("subprocess.Popen", "os.fork", "os.posix_spawn")
sys.addaudithook(count)
from executor.service import host_executor
from executor.settings import ExecutorSettings
from store.database import open_store
from store.home import Home
home = Home(Path(sys.argv[1]))
settings = ExecutorSettings(tmux_socket=sys.argv[2])
with host_executor(open_store(home.database), home, settings, hosted_by="headless"):
    print("up", flush=True)
    for line in sys.stdin:
        print(started, flush=True)
"""


CAPTURING = """
import subprocess, sys, time
print("up", flush=True)
while True:
    for name in sys.argv[2:]:
        argv = ["tmux", "-L", sys.argv[1], "capture-pane", "-p", "-e", "-t", f"={name}:"]
        subprocess.run(argv, stdout=subprocess.DEVNULL)
    time.sleep(1)
"""


@dataclass
class Fleet:
    """A home with agents, and the process that executes."""

    store: Store
    tasks: list[Item]
    executor: subprocess.Popen[str]

    def start(self, scripts: list[str], *, within_s: float = 120.0) -> float:
        """Start one run a script, all at once; seconds until every one runs. A run that fails is an error."""
        began = time.perf_counter()
        asked = [self._run(number, script) for number, script in enumerate(scripts)]
        until(lambda: self._counts("running") == len(asked) or self._counts("failed"), within_s, self._said)
        if self._counts("failed"):
            raise RuntimeError(f"{self._counts('failed')} of {len(asked)} runs failed to start")
        return time.perf_counter() - began

    def cpu_percent(self, seconds: float) -> float:
        """Percent of one core that the executor and its control client take."""
        return cpu_percent(self.executor.pid, seconds)

    def processes_started(self) -> int:
        """How many processes the executor has started so far."""
        assert self.executor.stdin is not None
        assert self.executor.stdout is not None
        self.executor.stdin.write("count\n")
        self.executor.stdin.flush()
        return int(self.executor.stdout.readline())

    def _run(self, number: int, script: str) -> Run:
        args = ("bash", "-c", script)
        return runs.start(self.store, self.tasks[number].id, "shell", "/", args=args, actor="operator")

    def _counts(self, status: str) -> int:
        return {str(name): count for name, count in runs.counts(self.store).items()}.get(status, 0)

    def _said(self) -> object:
        return runs.counts(self.store)


def cpu_percent(pid: int, seconds: float) -> float:
    """Percent of one core that a process and its children take over a while."""
    process = psutil.Process(pid)
    before = _cpu(process)
    began = time.perf_counter()
    time.sleep(seconds)
    return (_cpu(process) - before) / (time.perf_counter() - began) * 100


def captures(sessions: list[str]) -> float:
    """Percent of one core that one ``tmux capture-pane`` process for each session takes, once a second."""
    argv = [sys.executable, "-c", CAPTURING, SOCKET, *sessions]
    with subprocess.Popen(argv, stdout=subprocess.PIPE) as capturing:
        assert capturing.stdout is not None
        capturing.stdout.readline()
        try:
            return cpu_percent(capturing.pid, 10)
        finally:
            capturing.kill()


@contextmanager
def open_fleet(size: int) -> Iterator[Fleet]:
    """A fleet of ``size`` tasks without any run yet; all of it is gone afterwards."""
    with quiet_home(size) as quiet:
        argv = [sys.executable, "-c", _HOST, str(quiet.home.path), quiet.settings.tmux_socket]
        executor = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        try:
            assert executor.stdout is not None
            assert executor.stdout.readline() == "up\n"
            yield Fleet(quiet.store, quiet.tasks, executor)
        finally:
            executor.terminate()
            executor.wait(30)
            for pipe in (executor.stdin, executor.stdout):
                if pipe is not None:
                    pipe.close()


def _cpu(process: psutil.Process) -> float:
    total = 0.0
    for one in [process, *process.children(recursive=True)]:
        try:
            times = one.cpu_times()
        except psutil.NoSuchProcess:
            continue
        total += times.user + times.system + times.children_user + times.children_system
    return total
