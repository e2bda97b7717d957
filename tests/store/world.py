"""What the store's tests share: a clock to turn, full dumps to compare, signals and runs in a wanted state."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import cast

import store as store_package
from store import hosts, runs
from store.database import Store
from store.journal import read
from store.records import Event, Host, Item, Project, Run, RunStatus, Signal
from store.signals import ingest

ROOT = Path(store_package.__file__).parent.parent

Dump = dict[str, list[tuple[object, ...]]]


class TurnedClock:
    """A clock that stands still until it is advanced."""

    def __init__(self) -> None:
        self.now = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def advance(self, seconds: float) -> datetime:
        """Turn the clock forward and return the new time."""
        self.now += timedelta(seconds=seconds)
        return self.now


@dataclass(frozen=True)
class World:
    """A store with a project, a task and the local host online."""

    store: Store
    clock: TurnedClock
    project: Project
    task: Item
    host: Host

    def run(self, status: RunStatus = "pending", **options: object) -> Run:
        """A new run on the task, brought to ``status`` through the verbs."""
        run = runs.start(self.store, self.task.id, "demo", "/srv/work", actor="operator", **options)  # type: ignore[arg-type]
        return bring(self, run, status)

    def other_host(self, *, online: bool = True) -> Host:
        """A second host, ``moon``."""
        hosts.add(self.store, "moon", "linux", ssh_target="moon", actor="operator")
        if online:
            hosts.heartbeat(self.store, "moon", "instance of moon", actor="executor")
        return hosts.get(self.store, "moon")


def bring(world: World, run: Run, status: RunStatus) -> Run:
    """Take a pending run to ``status``."""
    store = world.store
    if status in ("spawning", "running", "exited"):
        assert runs.claim(store, run.id, world.host, actor="executor") is not None
    if status in ("running", "exited"):
        assert ingest(store, signal(run, "started", pid=4711, wrapper_pid=4710, wrapper_started=99)).applied
    if status == "exited":
        assert ingest(store, signal(run, "finished", exit_code=0)).applied
    if status == "failed":
        assert runs.fail(store, run.id, run.attempt, "no_eligible_host", actor="executor") is not None
    if status == "stopped":
        runs.request_stop(store, run.id, actor="operator")
    return runs.get(store, run.id)


def signal(
    run: Run,
    kind: str,
    *,
    attempt: int | None = 0,
    seq: int | None = None,
    source: str | None = None,
    **payload: object,
) -> Signal:
    """A signal of the run's present attempt unless told otherwise, from the source that says such a thing."""
    said_by = source or ("wrapper" if kind in ("started", "finished") else "hook:claude")
    return Signal(run.id, run.attempt if attempt == 0 else attempt, kind, said_by, seq=seq, payload=payload)


def dump(store: Store) -> Dump:
    """Every row of every table, and the counter behind ``events.seq``; two dumps differ when anything was written."""
    with store.read():
        tables = [name for (name,) in query(store, "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
        return {str(table): query(store, f'SELECT * FROM "{table}" ORDER BY 1, 2') for table in tables}


def query(store: Store, sql: str, *parameters: object) -> list[tuple[object, ...]]:
    """Rows of a statement."""
    with store.read():
        return list(_cursor(store, sql, parameters).fetchall())


def execute(store: Store, sql: str, *parameters: object) -> None:
    """Change the database past every verb; an error rolls it back."""
    with store._database.atomic("IMMEDIATE"):
        _cursor(store, sql, parameters)


def events(store: Store, topic: str = "*", after: int = 0) -> list[Event]:
    """The journal from ``after`` on."""
    return read(store, after=after, topic=topic)


def topics(store: Store, after: int = 0) -> list[str]:
    """Topics of the journal from ``after`` on."""
    return [event.topic for event in events(store, after=after)]


def written(store: Store, act: Callable[[], object]) -> list[Event]:
    """The events that ``act`` adds to the journal."""
    before = read(store)
    act()
    return read(store, after=before[-1].seq if before else 0)


def _cursor(store: Store, sql: str, parameters: tuple[object, ...]) -> sqlite3.Cursor:
    cursor = store._database.execute_sql(sql, parameters)  # type: ignore[no-untyped-call]  # the stubs have no types here
    return cast("sqlite3.Cursor", cursor)


def worker(code: str, *arguments: object) -> subprocess.Popen[str]:
    """A Python process of its own that runs ``code`` with the store importable; its stdin and stdout are pipes."""
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        cwd=ROOT,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
