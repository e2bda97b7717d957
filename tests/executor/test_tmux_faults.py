"""What tmux and its operator may do to a whole executor: nothing untrue is said, no agent is lost or run twice."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from executor.capture import STYLE, Frame, PaneSource
from executor.hosts.link import PaneListing
from executor.hosts.local import LocalLink
from executor.processes import identify
from executor.tmux import oneshot
from executor.tmux.errors import TmuxError
from store import journal, runs
from store.records import Run
from tests.support.crew import crew, marked
from tests.support.stage import ACTOR, Stage
from tests.support.tmux_server import DECOY, SOCKET, eventually, until_answer
from tests.support.waiting import until

WAITS = "echo $$ > {name}; while [ ! -e {gate} ]; do sleep 0.05; done; exit {code}"


@pytest.fixture
def quick(stage: Stage) -> Stage:
    """Loops and deadlines short enough for a test."""
    stage.settings = replace(
        stage.settings, liveness_s=0.2, reconcile_s=0.2, command_timeout_s=1.0, reconnect_max_s=0.2, grace_s=1.0
    )
    return stage


def waiting(stage: Stage, name: str = "agent", code: int = 0) -> str:
    """A script that says its pid and ends with a code once the gate is open."""
    return WAITS.format(name=name, gate=gate(stage), code=code)


def gate(stage: Stage) -> Path:
    """What agents wait for."""
    return stage.cwd / "gate"


def control_clients(stage: Stage) -> list[int]:
    """Processes that are control clients of our server."""
    return [int(pid) for pid in stage.sandbox.tmux("list-clients", "-F", "#{client_pid}").split()]


def servers(stage: Stage) -> list[int]:
    """Every living tmux server of this test's directory on our socket; what one is just forking is none."""
    found: dict[int, int] = {}
    for process in psutil.process_iter():
        try:
            here = process.environ().get("TMUX_TMPDIR") == str(stage.sandbox.directory)
            argv, alive, parent = process.cmdline(), process.status() != psutil.STATUS_ZOMBIE, process.ppid()
        except psutil.Error:
            continue
        if here and alive and argv and Path(argv[0]).name.startswith("tmux") and SOCKET in argv and "-C" not in argv:
            found[process.pid] = parent
    return [pid for pid, parent in found.items() if parent not in found]


def socket_of(stage: Stage) -> Path:
    """Where clients look for our server."""
    return stage.sandbox.directory / f"tmux-{os.getuid()}" / SOCKET


# -- the server


def test_a_killed_server_ends_every_run_truly_and_the_next_dispatch_has_a_new_one(quick: Stage) -> None:
    """FR-67: polite, stubborn and held-open alike; nothing of them lives on."""
    scripts = {
        "polite": "exec sleep 1000",
        "stubborn": "trap '' HUP TERM; while :; do sleep 0.1; done",
        "parted": "setsid sleep 1000 & trap '' HUP; while :; do sleep 0.1; done",
    }
    with quick.executor():
        held = quick.until_ended(quick.shell("exit 3", restart_policy="never"))
        going = {name: quick.shell(script, restart_policy="never") for name, script in scripts.items()}
        for run in going.values():
            quick.until_status(run, "running")
        before = quick.sandbox.server_pid()
        os.kill(before, signal.SIGKILL)
        ended = {name: quick.until_ended(run) for name, run in going.items()}
        again = quick.until_ended(quick.shell("exit 0"))
        assert quick.sandbox.server_pid() != before
    assert {run.status for run in ended.values()} == {"failed"}
    assert (again.status, quick.run(held).status, quick.run(held).exit_code) == ("exited", "failed", 3)
    for name, run in ended.items():
        assert quick.topics(run)[-1] in ("run.finished", "run.failed"), name
        assert len([topic for topic in quick.topics(run) if topic in ("run.finished", "run.failed")]) == 1
    assert not marked(ended["polite"])
    assert not marked(ended["stubborn"])


def test_a_run_lost_with_the_server_is_made_anew_once(quick: Stage) -> None:
    """FR-24: recovery starts each agent once."""
    quick.settings = replace(quick.settings, restart_initial_s=0)
    with quick.executor():
        run = quick.until_status(quick.shell("echo x >> began; exec sleep 1000", restart_policy="always"), "running")
        os.kill(quick.sandbox.server_pid(), signal.SIGKILL)
        until(lambda: quick.run(run).attempt == 2, 20)
        quick.until_status(run, "running")
        until(lambda: (quick.cwd / "began").read_text() == "x\nx\n", 5)
        assert len(marked(run, 2)) == 1
        assert marked(run, 1) == []


