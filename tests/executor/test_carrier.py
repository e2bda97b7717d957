"""Plans carried out on real tmux and real processes: each class comes right, and a second time changes nothing."""

from __future__ import annotations

import os
import signal
from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest

from executor.hosts.link import PaneListing, Spawn
from executor.processes import identify
from executor.supervision.epoch import mark
from executor.supervision.plan import Limits, plan
from store import journal, runs
from store.clock import utc_now
from store.records import Run
from tests.store.world import execute
from tests.support.crew import Crew, crew, marked
from tests.support.stage import ACTOR, Stage
from tests.support.tmux_server import DECOY, eventually, until_answer
from tests.support.waiting import until

SLEEPS = "echo $$ > agent; exec sleep 1000"
STUBBORN = "trap '' HUP TERM; echo $$ > agent; while :; do sleep 0.1; done"
DAEMON = "setsid sh -c 'echo up > up; exec sleep 1000' & while [ ! -e up ]; do sleep 0.01; done;"
"""Leaves a process in a session of its own behind."""

Arrange = Callable[[Crew], Awaitable[Run | None]]


# -- each class: what is arranged, what is done about it, and how the run stands then


async def claimed_without_session(team: Crew) -> Run:
    """An executor died between the claim and the session."""
    run = team.stage.shell(SLEEPS)
    assert await team.dispatch.claim_all()
    team.station.spawning.clear()
    return run


async def claimed_for_too_long(team: Crew) -> Run:
    run = await claimed_without_session(team)
    team.reconciler._station.settings = replace(team.station.settings, spawn_timeout_s=-1)
    return run


async def started_and_silent(team: Crew) -> Run:
    """Its wrapper was killed before it could say that it began; its agent ignores the hangup."""
    run = await team.begin(STUBBORN)
    wrapper = run.wrapper_pid
    execute(team.stage.store, "UPDATE runs SET status = 'spawning', wrapper_pid = NULL, agent_pid = NULL")
    await kill(wrapper)
    await until_dead_pane(team, run)
    return run


async def without_a_wrapper(team: Crew) -> Run:
    run = await team.begin(STUBBORN)
    await kill(run.wrapper_pid)
    return run


async def asked_to_stop(team: Crew) -> Run:
    run = await team.begin(SLEEPS)
    return runs.request_stop(team.stage.store, run.id, actor=ACTOR)


async def stopped_but_not_seen_gone(team: Crew) -> Run:
    """The agent said its end, then the executor died; what it had started lives on."""
    run = await team.begin(f"{DAEMON} exec sleep 1000")
    runs.request_stop(team.stage.store, run.id, actor=ACTOR)
    await kill(run.agent_pid, signal.SIGTERM)
    return await team.until(run, "stopped")


async def superseded(team: Crew) -> Run:
    """Given up with its host, and started anew while the old agent lives."""
    run = await team.begin(STUBBORN, restart_policy="never")
    runs.fail(team.stage.store, run.id, 1, "host_lost", actor="executor")
    return runs.requeue(team.stage.store, run.id, actor=ACTOR)


async def doubled(team: Crew) -> Run:
    """A second session under the name of a run whose wrapper lives in the first."""
    run = await team.begin(SLEEPS)
    team.stage.sandbox.tmux("rename-session", "-t", f"={run.session_name}:", "elsewhere")
    twin = Spawn(
        run.session_name,
        ("sh", "-c", "sleep 1000"),
        cwd=str(team.stage.cwd),
        log_path=str(team.stage.home.path / "runs" / "twin.log"),
        mark=mark(await team.station.home(), 1),
    )
    await team.link.spawn(twin)
    return run


async def given_up_alive(team: Crew) -> Run:
    run = await team.begin(SLEEPS, restart_policy="never")
    failed = runs.fail(team.stage.store, run.id, 1, "host_lost", actor="executor")
    assert failed is not None
    return failed


async def held_open(team: Crew) -> Run:
    return await team.until(await team.start(team.stage.shell("exit 0")), "exited")


async def over_and_empty(team: Crew) -> Run:
    """Its hold is over: the wrapper has left, the pane stays."""
    ended = await held_open(team)
    await kill(ended.wrapper_pid, signal.SIGTERM)
    await until_dead_pane(team, ended)
    return ended


async def alive_and_well(team: Crew) -> Run:
    return await team.begin(SLEEPS)


async def found_without_a_run(team: Crew) -> None:
    team.stage.sandbox.tmux("new-session", "-d", "-s", "pam-0123abcd", "sleep 1000")


