"""A home with a store, a project, a task, and an executor on a private tmux server: the stage of whole-path tests."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from executor import lock
from executor.background import LoopThread
from executor.service import host_executor
from executor.settings import ExecutorSettings
from store import items, journal, projects, runs
from store.database import Store, open_store
from store.home import Home
from store.records import Event, Item, Run
from tests.support.tmux_server import TmuxSandbox
from tests.support.waiting import until

ACTOR = "operator"
RUN_S = 30.0
"""Longest a run of a test may take to get where it should."""


@dataclass
class Stage:
    """One test's home; ``task`` is ready to be worked on."""

    store: Store
    home: Home
    sandbox: TmuxSandbox
    task: Item
    cwd: Path
    settings: ExecutorSettings
    environ: dict[str, str] = field(default_factory=dict)

    def start(self, provider: str = "shell", *args: str, **options: object) -> Run:
        """A pending run of the task."""
        cwd = str(options.pop("cwd", self.cwd))
        return runs.start(self.store, self.task.id, provider, cwd, args=args, actor=ACTOR, **options)  # type: ignore[arg-type]

    def shell(self, script: str, **options: object) -> Run:
        """A pending run of a shell script."""
        return self.start("shell", "sh", "-c", script, **options)

    def run(self, run: Run) -> Run:
        """The run as it is now."""
        return runs.get(self.store, run.id)

    def until_status(self, run: Run, *statuses: str, timeout: float = RUN_S) -> Run:
        """The run once it has one of these statuses."""
        until(lambda: self.run(run).status in statuses, timeout, lambda: (statuses, self.run(run), self.topics(run)))
        return self.run(run)

    def until_ended(self, run: Run, timeout: float = RUN_S) -> Run:
        """The run once it lives no more."""
        return self.until_status(run, "exited", "failed", "stopped", timeout=timeout)

    def events(self, run: Run) -> list[Event]:
        """All that was journaled about a run."""
        return journal.of_run(self.store, run.id)

    def topics(self, run: Run) -> list[str]:
        """The topics of those, without what agents said and how much they wrote."""
        aside = ("run.signal_received", "run.output_appended")
        return [event.topic for event in self.events(run) if event.topic not in aside]

    def pane(self, run: Run) -> str:
        """The text of the run's pane."""
        return self.sandbox.tmux("capture-pane", "-p", "-t", f"={run.session_name}:")

    def log(self, run: Run) -> str:
        """The raw log of the run so far."""
        path = self.home.path / "runs" / f"{run.id}.log"
        return path.read_text("utf-8", "replace") if path.exists() else ""

    @contextmanager
    def executor(self, environ: Mapping[str, str] | None = None) -> Iterator[LoopThread]:
        """An executor of this home on a thread of the test; its agents inherit ``environ`` alone, when it is given."""
        environ = {**os.environ, **self.environ} if environ is None else environ
        with host_executor(self.store, self.home, self.settings, hosted_by="command", environ=environ) as thread:
            yield thread

    def executor_process(self) -> subprocess.Popen[str]:
        """An executor of this home in a process of its own; returns once it holds the lock and beats."""
        process = subprocess.Popen(
            [
                sys.executable,
                "-c",
                _HOST,
                str(self.home.path),
                self.settings.tmux_socket,
                str(self.settings.liveness_s),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, **self.environ},
        )
        assert process.stdout is not None
        assert process.stdout.readline() == "up\n"
        return process


_HOST = """
import sys
from pathlib import Path
from executor.service import host_executor
from executor.settings import ExecutorSettings
from store.database import open_store
from store.home import Home
home = Home(Path(sys.argv[1]))
settings = ExecutorSettings(tmux_socket=sys.argv[2], liveness_s=float(sys.argv[3]), grace_s=2)
with host_executor(open_store(home.database), home, settings, hosted_by="headless"):
    print("up", flush=True)
    sys.stdin.read()
"""


def end_process(process: subprocess.Popen[str], number: int = signal.SIGKILL) -> None:
    """Signal a process of the test and reap it."""
    process.send_signal(number)
    process.wait(10)
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            pipe.close()


def make_stage(sandbox: TmuxSandbox, home_path: Path, cwd: Path, **settings: object) -> Stage:
    """A new home at ``home_path`` and a working directory at ``cwd``."""
    home = Home(home_path)
    home.make()
    cwd.mkdir(parents=True, exist_ok=True)
    store = open_store(home.database)
    project = projects.add(store, "Checkout service", cwd=str(cwd), actor=ACTOR)
    task = items.create(store, project.id, "Fix the flaky auth tests", actor=ACTOR)
    quick: Mapping[str, object] = {"liveness_s": 0.5, "grace_s": 2.0, "spawn_timeout_s": 10.0, **settings}
    return Stage(store, home, sandbox, task, cwd, replace(sandbox.settings, **quick))  # type: ignore[arg-type]


def executor_runs(home: Home) -> bool:
    """Whether some process is the executor of this home."""
    return lock.state(home).running
