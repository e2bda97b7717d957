"""What can be broken: each fault picks its victim, breaks it, and notes which endings it may cause."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path

from executor import lock
from tests.faults import deeds, processes
from tests.faults.steps import Step, live, standing
from tests.faults.world import HOLD_DATABASE, HOLD_FILE, World
from tests.support.waiting import until

Fault = Callable[[World, Step], str | None]
"""Says what it did; None when there was nothing to break."""


def kill_executor(world: World, step: Step) -> str | None:
    """kill -9 of the executor, in whatever it is doing."""
    if world.executor is None or not world.executor.lives:
        return None
    world.executor.kill()
    return f"kill -9 executor {world.executor.pid}"


def restart_executor(world: World, step: Step) -> str | None:
    """The executor stops in its own way."""
    if world.executor is None or not world.executor.lives:
        return None
    world.executor.stop()
    return f"stop executor {world.executor.pid}: {world.executor.process.returncode}"


def freeze_executor(world: World, step: Step) -> str | None:
    """The executor hangs for a while."""
    executor = world.executor
    if executor is None or not executor.lives:
        return None
    executor.freeze()
    world.later(0.3 + step.what, executor.thaw)
    return f"executor {executor.pid} hangs"


def double_executor(world: World, step: Step) -> str:
    """Two at once: one of them is refused."""
    world.wait_delays()
    rivals = [world.new_executor(), world.new_executor()] if _dead(world) else [world.new_executor()]
    said = [rival.hear() for rival in rivals]
    up = [rival for rival in rivals if rival.said == "up"]
    for rival in rivals:
        if rival not in up:
            rival.stop()
    if _dead(world):
        assert len(up) <= 1, f"{len(up)} executors of one home came up: {said}"
        world.executor = up[0] if up else world.executor
    else:
        assert said == ["busy"], f"beside a living executor another one said {said}"
        assert lock.state(world.home).running
    return f"doubled executors: {said}"


def kill_wrapper(world: World, step: Step) -> str | None:
    """kill -9 of a wrapper: no report of the end will come."""
    run = step.victim([run for run in standing(world) if run.wrapper_pid])
    if run is None or run.wrapper_pid is None:
        return None
    processes.send(run.wrapper_pid, signal.SIGKILL)
    world.stories[run.id].allow(run.attempt, "session_lost", due=True)
    return f"kill -9 wrapper {run.wrapper_pid} of {run.session_name}"


def kill_agent(world: World, step: Step) -> str | None:
    """kill -9 of an agent."""
    run = step.victim(standing(world))
    pid = world.agent_pid(run) if run else None
    if run is None or pid is None:
        return None
    processes.send(pid, signal.SIGKILL)
    world.stories[run.id].allow(run.attempt, "exit:-9", due=True)
    return f"kill -9 agent {pid} of {run.session_name}"


def kill_client(world: World, step: Step) -> str | None:
    """The control client is killed, or hangs for ever."""
    pids = world.client_pids()
    if not pids:
        return None
    number = signal.SIGKILL if step.what < 0.6 else signal.SIGSTOP
    processes.send(pids[0], number)
    return f"{number.name} to control client {pids[0]}"


def kill_tmux(world: World, step: Step) -> str | None:
    """The tmux server dies, and every session with it."""
    pid = world.server_pid()
    if pid is None:
        return None
    processes.send(pid, signal.SIGKILL if step.what < 0.7 else signal.SIGTERM)
    for run in live(world):
        # Where nothing was made yet, the attempt goes on in the next server.
        world.stories[run.id].allow(run.attempt, "*", due=run.status == "running")
        world.stories[run.id].allow(run.attempt + 1, "*")
    world.tmux_deaths += 1
    return f"kill tmux server {pid}"


def kill_everything(world: World, step: Step) -> str | None:
    """What a crash of the machine leaves: executor, server, wrappers and agents gone at once, and nobody reported."""
    server = world.server_pid()
    if server is None:
        return None
    if world.executor is not None and world.executor.lives:
        world.executor.kill()
    for run in live(world):
        world.stories[run.id].allow(run.attempt, "*", due=run.status == "running")
        world.stories[run.id].allow(run.attempt + 1, "*")
    ours = [one for one in processes.everybody() if one.home == str(world.home.path) or one.wrapper_of(world.home.path)]
    for pid in (server, *(one.pid for one in ours)):
        processes.send(pid, signal.SIGKILL)
    world.tmux_deaths += 1
    return f"kill -9 of everything: executor, server {server}, {len(ours)} wrappers and agents"


def freeze_tmux(world: World, step: Step) -> str | None:
    """The tmux server answers nobody for a second."""
    pid = world.server_pid()
    if pid is None:
        return None
    processes.send(pid, signal.SIGSTOP)
    world.later(0.4 + step.what, lambda: processes.send(pid, signal.SIGCONT))
    return f"tmux server {pid} hangs"


def remove_socket(world: World, step: Step) -> str | None:
    """A cleaner of /tmp removes the socket."""
    if not world.socket.exists() or world.server_pid() is None:
        return None
    world.socket.unlink()
    return "tmux socket removed"


def fill_disk(world: World, step: Step) -> str | None:
    """The disk is full while an agent ends: the report waits until there is room again."""
    run = step.victim([run for run in standing(world) if world.stories[run.id].kind.gated and run.wrapper_pid])
    agent = world.agent_pid(run) if run else None
    if run is None or run.wrapper_pid is None or agent is None:
        return None
    wrapper = run.wrapper_pid
    processes.limit_files(wrapper, 0)
    if not world.open_gate(run, 3):
        processes.limit_files(wrapper, None)
        return None
    world.stories[run.id].allow(run.attempt, "exit:3", due=True)
    until(lambda: not processes.alive(agent), 5, "the agent to end")
    processes.limit_files(wrapper, None)
    return f"disk full at the end of {run.session_name}"


def fill_executors_disk(world: World, step: Step) -> str | None:
    """The executor can write nothing for a while: no spec, no row."""
    executor = world.executor
    if executor is None or not executor.lives or executor.frozen:
        return None
    processes.limit_files(executor.pid, 0)

    def room() -> None:
        for one in processes.everybody():  # what it started meanwhile was born with the limit
            if one.pid == executor.pid or one.tmux_tmpdir == str(world.sandbox.directory):
                processes.limit_files(one.pid, None)

    world.later(0.3 + step.what / 2, room)
    for run in live(world):
        if run.status != "running":
            world.stories[run.id].allow(run.attempt, "spawn_failed")
    return "disk full for the executor"


def lock_database(world: World, step: Step) -> str:
    """Another process holds the database's write lock for a while."""
    _hold(world, step, HOLD_DATABASE, world.home.database)
    return "database locked"


