"""The kill ladder through the executor on agents that are hard to end, and twin starts that cannot happen."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from executor.lock import ExecutorBusy
from executor.processes import ProcessId, end_tree, identify
from store import runs
from store.records import Run
from tests.executor.test_processes import Begin, begin, named, reaped  # noqa: F401 - a fixture
from tests.support.crew import crew, marked
from tests.support.stage import ACTOR, Stage, end_process
from tests.support.tmux_server import eventually
from tests.support.waiting import until

PYTHON = f"{sys.executable} -ISE -c"
FOREVER = "signal.signal(signal.SIGTERM, signal.SIG_IGN); signal.signal(signal.SIGHUP, signal.SIG_IGN)"
WAIT = "import time\nwhile True: time.sleep(600)"


def member(name: str, *steps: str, env: str = "") -> str:
    """A shell command for a process that ignores TERM and HUP, does these steps and says its pid."""
    lines = ["import os, signal", FOREVER, *steps, f"print(os.getpid(), file=open({name!r}, 'w'), flush=True)", WAIT]
    text = "\n".join(lines).replace('"', '\\"')
    return f'{env}{PYTHON} "{text}"'


DOUBLE_FORK = ("os.fork() and os._exit(0)", "os.setsid()", "os.fork() and os._exit(0)")
CLEARED = 'env -i PATH="$PATH" '

FAMILY = {
    "child": member("child"),
    "group": member("group", "os.setpgid(0, 0)"),
    "daemon": member("daemon", *DOUBLE_FORK),
    "cleared": member("cleared", "os.setpgid(0, 0)", env=CLEARED),
    "orphan": member("orphan", "os.setpgid(0, 0)", "os.fork() and os._exit(0)", env=CLEARED),
}
"""What an agent may leave: in its group, in another group, in no group of its, and without a trace in its environment
but for the terminal session it still is in."""

NAMES = (*FAMILY, "agent")


IGNORES = "trap '' TERM HUP"


def agent_of(family: dict[str, str], trap: str = IGNORES) -> str:
    """A script that starts the family, waits until all of it stands, sets its trap, says its pid and goes on."""
    starts = "".join(f"{command} &\n" for command in family.values())
    waits = "".join(f"until [ -s {name} ]; do sleep 0.02; done\n" for name in family)
    return f"{starts}{waits}{trap}\necho $$ > agent\nwhile :; do sleep 0.05; done"


@pytest.fixture
def left(stage: Stage) -> Iterator[None]:
    """What a failing test leaves of its family is killed."""
    stage.settings = replace(stage.settings, grace_s=0.5)
    yield
    for name in NAMES:
        pid = pid_of(stage.cwd, name)
        if pid is not None:
            os.kill(pid, signal.SIGKILL)


def pid_of(folder: Path, name: str) -> int | None:
    """The living process that wrote its pid there."""
    text = (folder / name).read_text().strip() if (folder / name).exists() else ""
    return int(text) if text and identify(int(text)) else None


def family_stands(folder: Path) -> bool:
    """Whether all of the family, and its agent, live."""
    return all(pid_of(folder, name) for name in NAMES)


def survivors(folder: Path) -> list[str]:
    """Who of the family lives."""
    return [name for name in NAMES if pid_of(folder, name)]


# -- a stop


async def test_a_stop_leaves_nobody_whatever_the_agent_did_to_stay(stage: Stage, left: None) -> None:
    """PAM-RST-004, FR-32: TERM ignored, forked twice, other groups, no environment; verified, and a neighbour lives."""
    async with crew(stage) as team:
        neighbour = await team.begin("exec sleep 1000")
        run = await team.begin(agent_of(FAMILY))
        await eventually(lambda: family_stands(stage.cwd))
        asked = runs.request_stop(stage.store, run.id, actor=ACTOR)
        assert await team.stops.carry_out(asked)
        assert survivors(stage.cwd) == []
        assert marked(run) == []
        assert marked(neighbour)
        assert stage.sandbox.sessions() == {"pam-hub", neighbour.session_name}
    (stopped,) = [event for event in stage.events(run) if event.topic == "run.stopped"]
    assert (stopped.payload["killed"], stopped.payload["survivors"]) == (True, [])
    assert stage.run(run).status == "stopped"


async def test_a_lost_wrapper_leaves_nobody_while_one_of_its_session_is_known(stage: Stage, left: None) -> None:
    """FR-24, FR-32: the wrapper is gone, its terminal session is not: who is known in it proves whose it is."""
    async with crew(stage) as team:
        run = await team.begin(agent_of(FAMILY))
        await eventually(lambda: family_stands(stage.cwd))
        assert run.wrapper_pid is not None
        os.kill(run.wrapper_pid, signal.SIGKILL)
        await eventually(lambda: identify(run.wrapper_pid or 0) is None)
        assert (await team.round())["report_lost"].done
        assert survivors(stage.cwd) == []
    assert stage.run(run).failure_reason == "session_lost"


async def test_an_agent_that_answers_term_with_more_processes_is_ended_too(stage: Stage, left: None) -> None:
    """Who is born while the ladder is climbed is a member as well."""
    breeds = "trap 'for n in 1 2 3; do (trap \"\" TERM; sleep 1000) & done' TERM"
    async with crew(stage) as team:
        run = await team.begin(agent_of({}, breeds))
        await eventually(lambda: pid_of(stage.cwd, "agent"))
        asked = runs.request_stop(stage.store, run.id, actor=ACTOR)
        assert await team.stops.carry_out(asked)
        assert marked(run) == []


async def test_a_stop_while_tmux_does_not_answer_ends_the_agent_and_waits_for_the_session(
    stage: Stage, left: None
) -> None:
    """A wrapper that was reported needs no tmux to be found; the word that it is done waits."""
    async with crew(stage, settings=replace(stage.settings, command_timeout_s=0.5)) as team:
        run = await team.begin(agent_of({}))
        await eventually(lambda: pid_of(stage.cwd, "agent"))
        asked = runs.request_stop(stage.store, run.id, actor=ACTOR)
        stopped = stage.sandbox.stop_server()
        try:
            assert not await team.stops.carry_out(asked)
        finally:
            stage.sandbox.continue_server(stopped)
        assert survivors(stage.cwd) == []
        assert "run.stopped" not in stage.topics(run)
        await eventually(lambda: team.link.server is not None)
        assert (await team.round())["stop"].done
    assert stage.topics(run).count("run.stopped") == 1


def test_a_stop_that_a_crash_cut_short_is_completed_by_the_next_executor(stage: Stage, left: None) -> None:
    """Rulings X-56: killed between TERM and KILL; what ignored TERM is ended by who comes next."""
    heard = stage.cwd / "heard"
    first = stage.executor_process()
    run = stage.until_status(stage.shell(agent_of(FAMILY, f"trap 'echo term > {heard}' TERM")), "running")
    until(lambda: family_stands(stage.cwd), 15)
    runs.request_stop(stage.store, run.id, actor=ACTOR)
    until(heard.exists, 10, "the TERM")
    end_process(first, signal.SIGKILL)
    assert survivors(stage.cwd)
    with stage.executor():
        until(lambda: "run.stopped" in stage.topics(run), 20, lambda: stage.topics(run))
    assert survivors(stage.cwd) == []
    assert stage.run(run).status == "stopped"
    assert stage.topics(run).count("run.stopped") == 1
    assert run.session_name not in stage.sandbox.sessions()


def test_a_stop_whose_agent_ended_while_nobody_executed_is_completed(stage: Stage, left: None) -> None:
    """Rulings X-56: the wrapper's word makes it stopped, and still its family must go."""
    with stage.executor():
        run = stage.until_status(stage.shell(agent_of(FAMILY, "trap - TERM")), "running")
        until(lambda: family_stands(stage.cwd), 15)
    runs.request_stop(stage.store, run.id, actor=ACTOR)
    agent = pid_of(stage.cwd, "agent")
    assert agent is not None
    os.kill(agent, signal.SIGKILL)
    until(lambda: identify(agent) is None, 10)
    assert "daemon" in survivors(stage.cwd)
    with stage.executor():
        until(lambda: "run.stopped" in stage.topics(run), 20, lambda: stage.topics(run))
    assert survivors(stage.cwd) == []
    assert marked(run) == []
    assert stage.run(run).status == "stopped"


