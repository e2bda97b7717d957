"""The world a schedule of faults plays in: a real home, a real tmux server, real executors, agents, and bystanders."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from store import items, journal, projects, runs, spool
from store.database import Store, open_store
from store.home import Home
from store.models import SpoolCursorRow
from store.records import Event, Run
from tests.faults import executors, processes
from tests.faults.agents import STARTS, Kind
from tests.faults.executors import ExecutorProcess
from tests.support.tmux_server import SOCKET, TmuxSandbox, make_sandbox

ACTOR = "operator"
QUICK: dict[str, Any] = {
    "liveness_s": 0.25,
    "reconcile_s": 0.4,
    "heartbeat_s": 0.4,
    "offline_after_s": 20.0,
    "grace_s": 0.4,
    "hold_open_s": 1.5,
    "spawn_timeout_s": 15.0,
    "dispatch_timeout_s": 60.0,
    "command_timeout_s": 0.6,
    "reconnect_max_s": 0.3,
    "restart_initial_s": 0.1,
    "restart_max_s": 0.3,
    "restart_factor": 2,
    "orphan_hold_s": 1.0,
    "log_check_s": 0.5,
    "log_max_bytes": 200_000,
    "spool_max_bytes": 6000,
}
"""PAM-CFG's times, shrunk so that a fault and its cure take about a second."""


@dataclass
class Story:
    """What the driver knows of a run because it did it: which endings may be, and which must."""

    run_id: str
    task_id: str
    kind: Kind
    may: dict[int, set[str]] = field(default_factory=dict)
    """Endings by attempt, beside the natural ones of the kind; ``*`` for any."""
    must: set[int] = field(default_factory=set)
    """Attempts that have to end."""
    deleted: bool = False

    def allow(self, attempt: int, *endings: str, due: bool = False) -> None:
        """From now on this attempt may end so; ``due`` that it has to end."""
        self.may.setdefault(attempt, set()).update(endings)
        if due:
            self.must.add(attempt)

    def allowed(self, attempt: int, ending: str) -> bool:
        """Whether the attempt had a reason to end like this."""
        known = self.may.get(attempt, set()) | set(self.kind.natural)
        return any(one in ("*", ending) or (one == "exit:*" and ending.startswith("exit:")) for one in known)