def lock_spool(world: World, step: Step) -> str | None:
    """A writer hangs with the spool's lock in its hand."""
    spools = sorted((world.home.path / "spool").glob("*.jsonl"))
    if not spools:
        return None
    _hold(world, step, HOLD_FILE, spools[-1])
    return f"spool {spools[-1].name} locked"


def _hold(world: World, step: Step, program: str, path: Path) -> None:
    holder = world.hold(program, path)

    def release() -> None:
        holder.communicate()

    world.later(0.3 + step.what, release)


def freeze_wrapper(world: World, step: Step) -> str | None:
    """A wrapper hangs for a while; its agent may end meanwhile, the report comes afterwards."""
    run = step.victim([run for run in standing(world) if run.wrapper_pid])
    if run is None or run.wrapper_pid is None:
        return None
    wrapper = run.wrapper_pid
    processes.send(wrapper, signal.SIGSTOP)
    world.later(0.3 + step.what, lambda: processes.send(wrapper, signal.SIGCONT))
    return f"wrapper {wrapper} of {run.session_name} hangs"


def replay(world: World, step: Step) -> str | None:
    """Every line of the spool is delivered a second time."""
    if world.executor is not None and world.executor.lives:
        world.executor.stop()
    world.rewind_spool()
    return "spool rewound to its start"


def step_clock(world: World, step: Step) -> str:
    """The system clock jumps: an hour ahead, an hour back, or right again."""
    seconds = (-3600, 3600, 0)[int(step.what * 3)]
    for run in world.all_runs():  # by the clock, what waits for a host has waited for an hour
        if run.status == "pending" or run.retry_at is not None:
            attempt = run.attempt + (run.status != "pending")
            world.stories[run.id].allow(attempt, "dispatch_timeout", "no_eligible_host")
    world.step_clock(seconds)
    return f"clock at {seconds:+d} s"


def _dead(world: World) -> bool:
    return world.executor is None or not world.executor.lives


FAULTS: dict[str, tuple[Fault, int]] = {
    "start": (deeds.start, 12),
    "gate": (deeds.gate, 6),
    "stop": (deeds.stop, 5),
    "kill-executor": (kill_executor, 5),
    "restart-executor": (restart_executor, 1),
    "freeze-executor": (freeze_executor, 2),
    "double-executor": (double_executor, 2),
    "kill-wrapper": (kill_wrapper, 3),
    "kill-agent": (kill_agent, 2),
    "kill-client": (kill_client, 3),
    "kill-tmux": (kill_tmux, 2),
    "kill-everything": (kill_everything, 1),
    "freeze-tmux": (freeze_tmux, 2),
    "remove-socket": (remove_socket, 2),
    "kill-session": (deeds.kill_session, 1),
    "meddle": (deeds.meddle, 1),
    "fill-disk": (fill_disk, 2),
    "fill-executors-disk": (fill_executors_disk, 1),
    "lock-database": (lock_database, 2),
    "lock-spool": (lock_spool, 1),
    "freeze-wrapper": (freeze_wrapper, 1),
    "replay": (replay, 1),
    "step-clock": (step_clock, 1),
    "delete-task": (deeds.delete_task, 1),
}
"""Every fault with its weight in a schedule."""