async def test_a_run_asked_to_stop_before_its_session_was_made_never_begins(stage: Stage) -> None:
    """FR-28: the wish came first."""
    async with crew(stage) as team:
        run = stage.shell("echo x >> began")
        (claimed,) = await team.dispatch.claim_all()
        runs.request_stop(stage.store, run.id, actor=ACTOR)
        assert not await team.spawner.spawn(claimed)
        assert (await team.round())["stop"].done
        assert stage.sandbox.sessions() == {"pam-hub"}
    assert stage.run(run).status == "stopped"
    assert not (stage.cwd / "began").exists()
    assert not list(stage.home.path.glob("specs/*"))


# -- the session of a dead leader


async def test_a_dead_leaders_session_is_trusted_only_through_somebody_known(begin: Begin, tmp_path: Path) -> None:  # noqa: F811
    """A session's number alone could be anybody's: nobody is ended for it."""
    script = "sh -c 'echo $$ > known; exec sleep 600' & sh -c 'echo $$ > other; exec sleep 600' & echo ready; wait"
    leader = begin(script)
    known, other = named(tmp_path, "known"), named(tmp_path, "other")
    os.kill(leader.pid, signal.SIGKILL)
    until(lambda: reaped(leader), 5)
    nobody = ProcessId(0, 0)
    assert (await end_tree(nobody, grace_s=0.2, wrapper=leader)).members == (nobody,)
    assert not reaped(other)
    ended = await end_tree(nobody, grace_s=2, wrapper=leader, also=[known])
    assert {known, other} <= set(ended.members)
    assert ended.gone
    assert reaped(other)


