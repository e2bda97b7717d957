"""``pam run`` where no executor is needed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from store import hosts, leases, runs, signals, silence
from store.records import Signal
from tests.cli.conftest import Pam

FIRST = ["id", "task_id", "host_id", "host", "pinned_host_id", "provider", "session_name", "status", "attempt"]


@pytest.fixture
def task(pam: Pam, tmp_path: Path) -> Any:
    """A task of a project that has a directory."""
    work = tmp_path / "work"
    work.mkdir()
    pam.project("Checkout service", "--cwd", str(work))
    return pam.task("Fix the flaky auth tests", "--description", "They fail on Mondays.")


@pytest.fixture
def failed(pam: Pam, task: Any, opened: Callable[[], Any]) -> str:
    """A run that failed to spawn."""
    with opened() as store:
        run = runs.start(store, task["id"], "demo", "/tmp", actor="operator")
        hosts.heartbeat(store, "local", "one", actor="executor")
        runs.claim(store, run.id, hosts.get(store, "local"), actor="executor")
        runs.fail(store, run.id, 1, "spawn_failed", detail="no such program", hold=True, actor="executor")
    return run.id


def start(pam: Pam, task: Any, *words: str, code: int = 0) -> Any:
    """A run of the demo agent."""
    return pam("run", "start", "--task", task["id"], "--provider", "demo", "--json", *words, code=code)


def test_start_returns_at_once_with_a_pending_run(pam: Pam, task: Any, tmp_path: Path) -> None:
    """PAM-CLI-026, PAM-RUN-014; one line of narration says that nobody is there to act."""
    answer = start(pam, task)
    run = answer.json["run"]
    assert list(run)[: len(FIRST)] == FIRST
    assert (run["status"], run["attempt"], run["activity"]) == ("pending", 1, "unknown")
    assert run["session_name"] == f"pam-{run['id'][:8]}"
    assert run["prompt"] == "Fix the flaky auth tests\n\nThey fail on Mondays."
    assert run["cwd"] == str(tmp_path / "work")
    assert answer.err.count("\n") == 1
    assert "pam up --detach" in answer.err


def test_the_directory_is_the_named_one_the_projects_or_the_current(
    pam: Pam, task: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rulings X-22."""
    monkeypatch.chdir(tmp_path)
    assert start(pam, task, "--cwd", "user").json["run"]["cwd"] == str(tmp_path / "user")
    pam.project("No directory")
    other = pam.task("T", project="no-directory")
    assert start(pam, other).json["run"]["cwd"] == str(tmp_path)


def test_a_directory_that_is_not_there_is_refused(pam: Pam, task: Any, tmp_path: Path) -> None:
    """And nothing is written."""
    answer = start(pam, task, "--cwd", "/no/such/place", code=2)
    assert answer.error["code"] == "invalid_value"
    assert "/no/such/place" in answer.err
    (tmp_path / "work").rmdir()
    assert "project checkout-service" in start(pam, task, code=2).err
    assert pam.json("run", "list") == {"runs": []}


def test_what_a_run_is_told(pam: Pam, task: Any, tmp_path: Path) -> None:
    file = tmp_path / "prompt.md"
    file.write_text("From a file: ümlaut\n")
    words = ("--restart", "always", "--attempts", "5", "--host", "local")
    run = start(pam, task, "--prompt-file", str(file), *words, "--", "--pace", "0").json["run"]
    assert run["prompt"] == "From a file: ümlaut\n"
    assert (run["restart_policy"], run["max_attempts"], run["args"]) == ("always", 5, ["--pace", "0"])
    assert run["pinned_host_id"] is not None
    pam("config", "set", "executor.max_attempts", "7")
    assert start(pam, task).json["run"]["max_attempts"] == 7  # task, provider, then everywhere: rulings X-13
    assert start(pam, task, "--prompt", "Short").json["run"]["prompt"] == "Short"
    piped = pam(
        "run", "start", "--task", task["id"], "--provider", "demo", "--prompt-file", "-", "--json", stdin="Piped"
    )
    assert piped.json["run"]["prompt"] == "Piped"


