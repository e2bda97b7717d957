"""Field reports about what an executor must not do while nothing is wrong: no work for nothing, nothing ended."""

from __future__ import annotations

import os
import signal
import subprocess
from dataclasses import replace
from typing import Any

import psutil
import pytest

from executor.tmux import oneshot
from store import hosts, items
from store.records import Run
from tests.support.pty_program import PtyProgram
from tests.support.stage import ACTOR, Stage
from tests.support.waiting import until


@pytest.fixture
def quick(stage: Stage) -> Stage:
    """A stage whose executor looks after everything twenty times a second."""
    often = {"liveness_s": 0.05, "reconcile_s": 0.05, "heartbeat_s": 0.05, "log_check_s": 0.05}
    stage.settings = replace(stage.settings, **often)  # type: ignore[arg-type]
    return stage


def test_quiet_agents_cost_no_process_however_often_they_are_looked_after(
    quick: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """FR-1, FR-4: nothing is started per tick, for none of the loops."""
    started: list[Any] = []
    plain = subprocess.Popen.__init__

    def counted(self: subprocess.Popen[bytes], argv: Any, *args: Any, **options: Any) -> None:
        started.append(argv)
        plain(self, argv, *args, **options)

    with quick.executor():
        for _ in range(3):
            quick.until_status(quick.shell("exec sleep 1000"), "running")
        _beats(quick, 3)
        monkeypatch.setattr(subprocess.Popen, "__init__", counted)
        _beats(quick, 20)
    assert started == []


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGKILL])
def test_attaching_and_leaving_never_ends_an_agent_whatever_it_calls_itself(
    quick: Stage, number: signal.Signals
) -> None:
    """FR-26, FR-34: a pane whose program is a shell is as good as any; nor does a terminal that is closed end it."""
    with quick.executor():
        run = quick.until_status(quick.start("shell", "bash", "--norc"), "running")
        agent = _agent(quick, run)
        for leave in ("detach", number):
            argv = oneshot.attach_argv(quick.settings, run.session_name, read_only=False)
            environ = {**oneshot.client_environment(os.environ), "TERM": "xterm-256color"}
            with PtyProgram(argv, environ, quick.cwd) as terminal:
                terminal.expect("\x1b")
                if isinstance(leave, signal.Signals):
                    terminal.send_signal(leave)
                else:
                    terminal.type("\x1d")
                terminal.exit_code()
            _beats(quick, 2)
        assert quick.run(run).status == "running"
        assert _agent(quick, run) == agent


def test_a_deleted_task_takes_nothing_of_the_working_directory_along(quick: Stage) -> None:
    """FR-41, FR-42, FR-43, FR-44: pam made neither the directory nor a worktree in it, so it removes neither."""
    (quick.cwd / ".git").mkdir()
    (quick.cwd / ".git" / "HEAD").write_text("ref: refs/heads/unpushed\n")
    task = items.create(quick.store, quick.task.project_id, "Something else here", actor=ACTOR)
    with quick.executor():
        run = quick.until_ended(quick.shell("echo result > work.txt"))
        log = quick.home.path / "runs" / f"{run.id}.log"
        until(log.exists, 5, "the log")
        items.delete(quick.store, quick.task.id, actor=ACTOR)
        until(lambda: not log.exists(), 10, "what pam kept of the run to go")
    assert (quick.cwd / "work.txt").read_text() == "result\n"
    assert (quick.cwd / ".git" / "HEAD").exists()
    assert items.get(quick.store, task.id).title == "Something else here"


def _beats(quick: Stage, count: int) -> None:
    """So many heartbeats later; every other loop has looked as often by then."""
    for _ in range(count):
        until(_Later(quick), 10, "a heartbeat")


class _Later:
    """Whether the host was seen again since this was made."""

    def __init__(self, quick: Stage) -> None:
        self._quick = quick
        self._before = hosts.get(quick.store, "local").last_seen_at

    def __call__(self) -> bool:
        return hosts.get(self._quick.store, "local").last_seen_at != self._before


def _agent(quick: Stage, run: Run) -> int:
    """The agent's process: the wrapper's only child."""
    wrapper = quick.run(run).wrapper_pid
    assert wrapper is not None
    (agent,) = psutil.Process(wrapper).children()
    return agent.pid