# -- twins


async def test_two_executors_on_a_broken_lock_claim_and_start_a_run_once(stage: Stage) -> None:
    """FR-29, PAM-RUN-017: one claim, one session, one agent."""
    script = "echo x >> began; exec sleep 1000"
    async with crew(stage) as one, crew(stage) as other:
        started = [stage.shell(script, cwd=_folder(stage, number)) for number in range(4)]

        async def dispatch(team: object) -> int:
            assert team in (one, other)
            mine = one if team is one else other
            claimed = await mine.dispatch.claim_all()
            await asyncio.gather(*(mine.spawner.spawn(run) for run in claimed))
            return len(claimed)

        assert sum(await asyncio.gather(dispatch(one), dispatch(other))) == 4
        for run in started:
            await one.until(run, "running")
    _assert_began_once(stage, started)


async def test_two_executors_that_make_the_same_session_again_start_its_agent_once(stage: Stage) -> None:
    """FR-29: the name is the lock, and who comes second takes over what stands."""
    script = "echo x >> began; exec sleep 1000"
    async with crew(stage) as one, crew(stage) as other, crew(stage) as third:
        started = [stage.shell(script, cwd=_folder(stage, number)) for number in range(4)]
        claimed = await one.dispatch.claim_all()
        assert len(claimed) == 4
        one.station.spawning.clear()
        everybody = (one, other, third)
        again = [team.spawner.spawn(run, again=True) for run in claimed for team in everybody]
        rounds = [team.reconciler.round(whole=True) for team in everybody]
        await asyncio.gather(*again, *rounds)
        for run in started:
            await one.until(run, "running")
        for team in everybody:
            await team.spawner.sweep()
    _assert_began_once(stage, started)
    assert not list(stage.home.path.glob("specs/*"))


def test_two_whole_executors_started_at_once_are_one(stage: Stage) -> None:
    """FR-29: the lock lets one in; the other says who has it."""
    first = stage.executor_process()
    with pytest.raises(ExecutorBusy), stage.executor():
        pytest.fail("a second executor came up")
    run = stage.until_ended(stage.shell("echo x >> began"))
    end_process(first, signal.SIGTERM)
    assert run.status == "exited"
    assert (stage.cwd / "began").read_text() == "x\n"


def _folder(stage: Stage, number: int) -> Path:
    folder = stage.cwd / str(number)
    folder.mkdir()
    return folder


def _assert_began_once(stage: Stage, started: list[Run]) -> None:
    for number, run in enumerate(started):
        assert (stage.cwd / str(number) / "began").read_text() == "x\n"
        assert len(marked(run)) == 1
        assert stage.topics(run) == ["run.created", "run.spawning", "run.started"]
    assert stage.sandbox.sessions() == {"pam-hub", *(run.session_name for run in started)}
