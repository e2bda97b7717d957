"""What the hosts and providers places are told by the real store, catalog, doctor and tmux."""

from __future__ import annotations

import asyncio
import subprocess
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from app.model import StoreModel
from app.model.apart import apart
from executor.processes import identify
from executor.settings import ExecutorSettings
from screens.model.hosts import Machine
from store import hosts, items, journal, leftovers, orphans, projects, reconciling, runs
from store.database import Store
from store.errors import ConfigError
from store.signals import ingest
from tests.store.world import signal
from tests.support.tmux_server import SOCKET, TmuxSandbox

PROGRAM = """\
#!/bin/sh
echo asked >> {asked}
echo 2.1.332
"""


@pytest.fixture
def executor_settings(tmux_sandbox: TmuxSandbox) -> ExecutorSettings:
    return ExecutorSettings(tmux_socket=SOCKET)


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine that has claude, and nothing else."""
    folder = tmp_path / "programs"
    folder.mkdir()
    (folder / "claude").write_text(PROGRAM.format(asked=folder / "asked"))
    (folder / "claude").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    return folder


def asked(programs: Path) -> int:
    file = programs / "asked"
    return len(file.read_text().splitlines()) if file.exists() else 0


async def test_a_host_carries_its_runs_orphans_and_leftovers(model: StoreModel, store: Store, tmp_path: Path) -> None:
    hosts.ensure_local(store, actor="executor")
    local = hosts.heartbeat(store, "local", "this-one", actor="executor")
    project = projects.add(store, "Apollo", cwd=str(tmp_path), actor="operator")
    task = items.create(store, project.id, "Fix it", actor="operator")
    run = runs.start(store, task.id, "demo", str(tmp_path), actor="operator")
    (view,) = await model.fleet()
    assert (view.host.name, list(view.runs)) == ("local", [])
    runs.claim(store, run.id, local, actor="executor")
    orphans.detect(store, "local", "pam-deadbeef", "1:1", ["%9"], actor="executor")
    (view,) = await model.fleet()
    assert [(each.run.id, each.item.title, each.project.name) for each in view.runs] == [(run.id, "Fix it", "Apollo")]
    assert [each.session for each in view.orphans] == ["pam-deadbeef"]
    assert list(view.leftovers) == []


async def test_this_machine_is_known_by_its_tmux_and_load(model: StoreModel) -> None:
    machine = await model.machine()
    assert machine.tmux[:1].isdigit() and machine.cores > 0 and machine.load is not None
    model._around = replace(model._around, settings=ExecutorSettings(tmux_bin="no-such-tmux"))
    machine = await model.machine()
    assert machine.tmux == "" and "tmux is not installed" in machine.trouble
    assert isinstance(machine, Machine)


async def test_a_plan_changes_nothing_and_a_request_is_journaled(
    model: StoreModel, store: Store, tmux_sandbox: TmuxSandbox
) -> None:
    hosts.ensure_local(store, actor="executor")
    before = journal.head(store)
    plan = await model.reconcile_plan("local")
    assert all(step.reason for step in plan.steps)
    assert journal.head(store) == before
    assert tmux_sandbox.sessions() == set()
    request = await model.reconcile("local")
    assert reconciling.asked(store, "local", after=before) == request


async def test_a_host_is_drained_and_given_work_again(model: StoreModel, store: Store) -> None:
    hosts.ensure_local(store, actor="executor")
    hosts.heartbeat(store, "local", "this-one", actor="executor")
    await model.disable_host("local")
    assert hosts.get(store, "local").status == "disabled"
    await model.enable_host("local")
    assert hosts.get(store, "local").status == "online"
    hosts.heartbeat(store, "local", "another-one", actor="executor")
    assert hosts.get(store, "local").instance_suspect
    await model.trust_host("local")
    assert not hosts.get(store, "local").instance_suspect


async def test_a_leftover_is_a_flagged_run_whose_agent_lives(model: StoreModel, store: Store, tmp_path: Path) -> None:
    hosts.ensure_local(store, actor="executor")
    local = hosts.heartbeat(store, "local", "this-one", actor="executor")
    project = projects.add(store, "Apollo", cwd=str(tmp_path), actor="operator")
    task = items.create(store, project.id, "Fix it", actor="operator")
    run = runs.start(store, task.id, "demo", str(tmp_path), actor="operator")
    runs.claim(store, run.id, local, actor="executor")
    with subprocess.Popen(["/bin/cat"], stdin=subprocess.PIPE) as agent:
        known = identify(agent.pid)
        assert known is not None
        run = runs.get(store, run.id)
        ingest(store, signal(run, "started", pid=known.pid, pid_started=known.started))
        runs.fail(store, run.id, 1, "host_lost", actor="executor")
        (view,) = await model.fleet()
        assert list(view.leftovers) == []
        assert leftovers.flag_alive(store, run.id, 1, {}, actor="executor")
        (view,) = await model.fleet()
        assert [each.run.id for each in view.leftovers] == [run.id]
    (view,) = await model.fleet()
    assert list(view.leftovers) == []


async def test_programs_are_asked_once_until_their_file_changes(model: StoreModel, programs: Path) -> None:
    await model.catalog()
    found = {name: each async for name, each in model.detections()}
    assert found["claude"].version == "2.1.332" and found["codex"].program is None
    assert asked(programs) == 1
    assert {name: each async for name, each in model.detections()} == found
    assert asked(programs) == 1
    assert {name: each async for name, each in model.detections(anew=True)} == found
    assert asked(programs) == 2
    (programs / "claude").write_text("#!/bin/sh\necho 9.9.9\n")
    found = {name: each async for name, each in model.detections()}
    assert (found["claude"].version, found["claude"].fits) == ("9.9.9", False)


async def test_a_faulty_file_leaves_the_catalog_that_was_valid(model: StoreModel, tmp_path: Path) -> None:
    valid = await model.catalog()
    assert valid.fault is None and not any(view.own for view in valid.providers)
    path, line = await model.entry("claude")
    file = Path(path)
    assert file.read_text().splitlines()[line - 1] == "[claude]"
    assert (await model.catalog()).providers == valid.providers
    file.write_text('[claude]\nprompt = "telepathy"\n')
    faulty = await model.catalog()
    assert faulty.fault is not None and faulty.fault.line == 2
    assert (2, 'prompt = "telepathy"') in faulty.fault.around
    assert [view.provider for view in faulty.providers] == [view.provider for view in valid.providers]
    with pytest.raises(ConfigError):
        await model.enable_provider("claude", False)
    file.unlink()
    await model.enable_provider("claude", False)
    found = {view.provider.name: view for view in (await model.catalog()).providers}
    assert found["claude"].own and not found["claude"].provider.enabled


async def test_the_doctor_speaks_of_the_one_that_is_asked_for(model: StoreModel, programs: Path) -> None:
    await model.catalog()
    checks = await model.examine("claude")
    assert checks[0].state == "ok" and "2.1.332" in checks[0].detail
    assert all(check.name.startswith("provider claude") for check in checks)


async def test_the_first_agent_that_is_installed_is_offered(
    model: StoreModel, store: Store, programs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = tmp_path / "shop"
    work.mkdir()
    monkeypatch.chdir(work)
    first = await model.first_start()
    assert (list(first.agents), first.name, first.cwd) == (["claude"], "shop", str(work))
    monkeypatch.chdir(Path.home())
    assert (await model.first_start()).cwd == ""
    project = projects.add(store, "Shop", cwd=str(work), actor="operator")
    task = items.create(store, project.id, "Fix it", actor="operator")
    choices = await model.start_choices(task.id)
    assert choices.provider == "claude"
    troubles = [bool(each.trouble) for each in choices.providers]
    assert troubles == sorted(troubles)
    (programs / "claude").unlink()
    assert (await model.start_choices(task.id)).provider == "demo"


async def test_work_apart_ends_with_who_asked_for_it() -> None:
    begun, ended = threading.Event(), threading.Event()

    async def work() -> None:
        begun.set()
        try:
            await asyncio.sleep(1000)
        finally:
            ended.set()

    asking = asyncio.create_task(apart(work))
    assert await asyncio.to_thread(begun.wait, 10)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert await asyncio.to_thread(ended.wait, 10)


async def test_work_apart_hands_over_what_it_raises() -> None:
    async def work() -> int:
        raise ConfigError("It is so.")

    with pytest.raises(ConfigError, match="It is so"):
        await apart(work)
