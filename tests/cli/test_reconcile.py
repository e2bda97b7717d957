"""``pam reconcile``: the plan with and without an executor, and the executor asked to carry it out."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from executor import lock
from executor.processes import identify
from store import hosts, runs, spool
from store.database import Store
from store.home import Home
from store.records import Run
from tests.cli.conftest import Answer, Pam
from tests.store.world import dump
from tests.support.stage import ACTOR, Stage
from tests.support.tmux_server import SOCKET, TmuxSandbox
from tests.support.waiting import until

STEP = ["host", "subject", "desired", "observed", "action", "reason", "done", "run_id", "attempt"]


@pytest.fixture
def staged(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> Stage:
    """A stage whose home the console script uses, its tmux socket included."""
    monkeypatch.setenv("PAM_HOME", str(stage.home.path))
    stage.home.config.write_text(f'[tmux]\nsocket = "{SOCKET}"\n[executor]\ngrace_s = 1\n')
    return stage


@pytest.fixture
def lost(staged: Stage) -> Run:
    """A run whose wrapper was killed while nobody executed."""
    with staged.executor():
        run = staged.until_status(staged.shell("exec sleep 1000", restart_policy="never"), "running")
    assert run.wrapper_pid is not None
    os.kill(run.wrapper_pid, signal.SIGKILL)
    until(lambda: identify(run.wrapper_pid or 0) is None, 10)
    return run


@contextmanager
def unchanged(stage: Stage) -> Iterator[None]:
    """Nothing is written and no session comes or goes."""
    before = dump(stage.store), stage.sandbox.sessions(), sorted(stage.home.path.rglob("*"))
    yield
    assert (dump(stage.store), stage.sandbox.sessions(), sorted(stage.home.path.rglob("*"))) == before


def test_a_dry_run_shows_the_plan_and_changes_nothing(staged: Stage, lost: Run, script: Callable[..., Answer]) -> None:
    """PAM-LIVE-002, with nobody executing."""
    with unchanged(staged):
        (step,) = script("reconcile", "--dry-run", "--json").json["plan"]
        text = script("reconcile", "--dry-run")
    assert list(step) == STEP
    assert (step["host"], step["subject"], step["action"], step["done"]) == (
        "local",
        lost.session_name,
        "report_lost",
        False,
    ), repr(step)
    assert (step["run_id"], step["attempt"]) == (lost.id, 1)
    assert text.code == 0
    assert lost.session_name in text.out
    assert staged.run(lost).status == "running"


def test_what_a_killed_executor_took_in_and_could_not_mark_as_read_is_no_news(
    staged: Stage, lost: Run, script: Callable[..., Answer]
) -> None:
    spool.advance(staged.store, lost.host_id or "", "1", 0, actor="executor")
    (step,) = script("reconcile", "--dry-run", "--json").json["plan"]
    assert step["action"] == "report_lost", step


def test_a_dry_run_hears_the_end_that_nobody_has_read_yet(staged: Stage, script: Callable[..., Answer]) -> None:
    """PAM-LIVE-007: an agent that ended while nobody executed has ended, and is not lost."""
    gate = staged.cwd / "gate"
    with staged.executor():
        run = staged.until_status(staged.shell(f"while [ ! -e {gate} ]; do sleep 0.05; done"), "running")
    gate.touch()
    until(lambda: '"finished"' in (staged.home.path / "spool" / "1.jsonl").read_text(), 10)
    assert run.wrapper_pid is not None
    os.kill(run.wrapper_pid, signal.SIGTERM)
    until(lambda: identify(run.wrapper_pid or 0) is None, 10)
    with unchanged(staged):
        (step,) = script("reconcile", "--dry-run", "--json").json["plan"]
    assert (step["subject"], step["action"]) == (run.session_name, "wait")
    assert "spool" in step["reason"]


def test_a_dry_run_beside_an_executor_changes_nothing(staged: Stage, script: Callable[..., Answer]) -> None:
    with staged.executor():
        staged.until_status(staged.shell("exec sleep 1000"), "running")
        staged.sandbox.tmux("new-session", "-d", "-s", "pam-0123abcd", "sleep 1000")
        with unchanged(staged):
            (step,) = script("reconcile", "--dry-run", "--json").json["plan"]
    assert (step["subject"], step["action"], step["run_id"]) == ("pam-0123abcd", "detect", None)


def test_a_dry_run_says_what_cannot_be_seen(staged: Stage, lost: Run, script: Callable[..., Answer]) -> None:
    """FR-22: unknown, and so nothing."""
    stopped = staged.sandbox.stop_server()
    try:
        (step,) = script("reconcile", "--dry-run", "--json").json["plan"]
    finally:
        staged.sandbox.continue_server(stopped)
    assert (step["subject"], step["observed"], step["action"]) == (lost.session_name, "unknown", "wait")


def test_the_executor_carries_the_plan_out_and_a_second_time_there_is_nothing_to_do(
    staged: Stage, script: Callable[..., Answer]
) -> None:
    """The whole way: asked by one process, done by another, told in the journal."""
    with staged.executor():
        run = staged.until_status(staged.shell("exec sleep 1000", restart_policy="never"), "running")
        runs.fail(staged.store, run.id, 1, "host_lost", actor="executor")
        plan = script("reconcile", "--json").json["plan"]
        assert {(step["subject"], step["action"], step["done"]) for step in plan} == {
            (run.session_name, "flag", True),
            (run.session_name, "wait", False),
        }
        again = script("reconcile", "--host", "local", "--json").json["plan"]
        assert [(step["action"], step["done"]) for step in again] == [("wait", False)]
        assert "yours to end" in script("reconcile").out
    assert staged.topics(run).count("run.alive_after_end") == 1


def test_a_fleet_that_is_well_has_nothing_to_do(staged: Stage, script: Callable[..., Answer]) -> None:
    with staged.executor():
        staged.until_status(staged.shell("exec sleep 1000"), "running")
        assert script("reconcile", "--json").json == {"plan": []}
        assert script("reconcile").out == "Nothing to do: 1 session is as it should be.\n"


def test_without_an_executor_nobody_can_put_anything_right(pam: Pam) -> None:
    """Exit code 8, and what to do."""
    pam.project()
    error = pam("reconcile", "--json", code=8).error
    assert error["code"] == "executor_not_running"
    assert "--dry-run" in error["message"]
    assert pam.json("events", "list")["events"][-1]["topic"] == "project.created"


def test_a_new_home_has_nothing_to_reconcile(pam: Pam, tmux_sandbox: TmuxSandbox) -> None:
    """No tmux server ever ran for it: that is certain, not unknown."""
    pam.project()
    assert pam.json("reconcile", "--dry-run") == {"plan": []}
    assert pam("reconcile", "--dry-run").out == "Nothing to do: 0 sessions are as they should be.\n"


def test_a_host_that_is_not_there_is_refused(pam: Pam) -> None:
    pam.project()
    for words in (("reconcile", "--dry-run"), ("reconcile",)):
        assert pam(*words, "--host", "mars", "--json", code=3).error["code"] == "not_found"


def test_a_host_out_of_reach_is_said_to_be(
    pam: Pam, home: Path, opened: Callable[[], Any], tmux_sandbox: TmuxSandbox
) -> None:
    """PAM-FLEET-001, 002: nothing is inferred from its silence, nobody waits for it."""
    pam.project()
    with opened() as store:
        _add_moon(store)
    (step,) = pam.json("reconcile", "--dry-run", "--host", "moon")["plan"]
    assert (step["host"], step["observed"], step["action"]) == ("moon", "unknown", "wait")
    held = lock.acquire(Home(home), "headless")
    assert held is not None
    try:
        (step,) = pam.json("reconcile", "--host", "moon")["plan"]
    finally:
        held.release()
    assert (step["host"], step["observed"], step["action"]) == ("moon", "unknown", "wait")


def _add_moon(store: Store) -> None:
    hosts.add(store, "moon", "linux", ssh_target="moon", actor=ACTOR)
