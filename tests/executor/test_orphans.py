"""Sessions that no run explains: told once, held, ended with all that runs in them; never a foreign one."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from executor.processes import identify
from executor.supervision.epoch import mark
from store import journal
from store.clock import utc_now
from store.database import Store
from tests.store.world import execute
from tests.support.crew import crew
from tests.support.stage import Stage, make_stage
from tests.support.tmux_server import DECOY, SOCKET, TmuxSandbox, eventually
from tests.support.waiting import until

ORPHAN = "pam-0123abcd"
STUBBORN = "trap '' HUP TERM; setsid sleep 1000 & echo $$ > {pids}; echo $! >> {pids}; while :; do sleep 0.1; done"


class Later:
    """A clock that can be turned."""

    def __init__(self) -> None:
        self.ahead = timedelta()

    def __call__(self) -> datetime:
        return utc_now() + self.ahead


@pytest.fixture
def later() -> Later:
    return Later()


@pytest.fixture
def pids(stage: Stage) -> Iterator[Path]:
    """Where the orphan writes its processes; what is left of them is killed."""
    path = stage.cwd / "pids"
    yield path
    for pid in living(path):
        os.kill(pid, signal.SIGKILL)


def living(path: Path) -> list[int]:
    """Those of the orphan's processes that live."""
    return [int(pid) for pid in path.read_text().split() if identify(int(pid))] if path.exists() else []


def make_orphan(stage: Stage, pids: Path, name: str = ORPHAN) -> None:
    """A session of ours by name, with an agent that is hard to end, and no run."""
    stage.sandbox.tmux("new-session", "-d", "-s", name, STUBBORN.format(pids=pids))
    until(lambda: len(living(pids)) == 2, 10)


def topics(store: Store) -> list[str]:
    """What was journaled of orphans."""
    return [event.topic for event in journal.read(store, topic="run.orphan_*")]


async def test_an_orphan_is_told_once_held_and_ended_with_its_tree(stage: Stage, later: Later, pids: Path) -> None:
    """PAM-ORPH-001, 002, 003, FR-32."""
    async with crew(stage, clock=later) as team:
        stage.sandbox.start_decoys()
        make_orphan(stage, pids)
        assert (await team.round())["detect"].done
        before = team.state()
        later.ahead = timedelta(seconds=3590)
        assert await team.round() == {}
        assert team.state() == before
        later.ahead = timedelta(seconds=3601)
        assert (await team.round())["end_orphan"].done
        assert living(pids) == []
        assert stage.sandbox.sessions() == {"pam-hub", DECOY}
        assert await team.round() == {}
    assert topics(stage.store) == ["run.orphan_detected", "run.orphan_removed"]
    (detected, removed) = journal.read(stage.store, topic="run.orphan_*")
    assert (detected.payload["session_name"], detected.payload["host"]) == (ORPHAN, "local")
    assert (removed.payload["killed"], removed.payload["survivors"]) == (True, [])


async def test_a_restart_of_the_executor_forgets_no_orphan(stage: Stage, later: Later, pids: Path) -> None:
    """When it was found stands in the journal."""
    make_orphan(stage, pids)
    async with crew(stage, clock=later) as team:
        assert set(await team.round()) == {"detect"}
    later.ahead = timedelta(hours=2)
    async with crew(stage, clock=later) as team:
        assert set(await team.round()) == {"end_orphan"}
    assert topics(stage.store) == ["run.orphan_detected", "run.orphan_removed"]


async def test_nothing_is_ended_that_was_not_detected_before(stage: Stage, later: Later, pids: Path) -> None:
    """Both parts: a hold of nothing still takes two looks."""
    async with crew(stage, settings=replace(stage.settings, orphan_hold_s=0), clock=later) as team:
        make_orphan(stage, pids)
        assert set(await team.round()) == {"detect"}
        assert living(pids)
        assert set(await team.round()) == {"end_orphan"}


async def test_a_session_that_appears_in_the_runs_is_forgotten(stage: Stage, later: Later) -> None:
    """And should it lose its run again, its hour begins anew."""
    async with crew(stage, clock=later) as team:
        run = await team.begin("exec sleep 1000")
        execute(stage.store, "UPDATE runs SET session_name = 'pam-ffffffff'")
        assert (await team.round())["detect"].subject == run.session_name
        execute(stage.store, "UPDATE runs SET session_name = ?", run.session_name)
        later.ahead = timedelta(hours=2)
        assert set(await team.round()) == {"forget"}
        assert await team.round() == {}
        execute(stage.store, "UPDATE runs SET session_name = 'pam-ffffffff'")
        assert set(await team.round()) == {"detect"}
        assert run.session_name in stage.sandbox.sessions()
        assert topics(stage.store) == ["run.orphan_detected", "run.orphan_forgotten", "run.orphan_detected"]


async def test_a_session_that_gets_its_run_at_the_last_moment_is_left(stage: Stage, later: Later) -> None:
    """PAM-TMUX-009: asked again with the hand on it."""
    async with crew(stage, clock=later) as team:
        run = await team.begin("exec sleep 1000")
        execute(stage.store, "UPDATE runs SET session_name = 'pam-ffffffff'")
        await team.round()
        later.ahead = timedelta(hours=2)
        _, seen = await team.reconciler._look(whole=True)
        execute(stage.store, "UPDATE runs SET session_name = ?", run.session_name)
        listing = await team.link.list_panes()
        (pane,) = [pane for pane in getattr(listing, "panes", ()) if pane.session == run.session_name]
        assert not await team.reconciler._orphans.end(pane, seen.listing)  # type: ignore[arg-type]
        assert run.session_name in stage.sandbox.sessions()


