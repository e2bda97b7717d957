"""``pam status`` without and with something going on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from executor import lock
from store import runs
from store.home import Home
from tests.cli.conftest import Pam


def test_a_quiet_home(pam: Pam) -> None:
    status = pam.json("status")
    assert status["executor"] == {"running": False, "pid": None, "hosted_by": None, "since": None}
    assert [host["name"] for host in status["hosts"]] == ["local"]
    assert status["runs"] == dict.fromkeys(("pending", "spawning", "running", "exited", "failed", "stopped"), 0)
    assert status["waiting"] == []
    assert "pam up --detach" in pam("status").out


def test_runs_and_the_executor(pam: Pam, home: Path, opened: Callable[[], Any]) -> None:
    """PAM-UI-001's facts, for scripts."""
    pam.project()
    task = pam.task()
    with opened() as store:
        runs.start(store, task["id"], "demo", "/tmp", actor="operator")
    held = lock.acquire(Home(home), "headless")
    assert held is not None
    try:
        status = pam.json("status")
        text = pam("status").out
    finally:
        held.release()
    assert status["executor"]["running"] is True
    assert status["executor"]["hosted_by"] == "headless"
    assert status["executor"]["since"].endswith("Z")
    assert status["runs"]["pending"] == 1
    assert "1 pending" in text
    assert "pam up, pid" in text
