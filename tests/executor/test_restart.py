"""Restarts over real tmux: what is lost comes back, what failed for good stays down, and nothing ever runs twice."""

from __future__ import annotations

import os
import signal
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from store import runs
from store.records import Run
from tests.support.stage import ACTOR, Stage, end_process
from tests.support.waiting import until

ONE_LIFE = ["run.spawning", "run.started", "run.finished"]


@pytest.fixture
def quick(stage: Stage) -> Stage:
    """A stage whose pauses are short."""
    stage.settings = replace(stage.settings, restart_initial_s=0.2, restart_max_s=0.4)
    return stage


def _marked(run: Run) -> list[str]:
    """Attempts of whose processes some live, one entry a process."""
    found = []
    for process in psutil.process_iter():
        try:
            environ = process.environ()
        except psutil.Error:
            continue
        if environ.get("PAM_RUN") == run.id:
            found.append(environ["PAM_ATTEMPT"])
    return found


def test_an_agent_that_was_lost_runs_again_as_the_next_attempt(quick: Stage) -> None:
    """PAM-RST-001, 003, PAM-RUN-010: one agent at a time, one terminal event for each attempt."""
    script = 'echo "try $PAM_ATTEMPT" | tee -a tries; if [ $PAM_ATTEMPT = 1 ]; then exec sleep 1000; fi'
    with quick.executor():
        run = quick.until_status(quick.shell(script), "running")
        until(lambda: (quick.cwd / "tries").exists(), 10, "the first attempt to begin")
        assert run.wrapper_pid is not None
        os.kill(run.wrapper_pid, signal.SIGKILL)
        ended = quick.until_status(run, "exited")
        until(lambda: "try 2" in quick.log(run), 5, "the log to be written")
    assert (ended.attempt, ended.exit_code, ended.last_failure_reason) == (2, 0, "session_lost")
    assert (quick.cwd / "tries").read_text() == "try 1\ntry 2\n"
    assert quick.topics(run) == ["run.created", "run.spawning", "run.started", "run.failed", "run.requeued", *ONE_LIFE]
    assert "1" not in _marked(run)


def test_a_bad_exit_is_tried_again_only_where_that_was_asked_for_and_never_for_ever(quick: Stage) -> None:
    """PAM-RST-002, 005, 006, rulings X-15, FR-17, FR-37: each attempt in place of the last, its last words kept."""
    script = "echo attempt $PAM_ATTEMPT >> tries; echo last words of $PAM_ATTEMPT; exit 7"
    with quick.executor():
        plain = quick.until_ended(quick.shell("exit 7"))
        run = quick.shell(script, restart_policy="on-failure")
        until(lambda: quick.run(run).failure_reason == "restart_exhausted", 30, lambda: quick.topics(run))
        assert quick.sandbox.sessions() == {"pam-hub", plain.session_name, run.session_name}
        assert "last words of 3" in quick.pane(run)
    ended = quick.run(run)
    assert (ended.status, ended.attempt, ended.exit_code, ended.retry_at) == ("failed", 3, 7, None)
    assert (quick.cwd / "tries").read_text() == "attempt 1\nattempt 2\nattempt 3\n"
    assert [part for part in (1, 2, 3) if f"last words of {part}" in quick.log(run)] == [1, 2, 3]
    again = ["run.requeued", *ONE_LIFE]
    assert quick.topics(run) == ["run.created", *ONE_LIFE, *again, *again, "run.restart_exhausted"]
    assert (quick.run(plain).attempt, plain.retry_at, plain.failure_reason) == (1, None, None)
    assert "1" not in _marked(run)
    assert "2" not in _marked(run)


def test_an_agent_that_dies_at_once_is_never_said_to_run_for_long(quick: Stage) -> None:
    """FR-37: what dies right after its start is failed with its end, whoever was told that it started."""
    with quick.executor():
        ended = quick.until_ended(quick.shell("echo no such model >&2; exit 2"))
        assert "no such model" in quick.pane(ended)
    assert (ended.status, ended.exit_code) == ("failed", 2)


def test_what_no_restart_can_help_is_held_after_one_try(quick: Stage) -> None:
    """FR-17, PAM-PROV-012: a program that is not there, a catalog with a fault."""
    with quick.executor():
        missing = quick.until_ended(quick.start("shell", "no-such-program-of-mine"))
        probe = quick.shell("exit 1", restart_policy="on-failure", max_attempts=2)
        until(lambda: quick.run(probe).failure_reason == "restart_exhausted", 20, lambda: quick.topics(probe))
    assert (quick.run(missing).attempt, missing.failure_reason, missing.retry_at) == (1, "spawn_failed", None)
    (failed,) = [event for event in quick.events(missing) if event.topic == "run.failed"]
    assert failed.payload["held"] is True
    assert "no-such-program-of-mine" in str(failed.payload["detail"])


