"""Fixtures for every test: nothing of the machine's own pam, tmux or home is ever seen."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.support.stage import Stage, make_stage
from tests.support.tmux_server import TmuxSandbox, make_sandbox

# The same examples each time, however slow the machine is; `--hypothesis-profile=wide` looks for others.
settings.register_profile("same", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("wide", deadline=None, max_examples=1000, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("same")


def pytest_xdist_auto_num_workers() -> int:
    """One more than there are cores: half of the tests wait for tmux, for a process or for a screen."""
    return min((os.cpu_count() or 1) + 1, 6)


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """HOME and PAM_HOME of their own for each test."""
    home = tmp_path / "user"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("PAM_HOME", str(tmp_path / "pam-home"))
    for name in ("PAM_CONFIG", "PAM_RUN", "PAM_ATTEMPT", "PAM_SPOOL", "TMUX", "TMUX_PANE", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    return home


@pytest.fixture
def tmux_sandbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[TmuxSandbox]:
    """Private tmux sockets for this test; what it started on them ends with it."""
    sandbox = make_sandbox(tmp_path / "home")
    monkeypatch.setenv("TMUX_TMPDIR", str(sandbox.directory))
    yield sandbox
    sandbox.end()


@pytest.fixture
def stage(tmux_sandbox: TmuxSandbox, tmp_path: Path) -> Iterator[Stage]:
    """A home with a project and a task, and a private tmux server for its executor."""
    made = make_stage(tmux_sandbox, tmp_path / "home", tmp_path / "work")
    yield made
    made.store.close()
