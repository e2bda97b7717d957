"""``pam doctor``: what the operator is told when something is off."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from app.cli import doctor_executor
from executor import lock
from executor.login_scope import LoginScope
from executor.tmux.client_records import ClientRecords
from store import hosts, runs, spool
from store.clock import utc_now
from store.database import open_store
from store.home import Home
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
    for name in ("home", "disk", "store", "clock", "config", "catalog", "tmux", "control clients", "logs"):
        assert names[name] == "ok"
    assert names["executor"] == names["tmux server"] == names["spool"] == "na"
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


def test_tmux_faults_are_those_of_the_version(ready: Pam, tmp_path: Path) -> None:
    """facts §7: said, and what pam does about each."""
    said = {}
    for version in ("3.2a", "3.3a", "3.6b", "3.7c"):
        fake = tmp_path / version
        fake.write_text(
            f"#!/bin/sh\n[ $1 = -V ] && echo tmux {version} && exit\necho no server running on x >&2\nexit 1\n"
        )
        fake.chmod(0o755)
        ready("config", "set", "tmux.bin", str(fake))
        said[version] = state_of(ready, "tmux", code=0)[1]
    assert "exit's status" in said["3.2a"] and "leaks" in said["3.2a"] and "window-size" not in said["3.2a"]
    assert all(word in said["3.3a"] for word in ("exit's status", "leaks", "window-size", "last output"))
    assert "leaks" not in said["3.6b"] and "window-size" in said["3.6b"]
    assert said["3.7c"].strip() == "3.7c"


def test_a_server_older_than_its_program_is_told(ready: Pam, tmux_sandbox: TmuxSandbox, tmp_path: Path) -> None:
    tmux_sandbox.tmux("new-session", "-d", "-s", "pam-hub", "cat")
    fake = tmp_path / "tmux"
    fake.write_text('#!/bin/sh\n[ "$1" = -V ] && echo tmux 3.99 && exit\nexec tmux "$@"\n')
    fake.chmod(0o755)
    ready("config", "set", "tmux.bin", str(fake))
    assert "until it ends" in state_of(ready, "tmux server", code=0)[1]


def test_a_login_that_takes_agents_along_is_a_warning(ready: Pam, monkeypatch: pytest.MonkeyPatch) -> None:
    """FR-36."""
    monkeypatch.setattr(doctor_executor, "login_scope", lambda *_: LoginScope("ends", "login 3", "linger"))
    assert state_of(ready, "logout", code=1) == ("problem", "a server started from here: login 3 linger")
    monkeypatch.setattr(doctor_executor, "login_scope", lambda *_: LoginScope("unknown", "not told"))
    assert state_of(ready, "logout", code=0)[0] == "na"


def test_a_control_client_whose_pam_is_gone_is_a_problem(ready: Pam, home: Path) -> None:
    """FR-31."""
    code = (
        "import subprocess, sys; from pathlib import Path; from executor.tmux.client_records import ClientRecords\n"
        "left = subprocess.Popen(['sleep', '1000'], stdout=subprocess.DEVNULL)\n"
        "ClientRecords(Path(sys.argv[1])).add(left.pid); print(left.pid)"
    )
    records = home / "host" / "clients"
    pid = int(subprocess.check_output([sys.executable, "-c", code, str(records)]))
    state, words = state_of(ready, "control clients", code=1)
    assert state == "problem"
    assert str(pid) in words
    assert ClientRecords(records).sweep() == [pid]
    assert state_of(ready, "control clients", code=0)[0] == "ok"


def test_an_executor_that_holds_its_lock_and_does_nothing_is_a_problem(ready: Pam, home: Path) -> None:
    """It is the lock that tells who it is, and its heartbeat that tells whether it works."""
    long_ago = utc_now() - timedelta(seconds=1000)
    with closing(open_store(home / "pam.db", clock=lambda: long_ago)) as store:
        hosts.heartbeat(store, "local", "instance", actor="executor")
    held = lock.acquire(Home(home), "headless")
    assert held is not None
    try:
        assert state_of(ready, "executor", code=0)[0] == "ok"  # it has only begun
        since = (utc_now() - timedelta(seconds=500)).isoformat()
        Home(home).executor_lock.write_text(json.dumps({"pid": os.getpid(), "hosted_by": "headless", "since": since}))
        state, words = state_of(ready, "executor", code=1)
    finally:
        held.release()
    assert state == "problem"
    assert "has done nothing for 500 s" in words
    assert "pam down" in words


def test_the_spool_is_measured(ready: Pam, home: Path, opened: Callable[[], Any]) -> None:
    folder = home / "spool"
    folder.mkdir(mode=0o700)
    good = b'{"v":1,"run":"r","attempt":1,"kind":"progress","seq":1,"source":"agent","payload":{}}\n'
    (folder / "1.jsonl").write_bytes(good + b"torn\n" + b"x" * 3000 + b"\n")
    (folder / "2.jsonl").write_bytes(good * 10)
    with opened() as store:
        spool.advance(store, hosts.get(store, "local").id, "1", len(good), actor="executor")
    state, words = state_of(ready, "spool", code=0)
    assert state == "ok"
    assert "in 2 files" in words
    assert "2 lines that cannot be read" in words
    assert "3.8 KiB not ingested" in words


def test_a_spool_that_nobody_reads_although_an_executor_runs_is_a_problem(ready: Pam, home: Path) -> None:
    (home / "spool").mkdir(mode=0o700)
    (home / "spool" / "1.jsonl").write_bytes((b"x" * 1023 + b"\n") * 2048)
    held = lock.acquire(Home(home), "headless")
    assert held is not None
    try:
        state, words = state_of(ready, "spool", code=1)
    finally:
        held.release()
    assert state == "problem"
    assert "pam.log says why" in words


def test_logs_are_measured_and_strangers_named(ready: Pam, home: Path, opened: Callable[[], Any]) -> None:
    ready.project()
    task = ready.task()
    with opened() as store:
        run = runs.start(store, task["id"], "demo", "/tmp", actor="operator")
        runs.request_stop(store, run.id, actor="operator")
    (home / "runs").mkdir(mode=0o700)
    for name in (f"{run.id}.log", f"{run.id}.log.1", "another.log"):
        (home / "runs" / name).write_bytes(b"x" * 2048)
    state, words = state_of(ready, "logs", code=0)
    assert state == "ok"
    assert "6 KiB of 2 runs" in words
    assert f"1 of no run that is known: {home / 'runs' / 'another.log'}" in words


def test_a_clock_that_went_back_is_a_problem(ready: Pam, home: Path) -> None:
    later = utc_now() + timedelta(seconds=1000)
    with closing(open_store(home / "pam.db", clock=lambda: later)) as store:
        hosts.heartbeat(store, "local", "instance", actor="executor")
    state, words = state_of(ready, "clock", code=1)
    assert state == "problem"
    assert "it has gone back" in words