def test_what_may_get_better_is_tried_again(quick: Stage) -> None:
    """PAM-RUN-003, PAM-RST-003: a working directory that appears in the pause."""
    cwd = quick.cwd / "mounted later"
    with quick.executor():
        run = quick.shell("pwd", cwd=cwd)
        until(lambda: "run.failed" in quick.topics(run), 20, lambda: quick.topics(run))
        cwd.mkdir()
        ended = quick.until_status(run, "exited")
    assert ended.attempt in (2, 3)
    assert ended.last_failure_reason == "spawn_failed"


def test_a_pause_goes_on_while_no_executor_lives(stage: Stage) -> None:
    """PAM-RST-003: killed in the middle of it, the next one restarts the run once."""
    stage.settings = replace(stage.settings, restart_initial_s=2.0)
    with stage.executor():
        run = stage.until_ended(stage.shell("echo x >> tries; test $PAM_ATTEMPT = 2", restart_policy="on-failure"))
        assert run.retry_at is not None
    assert stage.run(run).status == "failed"
    first = stage.executor_process()
    end_process(first, signal.SIGKILL)
    second = stage.executor_process()
    ended = stage.until_status(run, "exited")
    end_process(second, signal.SIGTERM)
    assert ended.attempt == 2
    assert stage.topics(run).count("run.requeued") == 1
    assert (stage.cwd / "tries").read_text() == "x\nx\n"


def test_a_restart_that_was_called_off_does_not_come_with_the_next_executor(stage: Stage) -> None:
    """FR-28."""
    stage.settings = replace(stage.settings, restart_initial_s=60.0)
    with stage.executor():
        run = stage.until_ended(stage.shell("exit 1", restart_policy="always"))
        runs.request_stop(stage.store, run.id, actor=ACTOR)
    stage.settings = replace(stage.settings, restart_initial_s=0.0)
    with stage.executor():
        stage.until_ended(stage.shell("true"))
    assert (stage.run(run).status, stage.run(run).attempt, stage.run(run).retry_at) == ("failed", 1, None)


def test_a_stopped_agent_stays_stopped_under_every_policy(quick: Stage) -> None:
    """FR-28: its exit is the operator's doing."""
    with quick.executor():
        run = quick.until_status(quick.shell("sleep 1000", restart_policy="always"), "running")
        runs.request_stop(quick.store, run.id, actor=ACTOR)
        ended = quick.until_ended(run)
        until(lambda: "run.stopped" in quick.topics(run), 10, lambda: quick.topics(run))
        quick.until_ended(quick.shell("true"))
    assert (ended.status, ended.retry_at) == ("stopped", None)
    assert "run.requeued" not in quick.topics(run)


def test_the_operator_restarts_what_has_no_attempts_left(quick: Stage) -> None:
    """PAM-RUN-010, 011: at once, once, and in place of what the last attempt left."""
    with quick.executor():
        run = quick.until_ended(quick.shell("test $PAM_ATTEMPT = 2", max_attempts=1))
        assert run.session_name in quick.sandbox.sessions()
        runs.requeue(quick.store, run.id, actor=ACTOR)
        ended = quick.until_status(run, "exited")
    assert (ended.attempt, ended.max_attempts) == (2, 1)
    assert "1" not in _marked(run)


def test_a_run_whose_session_was_killed_by_hand_comes_back(quick: Stage, tmp_path: Path) -> None:
    """PAM-LIVE-006, FR-29: its processes are gone before the next ones are made."""
    gate = tmp_path / "gate"
    script = f"trap '' HUP TERM; echo $PAM_ATTEMPT >> lives; while [ ! -e {gate} ]; do sleep 0.1; done"
    with quick.executor():
        run = quick.until_status(quick.shell(script, restart_policy="always"), "running")
        until(lambda: (quick.cwd / "lives").exists(), 10, "the agent to begin")
        quick.sandbox.tmux("kill-session", "-t", f"={run.session_name}")
        until(lambda: quick.run(run).attempt == 2 and quick.run(run).status == "running", 30, lambda: quick.topics(run))
        assert set(_marked(run)) == {"2"}
        gate.touch()
        ended = quick.until_status(run, "exited")
    assert (ended.attempt, (quick.cwd / "lives").read_text()) == (2, "1\n2\n")