@pytest.mark.parametrize(
    ("words", "code", "hint"),
    [
        (("--provider", "nope"), 10, "demo"),
        (("--provider", "shell"), 2, "command after"),
        (("--provider", "shell", "--prompt", "x", "--", "ls"), 2, "takes no prompt"),
        (("--provider", "demo", "--model", "big"), 2, "no model"),
        (("--provider", "demo", "--prompt", "a", "--prompt-file", "b"), 2, "once"),
        (("--provider", "demo", "--prompt-file", "/no/such/file"), 2, "cannot be read"),
        (("--provider", "demo", "--host", "nope"), 3, "local"),
        (("--provider", "demo", "--attempts", "0"), 2, "attempts"),
        ((), 2, "--provider"),
    ],
)
def test_what_cannot_work_is_refused_at_once(pam: Pam, task: Any, words: tuple[str, ...], code: int, hint: str) -> None:
    answer = pam("run", "start", "--task", task["id"], *words, code=code)
    assert hint in answer.err
    assert pam.json("run", "list") == {"runs": []}


def test_an_epic_has_no_runs(pam: Pam, task: Any) -> None:
    """PAM-DATA-034."""
    epic = pam.task("Epic", "--kind", "epic")
    assert start(pam, epic, code=2).error["code"] == "invalid_value"


def test_the_default_provider_comes_from_the_config(pam: Pam, task: Any) -> None:
    pam("config", "set", "providers.default", "demo")
    assert pam.json("run", "start", "--task", task["id"])["run"]["provider"] == "demo"


def test_a_program_that_is_missing_here_is_told_and_not_refused(pam: Pam, home: Path, task: Any) -> None:
    """PAM-PROV-012: the executor's PATH may be another."""
    (home / "providers.toml").write_text('[demo]\nbin = "no-such-program"\ninstall = "brew install it"\n')
    answer = start(pam, task)
    assert answer.json["run"]["status"] == "pending"
    assert "no-such-program" in answer.err
    assert "brew install it" in answer.err


def test_list_filters(pam: Pam, task: Any, failed: str) -> None:
    """PAM-CLI-027."""
    pam.project("Other", "--cwd", "/tmp")
    other = pam.task("T", project="other")
    pending = start(pam, other).json["run"]["id"]
    for words, ids in (
        ((), [pending, failed]),
        (("--live",), [pending]),
        (("--status", "failed"), [failed]),
        (("--status", "failed", "--live"), []),
        (("--task", task["id"][:6]), [failed]),
        (("--project", "other"), [pending]),
    ):
        assert [run["id"] for run in pam.json("run", "list", *words)["runs"]] == ids
    text = pam("run", "list").out
    assert f"pam-{failed[:8]}" in text
    assert "Fix the flaky auth tests" in text


def test_show_says_why_it_failed(pam: Pam, failed: str) -> None:
    shown = pam.json("run", "show", f"pam-{failed[:8]}")["run"]
    assert (shown["status"], shown["failure_reason"], shown["signals"]) == ("failed", "spawn_failed", [])
    page = pam("run", "show", failed).out
    assert "no such program" in page
    assert "taken by local" in page
    assert pam("run", "show", "0000aaaa", "--json", code=3).error["code"] == "not_found"


def test_stop_of_a_pending_run_needs_nobody(pam: Pam, task: Any) -> None:
    """PAM-CLI-029, rulings X-47; what has ended cannot be stopped."""
    run = start(pam, task).json["run"]
    assert pam.json("run", "stop", run["id"])["run"]["status"] == "stopped"
    assert pam("run", "stop", run["id"], "--json", code=4).error["code"] == "illegal_transition"


def test_restart_queues_the_next_attempt(pam: Pam, failed: str) -> None:
    """PAM-RUN-010, PAM-RUN-012."""
    again = pam.json("run", "restart", failed)["run"]
    assert (again["status"], again["attempt"], again["last_failure_reason"]) == ("pending", 2, "spawn_failed")
    assert pam("run", "restart", failed, "--json", code=4).error["code"] == "illegal_transition"


@pytest.fixture
def lost(pam: Pam, task: Any, opened: Callable[[], Any]) -> str:
    """A run that lost its session and is to be restarted."""
    with opened() as store:
        run = runs.start(store, task["id"], "demo", "/tmp", max_attempts=2, actor="operator")
        hosts.heartbeat(store, "local", "one", actor="executor")
        runs.claim(store, run.id, hosts.get(store, "local"), actor="executor")
        runs.fail(store, run.id, 1, "session_lost", detail="its wrapper is gone", actor="executor")
    return run.id


