"""``pam doctor``: what the operator is told when something is off."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from store import runs
from tests.cli.conftest import Pam
from tests.support.tmux_server import SOCKET, TmuxSandbox


@pytest.fixture
def ready(pam: Pam, home: Path, tmux_sandbox: TmuxSandbox) -> Pam:
    """A home whose tmux socket is the test's own."""
    pam("init")
    pam("config", "set", "tmux.socket", SOCKET)
    return pam


def state_of(pam: Pam, name: str, *, code: int) -> tuple[str, str]:
    """State and words of one check."""
    checks = {check["name"]: check for check in pam.json("doctor", code=code)["checks"]}
    return checks[name]["state"], checks[name]["detail"] + " " + checks[name]["fix"]


def test_a_sound_home_exits_0(ready: Pam) -> None:
    """PAM-CLI-008."""
    checks = ready.json("doctor")["checks"]
    assert [list(check) for check in checks] == [["name", "state", "detail", "fix"]] * len(checks)
    names = {check["name"]: check["state"] for check in checks}
    for name in ("home", "disk", "store", "config", "catalog", "tmux"):
        assert names[name] == "ok"
    assert names["executor"] == names["tmux server"] == "na"
    assert "sound and writable" in ready("doctor").out


def test_before_init_nothing_is_made(pam: Pam, home: Path) -> None:
    checks = {check["name"]: check["state"] for check in pam.json("doctor")["checks"]}
    assert (checks["home"], checks["store"]) == ("na", "na")
    assert not home.exists()


def test_loose_modes_are_named_with_the_remedy(ready: Pam, home: Path) -> None:
    (home / "config.toml").chmod(0o644)
    state, words = state_of(ready, "home", code=1)
    assert state == "problem"
    assert f"chmod go-rwx {home / 'config.toml'}" in words


def test_faulty_files_are_told_with_their_line(ready: Pam, home: Path) -> None:
    (home / "config.toml").write_text("[tmux]\nrow = 3\n")
    assert "config.toml:2" in state_of(ready, "config", code=1)[1]
    (home / "config.toml").write_text("")
    (home / "providers.toml").write_text("[claude]\nbin = 3\n")
    assert "providers.toml:2" in state_of(ready, "catalog", code=1)[1]


def test_a_missing_or_old_tmux(ready: Pam, tmp_path: Path) -> None:
    """PAM-TMUX-020."""
    ready("config", "set", "tmux.bin", "no-such-tmux")
    assert "not installed" in state_of(ready, "tmux", code=1)[1]
    old = tmp_path / "tmux"
    old.write_text("#!/bin/sh\necho tmux 2.9\n")
    old.chmod(0o755)
    ready("config", "set", "tmux.bin", str(old))
    assert "too old" in state_of(ready, "tmux", code=1)[1]


def test_a_running_tmux_server_is_found(ready: Pam, tmux_sandbox: TmuxSandbox) -> None:
    tmux_sandbox.tmux("new-session", "-d", "-s", "pam-hub", "cat")
    assert state_of(ready, "tmux server", code=0)[0] == "ok"


def test_live_runs_without_an_executor_are_a_problem(ready: Pam, opened: Callable[[], Any]) -> None:
    ready.project()
    task = ready.task()
    with opened() as store:
        runs.start(store, task["id"], "demo", "/tmp", actor="operator")
    state, words = state_of(ready, "executor", code=1)
    assert state == "problem"
    assert "pam up --detach" in words


def test_a_damaged_database_is_a_problem(ready: Pam, home: Path) -> None:
    (home / "pam.db").write_bytes(b"not a database, not at all" * 100)
    for name in ("pam.db-wal", "pam.db-shm"):
        (home / name).unlink(missing_ok=True)
    state, words = state_of(ready, "store", code=1)
    assert state == "problem"
    assert "damaged" in words


def test_broken_references_are_a_problem(ready: Pam, opened: Callable[[], Any]) -> None:
    ready.project()
    ready.task()
    with opened() as store:
        store._database.pragma("foreign_keys", 0)
        store._database.execute_sql("DELETE FROM projects")
    state, words = state_of(ready, "store", code=1)
    assert state == "problem"
    assert "names a missing projects" in words
