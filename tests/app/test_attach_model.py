"""What gives a run's session the whole terminal, and where shells start (issue 6, PAM-ATT-003, 004)."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import cast

import pytest

from app import attaching
from app.model import StoreModel
from executor.terminal import link
from executor.terminal.link import Program
from screens.terminal.line import Viewer
from store import hosts, items, leases, projects, runs
from store.database import Store
from store.errors import Conflict, LeaseHeld, NotFound
from store.home import Home
from store.records import Run

ANOTHER = "mara@another-desk, terminal 7"


@pytest.fixture
def store(store: Store) -> Store:
    hosts.ensure_local(store, actor="operator")
    return store


@pytest.fixture
def run(store: Store, tmp_path: Path) -> Run:
    """One whose session stands."""
    local = hosts.heartbeat(store, "local", "here", actor="executor")
    project = projects.add(store, "Apollo", cwd=str(tmp_path), actor="operator")
    task = items.create(store, project.id, "Fix it", actor="operator")
    made = runs.start(store, task.id, "claude", str(tmp_path), actor="operator")
    assert runs.claim(store, made.id, local, actor="executor")
    runs.set_pane(store, made.id, 1, "%1", actor="executor")
    return made


def asked_of(argv: Sequence[str]) -> list[str]:
    """What pam is asked, behind what starts it."""
    assert argv[0] == sys.executable
    assert Path(argv[2]).name in ("pam_launch.py", "_launch.py")
    return list(argv[3:])


async def test_the_command_is_pams_own_attach_on_this_home(model: StoreModel, run: Run, home: Home) -> None:
    wanted = ["--home", str(home.path), "run", "attach", run.id]
    assert asked_of(await model.attach_command(run.id)) == wanted
    assert asked_of(await model.attach_command(run.id, read_only=True)) == [*wanted, "--read-only"]
    home.config.write_text("")
    config = ["--config", str(home.config)]
    assert asked_of(await model.attach_command(run.id)) == [*wanted[:2], *config, *wanted[2:]]


async def test_while_another_types_it_has_to_be_said_how(model: StoreModel, store: Store, run: Run) -> None:
    leases.acquire(store, run.id, ANOTHER, actor="operator")
    with pytest.raises(LeaseHeld) as held:
        await model.attach_command(run.id)
    assert held.value.details["holder"] == ANOTHER
    assert asked_of(await model.attach_command(run.id, read_only=True))[-1] == "--read-only"
    assert asked_of(await model.attach_command(run.id, force=True))[-1] == "--force"


async def test_who_is_gone_is_in_nobodys_way(model: StoreModel, store: Store, run: Run) -> None:
    """A control room that was killed could not give the right back."""
    gone = subprocess.Popen(["true"])
    gone.wait()
    mine = attaching.holder("terminal")
    leases.acquire(store, run.id, mine.replace(f" {os.getpid()}", f" {gone.pid}"), actor="operator")
    assert asked_of(await model.attach_command(run.id))[-1] == run.id


async def test_a_run_without_a_session_says_so(model: StoreModel, store: Store, run: Run) -> None:
    runs.fail(store, run.id, 1, "spawn_failed", actor="executor")
    with pytest.raises(Conflict, match="no session to attach to: the run is failed"):
        await model.attach_command(run.id)


async def test_a_shell_starts_where_it_is_told_or_at_home(
    model: StoreModel, tmp_path: Path, own_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Program] = []
    monkeypatch.setattr(link, "available", lambda: True)
    monkeypatch.setattr(model._terminals, "open", lambda program, *_: asked.append(program))
    monkeypatch.setenv("SHELL", "/bin/some-shell")
    monkeypatch.setenv("TMUX", "/tmp/tmux-1/default,1,1")
    for directory in (str(tmp_path), None):
        dial = await model.shell(directory)
        assert dial is not None
        dial(80, 24, cast("Viewer", None))
    assert [(program.argv, program.cwd) for program in asked] == [
        (("/bin/some-shell",), str(tmp_path)),
        (("/bin/some-shell",), str(own_home)),
    ]
    assert "TMUX" not in asked[0].env
    own_home.rmdir()
    dial = await model.shell()
    assert dial is not None
    dial(80, 24, cast("Viewer", None))
    assert asked[-1].cwd == str(model._around.home.path)


async def test_a_shell_needs_a_directory_that_can_be_entered(
    model: StoreModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(link, "available", lambda: True)
    with pytest.raises(NotFound, match=rf"There is no directory {tmp_path}/gone\. It was moved or removed"):
        await model.shell(str(tmp_path / "gone"))
    (tmp_path / "file").write_text("")
    with pytest.raises(NotFound, match="There is no directory"):
        await model.shell(str(tmp_path / "file"))
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(Conflict, match="its permissions keep you out"):
        await model.shell(str(tmp_path))


async def test_without_an_engine_there_is_no_shell(model: StoreModel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link, "available", lambda: False)
    assert await model.shell() is None