CLASSES: dict[str, tuple[Arrange, str | None, str | None]] = {
    "claimed without a session": (claimed_without_session, "respawn", "running"),
    "claimed for too long": (claimed_for_too_long, "give_up", "failed"),
    "wrapper gone before its first word": (started_and_silent, "give_up", "failed"),
    "wrapper gone": (without_a_wrapper, "report_lost", "failed"),
    "stop asked for": (asked_to_stop, "stop", "stopped"),
    "stop not verified": (stopped_but_not_seen_gone, "stop", "stopped"),
    "stale incarnation": (superseded, "end_session", "pending"),
    "twin": (doubled, "end_session", "running"),
    "alive after its end": (given_up_alive, "flag", "failed"),
    "ended pane": (over_and_empty, "remove", "exited"),
    "held open": (held_open, None, "exited"),
    "as it should be": (alive_and_well, None, "running"),
    "orphan": (found_without_a_run, "detect", None),
}


@pytest.mark.parametrize("name", CLASSES)
async def test_a_class_comes_right_and_a_second_time_changes_nothing(stage: Stage, name: str) -> None:
    """Issue 3, part 2; PAM-LIVE-006, 008, 009, 011, 012; FR-24, FR-32."""
    arrange, action, status = CLASSES[name]
    async with crew(stage) as team:
        stage.sandbox.start_decoys()
        run = await arrange(team)
        steps = await team.round()
        assert set(steps) == ({action} if action else set())
        assert all(step.done for step in steps.values()), steps
        if run is not None and status is not None:
            assert (await team.until(run, status)).status == status
        before = team.state()
        assert await team.round() == {}
        assert team.state() == before
    assert DECOY in stage.sandbox.sessions()
    assert stage.sandbox.sessions("default") == {DECOY}


async def until_dead_pane(team: Crew, run: Run) -> None:
    """Wait until tmux shows the run's pane as ended."""

    async def dead() -> bool:
        listing = await team.link.list_panes()
        await team.link.nudge()  # tmux before 3.6 may have missed the child's end
        assert isinstance(listing, PaneListing)
        pane = listing.find(run.session_name)
        return pane is not None and pane.dead

    await until_answer(dead)


# -- what each leaves behind


@pytest.mark.parametrize("arrange", [without_a_wrapper, started_and_silent])
async def test_the_agent_of_a_lost_wrapper_is_ended_not_doubled(stage: Stage, arrange: Arrange) -> None:
    """FR-20, FR-24, FR-32: the agent ignored the hangup, so only its pid and start time lead to it."""
    async with crew(stage) as team:
        run = await arrange(team)
        assert run is not None
        assert marked(run)
        await team.round()
        assert marked(run) == []
        assert run.session_name not in stage.sandbox.sessions()
        (failed,) = [event for event in stage.events(run) if event.topic == "run.failed"]
        assert failed.payload["attempt"] == 1


async def test_an_agent_with_a_cleared_environment_is_found_by_pid_and_start_time(stage: Stage) -> None:
    """FR-24: no mark is left on it, and its wrapper is gone."""
    async with crew(stage) as team:
        run = await team.begin(
            'exec env -i PATH="$PATH" sh -c "trap \'\' HUP; echo up > up; while :; do sleep 0.1; done"'
        )
        await eventually(lambda: (stage.cwd / "up").exists())
        assert marked(run) == []
        await kill(run.wrapper_pid)
        steps = await team.round()
        assert steps["report_lost"].done
        assert not _alive(run.agent_pid)


async def test_the_next_attempt_waits_for_what_the_last_one_left(stage: Stage) -> None:
    """PAM-RST-005: even a daemon of an attempt that failed by itself, with its session long gone."""
    async with crew(stage) as team:
        run = stage.shell(f"{DAEMON} exit 3")
        await team.start(run)
        await team.until(run, "failed")
        await team.link.kill_session(run.session_name)
        assert marked(run, 1)
        again = runs.requeue(stage.store, run.id, actor=ACTOR)
        await team.start(again)
        assert marked(run, 1) == []


async def test_a_twin_ends_alone(stage: Stage) -> None:
    """Both bear the same marks; only the one the store does not know is ended."""
    async with crew(stage) as team:
        run = await doubled(team)
        await team.round()
        assert _alive(run.agent_pid)
        assert "elsewhere" in stage.sandbox.sessions()
        (event,) = journal.latest(stage.store, topic="run.session_removed")
        assert (event.payload["run_id"], event.payload["was_attempt"]) == (run.id, 1)