async def test_another_session_of_the_same_name_is_another_orphan(stage: Stage, later: Later, pids: Path) -> None:
    """It was never detected, however old the word about its forerunner is."""
    async with crew(stage, clock=later) as team:
        stage.sandbox.tmux("new-session", "-d", "-s", ORPHAN, "sleep 1000")
        await team.round()
        stage.sandbox.tmux("kill-session", "-t", f"={ORPHAN}")
        make_orphan(stage, pids)
        later.ahead = timedelta(hours=2)
        assert set(await team.round()) == {"detect"}
        assert living(pids)


async def test_a_split_by_the_operator_makes_no_new_orphan(stage: Stage, later: Later, pids: Path) -> None:
    async with crew(stage, clock=later) as team:
        make_orphan(stage, pids)
        await team.round()
        stage.sandbox.tmux("split-window", "-b", "-t", f"={ORPHAN}:", "sleep 1000")
        assert await team.round() == {}


async def test_sessions_of_other_names_are_nobodys_business(stage: Stage, later: Later) -> None:
    """PAM-TMUX-009, 021: the hub, the operator's own, and names that only look like ours."""
    others = {"pam-notes", "pam-0123ABCD", "pam-0123abcde", "pam-0123abc", "xpam-0123abcd", "mine"}
    async with crew(stage, settings=replace(stage.settings, orphan_hold_s=0), clock=later) as team:
        for name in others:
            stage.sandbox.tmux("new-session", "-d", "-s", name, "sleep 1000")
        stage.sandbox.tmux("new-session", "-d", "-s", ORPHAN, "sleep 1000", socket="default")
        for _ in range(3):
            assert await team.round() == {}
    assert stage.sandbox.sessions() == {"pam-hub", *others}
    assert stage.sandbox.sessions("default") == {ORPHAN}
    assert topics(stage.store) == []


async def test_two_homes_on_one_server_leave_each_others_agents_alone(
    stage: Stage, tmux_sandbox: TmuxSandbox, tmp_path: Path, later: Later
) -> None:
    """A session of another pam has no run here, and yet is none of ours."""
    async with crew(stage) as team:
        run = await team.begin("echo $$ > agent; exec sleep 1000")
    neighbour = make_stage(tmux_sandbox, tmp_path / "other" / "home", tmp_path / "other" / "work")
    async with crew(neighbour, settings=replace(neighbour.settings, orphan_hold_s=0), clock=later) as team:
        for _ in range(3):
            assert await team.round() == {}
        (step,) = await team.reconciler.round(whole=True)
        assert (step.subject, step.action) == (run.session_name, "wait")
        assert "another pam" in step.reason
    neighbour.store.close()
    assert run.session_name in stage.sandbox.sessions()
    assert identify(int((stage.cwd / "agent").read_text()))


async def test_a_name_that_another_home_holds_is_not_taken_by_force(stage: Stage) -> None:
    """8 digits may collide between homes; the run fails and says why."""
    async with crew(stage) as team:
        run = stage.shell("true", restart_policy="never")
        tmux = stage.sandbox.tmux
        tmux("new-session", "-d", "-s", run.session_name, "sleep 1000", socket=SOCKET)
        tmux("set-option", "-p", "-t", f"={run.session_name}:", "@pam", mark("feedbeef", 1))
        failed = await team.start(run)
        assert (failed.status, failed.failure_reason) == ("failed", "spawn_failed")
        assert await team.round() == {}
        assert run.session_name in stage.sandbox.sessions()
    (event,) = [event for event in stage.events(run) if event.topic == "run.failed"]
    assert "Another pam" in str(event.payload["detail"])


async def test_an_orphan_whose_server_died_is_over(stage: Stage, later: Later, pids: Path) -> None:
    """FR-67: a new server's sessions have nothing to do with the old one's."""
    async with crew(stage, clock=later) as team:
        make_orphan(stage, pids)
        await team.round()
        os.kill(stage.sandbox.server_pid(), signal.SIGKILL)
        await eventually(lambda: team.link.server is not None and stage.sandbox.sessions() == {"pam-hub"})
        later.ahead = timedelta(hours=2)
        assert await team.round() == {}


def test_the_whole_executor_ends_an_orphan_after_its_hold(stage: Stage, pids: Path) -> None:
    """From the setting to the end, by its own loops."""
    stage.settings = replace(stage.settings, orphan_hold_s=0.5, reconcile_s=0.1)
    with stage.executor():
        run = stage.until_status(stage.shell("exec sleep 1000"), "running")
        make_orphan(stage, pids)
        until(lambda: "run.orphan_removed" in topics(stage.store), 15)
        assert stage.sandbox.sessions() == {"pam-hub", run.session_name}
        assert stage.run(run).status == "running"
    assert topics(stage.store) == ["run.orphan_detected", "run.orphan_removed"]