def test_a_server_that_does_not_answer_is_waited_for(quick: Stage) -> None:
    """FR-22: for longer than every deadline, and then nothing has happened."""
    quick.settings = replace(quick.settings, command_timeout_s=0.3)
    with quick.executor():
        run = quick.until_status(quick.shell(waiting(quick, code=4)), "running")
        stopped = quick.sandbox.stop_server()
        try:
            waits = quick.shell("exit 0")
            until(lambda: _unanswered(quick), 10)
            assert quick.run(run).status == "running"
        finally:
            quick.sandbox.continue_server(stopped)
        gate(quick).touch()
        assert quick.until_ended(run).exit_code == 4
        assert quick.until_ended(waits).status == "exited"
        assert quick.sandbox.server_pid() == stopped
    assert quick.topics(run) == ["run.created", "run.spawning", "run.started", "run.finished"]


def _unanswered(stage: Stage) -> bool:
    """Whether tmux has missed a deadline."""
    try:
        oneshot.identity(stage.settings)
    except TmuxError:
        return True
    return False


# -- its socket


def test_a_deleted_socket_comes_back_and_there_is_never_a_second_server(quick: Stage) -> None:
    """FR-24, FR-69: with the control client gone as well, the server is asked for its socket, not doubled."""
    with quick.executor():
        run = quick.until_status(quick.shell(waiting(quick, code=5)), "running")
        server = quick.sandbox.server_pid()
        (client,) = control_clients(quick)
        socket_of(quick).unlink()
        os.kill(client, signal.SIGKILL)
        until(socket_of(quick).exists, 10, "the socket")
        again = quick.until_ended(quick.shell("exit 0"))
        gate(quick).touch()
        assert quick.until_ended(run).exit_code == 5
        assert quick.sandbox.server_pid() == server
        assert servers(quick) == [server]
    assert again.status == "exited"


def test_a_wiped_socket_directory_found_at_start_doubles_nobody(quick: Stage) -> None:
    """FR-24: the executor comes up beside agents whose server has no socket any more."""
    with quick.executor():
        run = quick.until_status(quick.shell("echo x >> began; " + waiting(quick)), "running")
        server = quick.sandbox.server_pid()
    socket_of(quick).unlink()
    socket_of(quick).parent.rmdir()
    with quick.executor():
        assert quick.until_ended(quick.shell("exit 0")).status == "exited"
        assert quick.sandbox.server_pid() == server
        assert quick.run(run).status == "running"
        gate(quick).touch()
        assert quick.until_ended(run).status == "exited"
    assert (quick.cwd / "began").read_text() == "x\n"
    assert servers(quick) == [server]


# -- the control client


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_control_client_that_is_killed_is_replaced(quick: Stage, number: int) -> None:
    """FR-31, FR-67: one client before, one after, and no run noticed."""
    with quick.executor():
        run = quick.until_status(quick.shell(waiting(quick, code=6)), "running")
        (client,) = control_clients(quick)
        os.kill(client, number)
        until(lambda: [pid for pid in control_clients(quick) if pid != client], 15, "a new client")
        assert quick.until_ended(quick.shell("exit 0")).status == "exited"
        assert len(control_clients(quick)) == 1
        gate(quick).touch()
        assert quick.until_ended(run).exit_code == 6
    assert quick.topics(run) == ["run.created", "run.spawning", "run.started", "run.finished"]


def test_a_control_client_that_is_blocked_delays_nobody_and_does_not_stay(quick: Stage) -> None:
    """FR-31: the server reads and writes its pipes itself, or else it misses a deadline and is replaced."""
    with quick.executor():
        run = quick.until_status(quick.shell(waiting(quick, code=6)), "running")
        (client,) = control_clients(quick)
        os.kill(client, signal.SIGSTOP)
        assert quick.until_ended(quick.shell("exit 0")).status == "exited"
        gate(quick).touch()
        assert quick.until_ended(run).exit_code == 6
        assert len(control_clients(quick)) == 1
    until(lambda: identify(client) is None, 10, "the blocked one to be gone")
    assert control_clients(quick) == []


