"""A store that fails or waits while agents are being started: no run is forgotten, none is taken for late."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from store import runs
from store.errors import StoreUnavailable
from store.records import Host, Run
from tests.support.stage import Stage
from tests.support.waiting import until

MANY = 20
"""More than are made at once, so that some wait for their turn."""


@contextmanager
def locked(database: Path, seconds: float) -> Iterator[None]:
    """Another process holds the write lock for so long; returns when it was given up."""
    other = sqlite3.connect(database, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")

    def give_up() -> None:
        other.execute("ROLLBACK")
        other.close()

    given_up = threading.Timer(seconds, give_up)
    given_up.start()
    yield
    given_up.join()


def test_a_store_that_fails_in_the_middle_of_claiming_leaves_no_run_behind(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """FR-33: what was claimed before is made all the same; nobody else would ever look at it."""
    started = [stage.shell("true") for _ in range(3)]
    real, calls = runs.claim, [0]

    def claim(store: object, run_id: str, host: Host, *, actor: str) -> Run | None:
        calls[0] += 1
        if calls[0] == 2:
            raise StoreUnavailable("locked")
        return real(store, run_id, host, actor=actor)  # type: ignore[arg-type]

    monkeypatch.setattr(runs, "claim", claim)
    with stage.executor():
        assert {stage.until_ended(run).status for run in started} == {"exited"}


def test_a_failure_that_cannot_be_written_down_disturbs_no_other_spawn(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And is written down later."""
    bad = stage.start("no-such-provider")
    good = [stage.shell("true") for _ in range(MANY)]
    real, calls = runs.fail, [0]

    def fail(*args: object, **kwargs: object) -> Run | None:
        calls[0] += 1
        if calls[0] == 1:
            raise StoreUnavailable("locked")
        return real(*args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(runs, "fail", fail)
    with stage.executor():
        assert {stage.until_ended(run).status for run in good} == {"exited"}
        assert stage.until_ended(bad).failure_reason == "spawn_failed"


def test_a_locked_database_makes_no_agent_late(stage: Stage) -> None:
    """12 s, longer than anybody waits for the lock and than an agent may take to start here (FR-33)."""
    gate = stage.cwd / "gate"
    with stage.executor():
        before = stage.until_status(stage.shell(f"until [ -e {gate} ]; do sleep 0.05; done; exit 3"), "running")
        many = [stage.shell("sleep 1") for _ in range(MANY)]
        until(lambda: any(stage.run(run).status == "spawning" for run in many), 10)
        with locked(stage.home.database, 12):
            gate.touch()
        assert stage.until_ended(before).exit_code == 3
        ended = [stage.until_ended(run) for run in many]
    assert {(run.status, run.attempt, run.exit_code) for run in ended} == {("exited", 1, 0)}


def test_runs_that_were_claimed_when_the_executor_stopped_are_made_by_the_next(stage: Stage) -> None:
    """However long it takes to come: they are not late, and no session of theirs has vanished."""
    many = [stage.shell("true") for _ in range(MANY)]
    with stage.executor():
        until(lambda: any(stage.run(run).status == "spawning" for run in many), 10)
    long_ago = "2026-01-01T00:00:00.000000Z"
    with sqlite3.connect(stage.home.database) as database:
        database.execute("UPDATE runs SET updated_at = ? WHERE status = 'spawning'", (long_ago,))
    database.close()
    with stage.executor():
        assert {stage.until_ended(run).status for run in many} == {"exited"}