def test_a_planned_restart_is_shown_and_waited_for(pam: Pam, lost: str) -> None:
    """PAM-RST-003: failed, and yet not over."""
    shown = pam.json("run", "show", lost)["run"]
    assert (shown["status"], shown["failure_reason"], shown["silence"]) == ("failed", "session_lost", None)
    assert shown["retry_at"] is not None
    assert "restarts at " in pam("run", "show", lost).out
    assert pam("run", "wait", lost, "--json", code=8).error["code"] == "executor_not_running"


def test_stop_calls_a_planned_restart_off(pam: Pam, lost: str) -> None:
    """FR-28."""
    assert "its restart is called off" in pam("run", "stop", lost).out
    shown = pam.json("run", "show", lost)["run"]
    assert (shown["status"], shown["retry_at"]) == ("failed", None)
    assert pam("run", "wait", lost, "--json", code=20).json["run"]["id"] == lost
    assert pam("run", "stop", lost, "--json", code=4).error["code"] == "illegal_transition"


def test_restart_does_not_wait_for_the_pause_and_goes_beyond_the_attempts(
    pam: Pam, lost: str, opened: Callable[[], Any]
) -> None:
    """PAM-RUN-010, rulings X-12."""
    assert pam.json("run", "restart", lost)["run"]["attempt"] == 2
    with opened() as store:
        runs.claim(store, lost, hosts.get(store, "local"), actor="executor")
        runs.fail(store, lost, 2, "spawn_failed", actor="executor")
    page = pam("run", "show", lost).out
    assert "failed, gave up restarting, could not start" in page
    again = pam.json("run", "restart", lost)["run"]
    assert (again["status"], again["attempt"], again["retry_at"]) == ("pending", 3, None)
    assert again["last_failure_reason"] == "spawn_failed"


def test_a_silence_is_shown(pam: Pam, task: Any, opened: Callable[[], Any]) -> None:
    """PAM-COMP-004."""
    with opened() as store:
        run = runs.start(store, task["id"], "demo", "/tmp", actor="operator")
        hosts.heartbeat(store, "local", "one", actor="executor")
        runs.claim(store, run.id, hosts.get(store, "local"), actor="executor")
        signals.ingest(store, Signal(run.id, 1, "started", "wrapper"))
        silence.tell(store, run.id, 1, "idle", 700, heard_within_s=90, actor="executor")
    shown = pam.json("run", "show", run.id)["run"]["silence"]
    assert (shown["level"], shown["attempt"]) == ("idle", 1)
    assert "11m ago; it may be done" in pam("run", "show", run.id).out


def test_release_takes_the_lease_from_its_holder(pam: Pam, task: Any, opened: Callable[[], Any]) -> None:
    """PAM-ATT-004, PAM-ATT-012."""
    run = start(pam, task).json["run"]
    assert pam.json("run", "release", run["id"]) == {"lease": None, "was": None}
    with opened() as store:
        leases.acquire(store, run["id"], "control room 7", actor="operator")
    assert pam.json("run", "show", run["id"])["run"]["lease"]["holder"] == "control room 7"
    assert "control room 7" in pam("run", "show", run["id"]).out
    released = pam.json("run", "release", run["id"])
    assert released["lease"] is None
    assert released["was"]["holder"] == "control room 7"
    assert "Nobody" in pam("run", "release", run["id"]).out


def test_wait_needs_somebody_unless_the_run_has_ended(pam: Pam, task: Any, failed: str) -> None:
    """Exit 8 with advice; an ended run answers at once."""
    run = start(pam, task).json["run"]
    answer = pam("run", "wait", run["id"], "--json", code=8)
    assert answer.error["code"] == "executor_not_running"
    assert "pam up --detach" in answer.err
    assert pam("run", "wait", failed, "--json", code=20).json["run"]["status"] == "failed"
    assert "no such program" in pam("run", "wait", failed, code=20).out
    pam("run", "stop", run["id"])
    assert pam("run", "wait", run["id"], "--json", code=21).json["run"]["status"] == "stopped"


def test_a_run_without_a_session_has_no_pane_and_no_log(pam: Pam, task: Any) -> None:
    run = start(pam, task).json["run"]
    pam("config", "set", "tmux.socket", "pam-test-nobody")
    assert "pending" in pam("run", "pane", run["id"], "--json", code=3).err
    assert pam("run", "logs", run["id"], "--json", code=3).error["code"] == "not_found"
    assert pam("run", "logs", run["id"], "--json", "--follow", code=2).error["code"] == "usage"
    assert pam("run", "attach", run["id"], "--json", code=2).error["code"] == "usage"
