"""A new home to a first run, by the keys that the screen itself names; how many they are and how long it takes."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from store import items, projects, runs
from store.database import Store, open_store
from store.home import Home
from tests.e2e.test_control_room import Terminal
from tests.support.tmux_server import SOCKET, TmuxSandbox
from tests.support.waiting import until

AGENT = """\
#!/bin/sh
case "$1" in --version) echo "2.1.332 (Claude Code)"; exit 0;; esac
echo "the agent reads: $*"
exec cat
"""
"""Stands for an agent CLI that is installed; it is never asked for anything but its version and a start."""
MOST_KEYS = 8
MOST_SECONDS = 60.0


class Counted:
    """A terminal whose keys are counted; a text that is typed counts as none, it is the operator's own."""

    def __init__(self, terminal: Terminal) -> None:
        self.terminal = terminal
        self.keys = 0
        self.begun = time.monotonic()

    def press(self, key: str, *expected: str) -> None:
        self.keys += 1
        self.terminal.press(key)
        self.terminal.shows(*expected)


@pytest.fixture
def home(tmp_path: Path, tmux_sandbox: TmuxSandbox) -> Home:
    made = Home(tmp_path / "home of pam")
    made.make()
    made.config.write_text(f'[tmux]\nsocket = "{SOCKET}"\n')
    return made


@pytest.fixture
def store(home: Home) -> Iterator[Store]:
    opened = open_store(home.database)
    yield opened
    opened.close()


def _first_run(tmux_sandbox: TmuxSandbox, home: Home, work: Path) -> Counted:
    """From ``pam`` in a directory to an agent at work in it."""
    counted = Counted(Terminal(tmux_sandbox, home, work))
    counted.terminal.shows("No project yet.", "makes a project", str(work.name))
    counted.press("p", "New project", "Name", work.name)
    counted.press("Enter", work.name, "Nothing to do.")
    counted.press("n", "New")
    counted.terminal.write("Say hello")
    counted.press("Enter", "TODO · 1", "Say hello")
    counted.press("s", "Start a run", "Provider")
    return counted


def test_an_empty_home_leads_to_a_run_in_a_minute(
    tmux_sandbox: TmuxSandbox, home: Home, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without an agent CLI the demo agent stands in; the project is the directory that pam was started in."""
    work = tmp_path / "shop"
    work.mkdir()
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    counted = _first_run(tmux_sandbox, home, work)
    counted.press("Enter", "demo", "Say hello")
    until(lambda: runs.list_all(store), 20, lambda: counted.terminal.screen)
    (run,) = runs.list_all(store)
    counted.terminal.shows("exited 0")
    took = time.monotonic() - counted.begun
    assert counted.keys <= MOST_KEYS, counted.keys
    assert took < MOST_SECONDS, took
    assert (run.provider, run.cwd) == ("demo", str(work))
    (project,) = projects.list_all(store)
    assert (project.name, project.cwd) == ("shop", str(work))
    assert [item.title for item in items.list_all(store, None)] == ["Say hello"]


def test_an_agent_that_is_installed_is_found_and_offered_first(
    tmux_sandbox: TmuxSandbox, home: Home, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work, programs = tmp_path / "shop", tmp_path / "programs"
    work.mkdir()
    programs.mkdir()
    (programs / "claude").write_text(AGENT)
    (programs / "claude").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")
    counted = _first_run(tmux_sandbox, home, work)
    counted.press("Enter", "claude", "Say hello")
    until(lambda: runs.list_all(store), 20, lambda: counted.terminal.screen)
    (run,) = runs.list_all(store)
    assert run.provider == "claude"
    until(lambda: runs.get(store, run.id).status == "running", 20, lambda: counted.terminal.screen)
    counted.terminal.shows("the agent reads:")
    assert counted.keys <= MOST_KEYS
    counted.terminal.press("5")
    counted.terminal.shows("Providers · ", "✓ installed", "2.1.332", "○ not here")
    runs.request_stop(store, run.id, actor="operator")
    until(lambda: not runs.get(store, run.id).live, 20)