async def test_a_stale_incarnation_is_ended_with_all_its_processes(stage: Stage) -> None:
    """PAM-LIVE-008, 010: and the run goes on as if nothing had been."""
    async with crew(stage) as team:
        run = await superseded(team)
        await team.round()
        assert marked(run) == []
        await team.start(run)
        assert (await team.until(run, "running")).attempt == 2


async def test_an_agent_alive_after_its_end_is_told_once_and_left(stage: Stage) -> None:
    """PAM-LIVE-009, PAM-FLEET-005."""
    async with crew(stage) as team:
        run = await given_up_alive(team)
        for _ in range(3):
            await team.round()
        assert _alive(run.agent_pid)
        assert stage.topics(run).count("run.alive_after_end") == 1
        assert run.session_name in stage.sandbox.sessions()


async def test_the_operators_pane_in_a_lost_session_stays(stage: Stage) -> None:
    """PAM-TMUX-009: our own pane is empty, his is not."""
    async with crew(stage) as team:
        run = await team.begin(SLEEPS)
        stage.sandbox.tmux("split-window", "-b", "-t", f"={run.session_name}:", "sleep 1000")
        await kill(run.wrapper_pid)
        steps = await team.round()
        assert steps["report_lost"].done
        assert await team.round() == {}
        assert run.session_name in stage.sandbox.sessions()


async def test_nothing_is_done_while_tmux_does_not_answer(stage: Stage) -> None:
    """FR-22, PAM-TMUX-024: not even about a wrapper that is certainly gone."""
    async with crew(stage, settings=replace(stage.settings, command_timeout_s=0.5)) as team:
        run = await without_a_wrapper(team)
        stage.sandbox.server_pid()
        before = stage.run(run), stage.topics(run)
        stopped = stage.sandbox.stop_server()
        try:
            steps = await team.reconciler.round(whole=True)
        finally:
            stage.sandbox.continue_server(stopped)
        assert [(step.subject, step.action, step.observed) for step in steps] == [(run.session_name, "wait", "unknown")]
        assert (stage.run(run), stage.topics(run)) == before
        await until_answer(lambda: _reached(team))
        assert (await team.round())["report_lost"].done


async def test_what_ended_while_a_round_was_planned_is_not_ended_again(stage: Stage) -> None:
    """A step is checked again with the hand on its session."""
    async with crew(stage) as team:
        run = await without_a_wrapper(team)
        judged, seen = await team.reconciler._look(whole=True)
        assert (await team.round())["report_lost"].done
        before = team.state()
        (late,) = plan(judged, seen, Limits(30, 3600), utc_now())
        assert late.action == "report_lost"
        assert not (await team.reconciler._carry_out(late, {run.id: judged[0]}, seen)).done
        assert team.state() == before
        assert stage.topics(run).count("run.failed") == 1


# -- the loops


def test_a_whole_executor_reconciles_at_its_start(stage: Stage) -> None:
    """PAM-LIVE-002, 011: before anybody asks."""
    stage.settings = replace(stage.settings, reconcile_s=600)
    with stage.executor():
        run = stage.until_status(stage.shell(SLEEPS, restart_policy="never"), "running")
    runs.fail(stage.store, run.id, 1, "host_lost", actor="executor")
    with stage.executor():
        (answer,) = until(lambda: journal.latest(stage.store, topic="host.reconciled"), 10, lambda: stage.topics(run))
    assert "run.alive_after_end" in stage.topics(run)
    plan = answer.payload["plan"]
    assert isinstance(plan, list)
    assert [(step["subject"], step["action"], step["done"]) for step in plan if step["action"] == "flag"] == [
        (run.session_name, "flag", True)
    ]


def test_a_quiet_executor_writes_nothing_however_often_it_reconciles(stage: Stage) -> None:
    """Restarting the executor changes nothing."""
    stage.settings = replace(stage.settings, reconcile_s=0.05, liveness_s=0.05, heartbeat_s=600)
    with stage.executor():
        run = stage.until_status(stage.shell(SLEEPS), "running")
        head = journal.head(stage.store)
    with stage.executor():
        probe = stage.until_status(stage.shell("exec sleep 1000"), "running")
    events = [event for event in journal.read(stage.store, after=head) if event.payload.get("run_id") != probe.id]
    assert [event.topic for event in events] == []
    assert stage.run(run).status == "running"


async def _reached(team: Crew) -> bool:
    return isinstance(await team.link.list_panes(), PaneListing)


async def kill(pid: int | None, number: int = signal.SIGKILL) -> None:
    """Signal a process and wait until it is gone."""
    assert pid
    os.kill(pid, number)
    await eventually(lambda: not _alive(pid))


def _alive(pid: int | None) -> bool:
    assert pid
    return identify(pid) is not None