class World:
    """One home and all that happens around it. Directories are its own; TMUX_TMPDIR is set while it exists."""

    def __init__(self, directory: Path, **settings: Any) -> None:
        self.directory = directory
        self.home = Home(directory / "home")
        self.home.make()
        self.cwd = directory / "work"
        self.cwd.mkdir()
        self.clock = directory / "clock"
        self.clock.write_text("0")
        self.sandbox: TmuxSandbox = make_sandbox(self.home.path)
        os.environ["TMUX_TMPDIR"] = str(self.sandbox.directory)
        self.settings = replace(self.sandbox.settings, **{**QUICK, **settings})
        self.store: Store = open_store(self.home.database, clock=self.now)
        self.project = projects.add(self.store, "Checkout service", cwd=str(self.cwd), actor=ACTOR)
        self.stories: dict[str, Story] = {}
        self.events: list[Event] = []
        self.executor: ExecutorProcess | None = None
        self.past: list[ExecutorProcess] = []
        self.delays: list[threading.Timer] = []
        self.bystanders: list[subprocess.Popen[bytes]] = []
        self.tmux_deaths = 0
        self.meddled: set[str] = set()
        """Sessions in which the operator has a pane of his own: pam lets them stand."""

    # -- time -----------------------------------------------------------------------------------------------------

    def now(self) -> datetime:
        """The clock of everybody here, stepped or not."""
        return datetime.now(UTC) + timedelta(seconds=float(self.clock.read_text() or 0))

    def step_clock(self, seconds: float) -> None:
        """From now on the clock is this far ahead of the real one."""
        draft = self.clock.with_suffix(".draft")
        draft.write_text(str(seconds))
        draft.replace(self.clock)

    def later(self, seconds: float, what: Callable[[], None]) -> None:
        """Do something after a while; ``wait_delays`` waits for all of it."""
        timer = threading.Timer(seconds, what)
        self.delays.append(timer)
        timer.start()

    def wait_delays(self) -> None:
        """Until every fault with a length is over."""
        while self.delays:
            self.delays.pop().join(20)

    # -- executors ------------------------------------------------------------------------------------------------

    def new_executor(self) -> ExecutorProcess:
        """A process that wants to be the executor; it has not said anything yet."""
        log = self.directory / f"executor-{len(self.past)}.log"
        made = executors.start(self.home.path, self.settings, log, self.clock)
        self.past.append(made)
        return made

    def ensure_executor(self) -> str:
        """Have one that lives; what it said when it could not come up."""
        if self.executor is not None and self.executor.lives:
            return "up"
        self.executor = self.new_executor()
        said = self.executor.hear()
        if said != "up":
            self.executor.stop()
        return said or self.executor.complaints()

    # -- runs -----------------------------------------------------------------------------------------------------

    def start(self, kind: Kind, **options: object) -> Run:
        """A pending run of a task of its own."""
        task = items.create(self.store, self.project.id, f"Work of a {kind.name} agent", actor=ACTOR)
        given: dict[str, object] = {"args": kind.words, **kind.options, **options}
        run = runs.start(self.store, task.id, kind.provider, str(self.cwd), actor=ACTOR, **given)  # type: ignore[arg-type]
        story = self.stories[run.id] = Story(run.id, task.id, kind)
        if kind.natural:
            story.must.add(1)
        return run

    def all_runs(self) -> list[Run]:
        """Every run there is, oldest first."""
        return runs.list_all(self.store)[::-1]

    def read_events(self) -> list[Event]:
        """The journal so far."""
        self.events += journal.read(self.store, after=self.events[-1].seq if self.events else 0)
        return self.events

    def starts(self) -> dict[tuple[str, int], list[int]]:
        """Process ids of the agents that began, by run and attempt."""
        found: dict[tuple[str, int], list[int]] = {}
        with contextlib.suppress(FileNotFoundError):
            for line in (self.cwd / STARTS).read_text().splitlines():
                run, attempt, pid = line.split()
                found.setdefault((run, int(attempt)), []).append(int(pid))
        return found

    def agent_pid(self, run: Run) -> int | None:
        """The living agent of this attempt."""
        pids = [pid for pid in self.starts().get((run.id, run.attempt), []) if processes.alive(pid)]
        return pids[-1] if pids else None

    def open_gate(self, run: Run, code: int) -> bool:
        """Let a gated agent end with this code; False when it does not stand at its gate."""
        try:
            gate = os.open(self.cwd / f"gate-{run.id}-{run.attempt}", os.O_WRONLY | os.O_NONBLOCK)
        except OSError:
            return False
        os.write(gate, f"{code}\n".encode())
        os.close(gate)
        return True

    # -- tmux -----------------------------------------------------------------------------------------------------

    def server_pid(self) -> int | None:
        """The server that pam has on record, if it lives."""
        try:
            pid = int(json.loads((self.home.path / "host" / "tmux-server.json").read_text())["pid"])
        except (OSError, ValueError, KeyError):
            return None
        return pid if processes.alive(pid) else None

    @property
    def socket(self) -> Path:
        """The file of our tmux socket."""
        return self.sandbox.directory / f"tmux-{os.getuid()}" / SOCKET

    def client_pids(self) -> list[int]:
        """Control clients on record, as CLIENT-STARTED.OWNER-STARTED."""
        folder = self.home.path / "host" / "clients"
        return [int(path.name.split("-")[0]) for path in folder.glob("*-*.*")] if folder.exists() else []

    def tmux(self, *words: str) -> str:
        """What a plain tmux process prints; empty when it fails."""
        with contextlib.suppress(subprocess.SubprocessError):
            return self.sandbox.tmux(*words)
        return ""

    # -- the spool ------------------------------------------------------------------------------------------------

    def spool_left(self) -> str:
        """What of the spool is not in the store yet; empty when all is."""
        with self.store.read():
            cursors = {row.generation: int(row.offset) for row in SpoolCursorRow.select()}
        behind = []
        for path in sorted((self.home.path / "spool").glob("*.jsonl")):
            data = path.read_bytes()
            size = data.rfind(b"\n") + 1  # a torn last line waits for its rest
            if cursors.get(path.stem, 0) < size:
                behind.append(f"{path.name}: {cursors.get(path.stem, 0)} of {size}")
        return ", ".join(behind)

    def rewind_spool(self) -> None:
        """Forget how far the spool was read: every line will be delivered again."""
        with self.store.read():
            known = [(row.host_id, row.generation) for row in SpoolCursorRow.select()]
        for host, generation in known:
            spool.advance(self.store, host, generation, 0, actor="executor")

    # -- bystanders -----------------------------------------------------------------------------------------------

    def start_bystanders(self) -> None:
        """What must never be touched: the operator's sessions and processes, one of them marked as another home's."""
        self.tmux_default("new-session", "-d", "-s", "mine", "sleep 9000")
        self.tmux_default("new-session", "-d", "-s", "pam-0123abcd", "sleep 9000")
        other = {"PAM_RUN": "6f1b2c3d-0000-4000-8000-000000000000", "PAM_ATTEMPT": "1", "PAM_HOME": "/other"}
        for marks in ({}, other):
            self.bystanders.append(subprocess.Popen(["sleep", "9000"], env={**os.environ, **marks}))

    def join_ours(self) -> None:
        """Sessions of the operator's on our own socket; they end with the server, so each server gets them anew."""
        for name in ("mine", "pam-notes"):
            self.tmux("new-session", "-d", "-s", name, "sleep 9000")

    def tmux_default(self, *words: str) -> str:
        """A plain tmux process on the default socket."""
        return self.sandbox.tmux(*words, socket="default")

    # -- the end --------------------------------------------------------------------------------------------------

    def close(self) -> None:
        """End everything that belongs to this world."""
        self.wait_delays()
        for one in self.past:
            if one.lives:
                one.kill()
        for bystander in self.bystanders:
            bystander.kill()
            bystander.wait()
        self.store.close()
        processes.end_all(self.home.path, self.sandbox.directory)
        self.sandbox.end()

    def hold(self, program: str, path: Path) -> subprocess.Popen[str]:
        """Another process that holds something of ``path`` until its standard input closes."""
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", f"{program}; print('held', flush=True); sys.stdin.read()", str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None
        process.stdout.readline()
        return process


HOLD_DATABASE = (
    "import sqlite3, sys; held = sqlite3.connect(sys.argv[1], timeout=10, isolation_level=None); "
    "held.execute('BEGIN IMMEDIATE')"
)
HOLD_FILE = "import fcntl, sys; held = open(sys.argv[1], 'a'); fcntl.flock(held, fcntl.LOCK_EX)"


@contextlib.contextmanager
def make_world(directory: Path, **settings: Any) -> Iterator[World]:
    """A world below ``directory``, and its end whatever happens."""
    before = os.environ.get("TMUX_TMPDIR")
    world = World(directory, **settings)
    try:
        world.start_bystanders()
        yield world
    finally:
        world.close()
        if before is None:
            os.environ.pop("TMUX_TMPDIR", None)
        else:
            os.environ["TMUX_TMPDIR"] = before