async def test_a_session_made_behind_the_deadline_is_taken_over_not_made_twice(quick: Stage) -> None:
    """An action that was not answered may have happened: the second try finds what the first one made."""
    quick.settings = replace(quick.settings, command_timeout_s=0.4)
    async with crew(quick) as team:
        run = quick.shell("echo x >> began; exec sleep 1000")
        (claimed,) = await team.dispatch.claim_all()
        await team.link.find_python()
        await team.spawner._install()
        listing = await team.link.list_panes()
        assert isinstance(listing, PaneListing)
        stop_when_asked = _stopping(quick, team.link)
        with stop_when_asked:
            assert not await team.spawner.spawn(claimed)
        assert quick.run(run).status == "spawning"
        await eventually(lambda: run.session_name in quick.sandbox.sessions())
        await until_answer(lambda: _reached(team.link))
        await team.round()
        await team.until(run, "running")
        for _ in range(3):
            await team.round()
        assert (quick.cwd / "began").read_text() == "x\n"
        assert len(marked(run)) == 1


@contextmanager
def _stopping(stage: Stage, link: LocalLink) -> Iterator[None]:
    """The server is stopped in the moment in which it is told to make a session."""
    told = link._channel.post
    stopped: list[int] = []

    def post(command: object) -> object:
        if "new-session" in str(command) and not stopped:
            stopped.append(stage.sandbox.stop_server())
        return told(command)  # type: ignore[arg-type]

    link._channel.post = post  # type: ignore[method-assign, assignment]
    try:
        yield
    finally:
        link._channel.post = told  # type: ignore[method-assign]
        for pid in stopped:
            stage.sandbox.continue_server(pid)


async def _reached(link: LocalLink) -> bool:
    return isinstance(await link.list_panes(), PaneListing)


# -- our own environment


