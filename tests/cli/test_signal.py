"""``pam signal``: the ingest edge from the command line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from store import hosts, runs
from tests.cli.conftest import Pam


@pytest.fixture
def run_id(pam: Pam, opened: Callable[[], Any]) -> str:
    """A run that is spawning."""
    pam.project()
    task = pam.task()
    with opened() as store:
        run = runs.start(store, task["id"], "demo", "/tmp", actor="operator")
        hosts.heartbeat(store, "local", "one", actor="executor")
        runs.claim(store, run.id, hosts.get(store, "local"), actor="executor")
    return run.id


def say(pam: Pam, kind: str, run_id: str, *words: str, code: int = 0) -> Any:
    """One signal's answer."""
    return pam("signal", kind, "--run", run_id, *words, "--json", code=code)


def test_a_signal_is_applied_once(pam: Pam, run_id: str) -> None:
    """PAM-TEST-009: one transition, one event."""
    words = ("--attempt", "1", "--source", "wrapper", "--payload", '{"pid": 7}')
    assert say(pam, "started", run_id[:8], *words).json == {"applied": True, "reason": "applied"}
    before = pam.json("events", "list")
    assert say(pam, "started", run_id, *words).json == {"applied": False, "reason": "duplicate"}
    assert pam.json("events", "list") == before
    assert pam("signal", "started", "--run", run_id, *words).out == "not applied: duplicate\n"
    shown = pam.json("run", "show", run_id)["run"]
    assert shown["status"] == "running"
    assert [(each["kind"], each["source"], each["attempt"]) for each in shown["signals"]] == [("started", "wrapper", 1)]


def test_an_attempt_too_high_or_none_is_an_error_and_nothing_is_written(pam: Pam, run_id: str) -> None:
    """PAM-SIG-008, PAM-SIG-009, PAM-TEST-010."""
    before = pam.json("events", "list"), pam.json("run", "show", run_id)
    high = say(pam, "completed", run_id, "--attempt", "9", code=4)
    assert high.error["code"] == "invalid_attempt"
    assert high.error["details"] == {"signal_attempt": 9, "current_attempt": 1}
    assert say(pam, "completed", run_id, code=4).error["code"] == "missing_attempt"
    for words in (("--payload", "{"), ("--payload", "[]"), ("--source", "me")):
        assert say(pam, "completed", run_id, "--attempt", "1", *words, code=4).error["code"] == "malformed_signal"
    assert say(pam, "dreamed", run_id, "--attempt", "1", code=4).error["code"] == "malformed_signal"
    assert (pam.json("events", "list"), pam.json("run", "show", run_id)) == before


def test_progress_carries_its_seq_and_its_source(pam: Pam, run_id: str) -> None:
    """PAM-SIG-005, PAM-COMP-007."""
    say(pam, "started", run_id, "--attempt", "1", "--source", "wrapper")
    payload = '{"activity": "waiting", "note": "May I?"}'
    words = ("--attempt", "1", "--source", "hook:demo", "--payload", payload)
    assert say(pam, "progress", run_id, "--seq", "2", *words).json["applied"]
    assert say(pam, "progress", run_id, "--seq", "1", *words).json["reason"] == "out_of_order"
    assert say(pam, "progress", run_id, *words, code=4).error["code"] == "malformed_signal"
    shown = pam.json("run", "show", run_id)["run"]
    assert (shown["activity"], shown["activity_note"]) == ("waiting", "May I?")
    assert shown["signals"][-1]["source"] == "hook:demo"
    assert shown["signals"][-1]["seq"] == 2
    status = pam.json("status")
    assert [run["id"] for run in status["waiting"]] == [run_id]
    assert "May I?" in pam("status").out


def test_who_speaks_is_the_operator_or_the_agent_around(pam: Pam, run_id: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """PAM-SIG-003."""
    say(pam, "started", run_id, "--attempt", "1", "--source", "wrapper")
    say(pam, "progress", run_id, "--attempt", "1", "--seq", "1")
    monkeypatch.setenv("PAM_RUN", run_id)
    say(pam, "progress", run_id, "--attempt", "1", "--seq", "2")
    signals = pam.json("run", "show", run_id)["run"]["signals"]
    assert [each["source"] for each in signals] == ["wrapper", "manual", "agent"]
    assert pam.json("events", "list", "--limit", "1")["events"][0]["actor"] == f"agent:{run_id[:8]}"


def test_auto_mark_done_follows_the_config(pam: Pam, home: Path, run_id: str) -> None:
    """PAM-WI-008, PAM-CFG-027: off unless asked for."""
    say(pam, "started", run_id, "--attempt", "1", "--source", "wrapper")
    pam("config", "set", "work.auto_mark_done", "true")
    payload = ("--payload", '{"result": "success"}')
    assert say(pam, "completed", run_id, "--attempt", "1", "--source", "hook:demo", *payload).json["applied"]
    assert [task["status"] for task in pam.json("task", "list", "--all")["tasks"]] == ["done"]