def test_a_tmux_around_us_is_not_ours(quick: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """FR-69: pam started from a pane of the operator's own tmux touches nothing there, and tells no agent of it."""
    quick.sandbox.start_decoys()
    where = quick.sandbox.tmux("display-message", "-p", "#{socket_path},#{pid},0", socket="default")
    monkeypatch.setenv("TMUX", where)
    monkeypatch.setenv("TMUX_PANE", "%0")
    with quick.executor():
        run = quick.until_ended(quick.shell('echo "tmux=$TMUX"; env > env.txt'))
        assert oneshot.capture(quick.settings, run.session_name)
        assert quick.sandbox.sessions() == {"pam-hub", run.session_name}
    assert run.status == "exited"
    assert quick.sandbox.sessions("default") == {DECOY}
    seen = dict(line.split("=", 1) for line in (quick.cwd / "env.txt").read_text().splitlines() if "=" in line)
    assert where not in seen.get("TMUX", "")


# -- what an operator does inside an agent's session


SPLITS = {
    "a pane before it": ("split-window", "-b", "-t"),
    "a pane behind it": ("split-window", "-t"),
    "a window": ("new-window", "-t"),
}


@pytest.mark.parametrize("how", SPLITS)
async def test_the_agents_pane_is_followed_whatever_the_operator_adds(quick: Stage, how: str) -> None:
    """FR-68: screen, end, stop and log are the agent's, though his pane is the active one."""
    async with crew(quick) as team:
        run = await team.begin("echo from the agent; exec sleep 1000")
        target = f"={run.session_name}:"
        quick.sandbox.tmux(*SPLITS[how], target, "echo from the operator; exec sleep 1000")
        await eventually(lambda: "from the operator" in quick.pane(run))
        assert await team.round() == {}
        listing = await team.link.list_panes()
        assert isinstance(listing, PaneListing)
        assert len(listing.of(run.session_name)) == 2
        pane = listing.find(run.session_name)
        assert pane is not None
        assert (pane.pid, pane.pane_id) == (run.wrapper_pid, run.pane_id)
        shot = "\n".join(oneshot.capture(quick.settings, run.session_name))
        assert "from the agent" in shot
        assert "from the operator" not in shot
        asked = runs.request_stop(quick.store, run.id, actor=ACTOR)
        assert await team.stops.carry_out(asked)
        assert run.session_name not in quick.sandbox.sessions()
    assert quick.run(run).status == "stopped"


async def test_viewers_see_the_agents_pane_not_the_operators(quick: Stage) -> None:
    """FR-68: the pane source captures by the pane's id."""
    async with crew(quick) as team:
        run = await team.begin("echo from the agent; exec sleep 1000")
        quick.sandbox.tmux("split-window", "-b", "-t", f"={run.session_name}:", "echo from the operator; sleep 1000")
        await eventually(lambda: "from the operator" in quick.pane(run))
        frames = await _frames(quick, run, lambda frame: "from the agent" in _shown(frame))
    assert not any("from the operator" in _shown(frame) for frame in frames)


async def test_an_agents_end_beside_the_operators_pane_leaves_his(quick: Stage) -> None:
    """PAM-TMUX-009: hold-open over, ours is empty, his goes on."""
    quick.settings = replace(quick.settings, hold_open_s=0)
    async with crew(quick) as team:
        run = await team.begin(waiting(quick))
        quick.sandbox.tmux("split-window", "-t", f"={run.session_name}:", "exec sleep 1000")
        gate(quick).touch()
        await team.until(run, "exited")
        for _ in range(3):
            assert await team.round() == {}
        assert run.session_name in quick.sandbox.sessions()


async def test_copy_mode_changes_nothing_that_is_said(quick: Stage) -> None:
    """The operator scrolls back: the screen is still the agent's, and so is its end."""
    async with crew(quick) as team:
        run = await team.begin("seq 1 200; echo the last line; " + waiting(quick, code=7))
        await eventually(lambda: "the last line" in quick.log(run))
        quick.sandbox.tmux("copy-mode", "-t", f"={run.session_name}:")
        quick.sandbox.tmux("send-keys", "-t", f"={run.session_name}:", "-X", "-N", "3", "page-up")
        listing = await team.link.list_panes()
        assert isinstance(listing, PaneListing)
        pane = listing.find(run.session_name)
        assert pane is not None
        assert pane.in_mode
        assert "the last line" in "\n".join(await team.link.capture(pane.pane_id))
        assert await team.round() == {}
        gate(quick).touch()
        assert (await team.until(run, "failed")).exit_code == 7


async def test_an_empty_screen_is_an_agent_that_has_said_nothing(quick: Stage) -> None:
    """A capture without a character is no sign of an end."""
    async with crew(quick) as team:
        run = await team.begin(waiting(quick))
        rows = await team.link.capture(run.pane_id or "")
        assert "".join(STYLE.sub("", row) for row in rows).strip() == ""
        frames = await _frames(quick, run, lambda frame: frame.state == "live" and frame.lines == 50)
        assert frames[-1].bottom(5) == ()
        assert await team.round() == {}
        assert quick.run(run).status == "running"


# -- ends that tmux itself loses


def test_fast_ends_keep_their_code_and_their_last_words(quick: Stage) -> None:
    """FR-21, facts §3: tmux before 3.6 loses a fifth of the statuses, before 3.7 the last output."""
    with quick.executor():
        started = [
            quick.shell(f"seq 1 300; echo last-{code}; exit {code}", restart_policy="never") for code in range(12)
        ]
        ended = [quick.until_ended(run) for run in started]
        for code, run in enumerate(ended):
            assert run.exit_code == code
            assert f"last-{code}" in quick.pane(run)
            until(lambda run=run, code=code: f"last-{code}" in quick.log(run), 5, "the log")  # type: ignore[misc]


def test_a_server_killed_again_and_again_costs_no_executor(quick: Stage) -> None:
    """FR-67: each is said once, and each is followed by another."""
    with quick.executor():
        known = set()
        for _ in range(3):
            assert quick.until_ended(quick.shell("exit 0")).status == "exited"
            known.add(quick.sandbox.server_pid())
            os.kill(quick.sandbox.server_pid(), signal.SIGKILL)
        assert quick.until_ended(quick.shell("exit 0")).status == "exited"
    assert len(known) == 3
    assert [event.topic for event in journal.read(quick.store) if event.topic == "run.failed"] == []


# -- helpers


async def _frames(stage: Stage, run: Run, enough: Callable[[Frame], bool]) -> list[Frame]:
    """Frames of the run's screen until one is enough."""
    source = PaneSource(stage.settings, stage.home.path)
    got: list[Frame] = []
    subscription = source.subscribe(run.session_name, got.append)
    serving = asyncio.create_task(source.run())
    try:
        await eventually(lambda: any(enough(frame) for frame in got))
    finally:
        subscription.close()
        serving.cancel()
        await asyncio.wait([serving])
    return got


def _shown(frame: Frame) -> str:
    return "\n".join(STYLE.sub("", row) for row in frame.rows)
