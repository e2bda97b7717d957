"""What can be broken: each fault picks its victim, breaks it, and notes which endings it may cause."""

from __future__ import annotations

import signal
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from executor import lock
from store import items, runs
from store.errors import IllegalTransition, NotFound
from store.records import Run
from tests.faults import processes
from tests.faults.agents import KINDS
from tests.faults.world import ACTOR, HOLD_DATABASE, HOLD_FILE, Story, World
from tests.support.waiting import until

POLICIES = ("infrastructure", "infrastructure", "infrastructure", "never", "on-failure", "always")
CODES = (0, 0, 1, 3, 130)


@dataclass(frozen=True)
class Step:
    """One line of a schedule, drawn before anything happens: the same seed gives the same steps."""

    number: int
    fault: str
    where: float
    """Which of the possible victims, from 0 to 1."""
    what: float
    """Everything else that the fault may choose."""
    settle: bool
    """Whether the dust may settle before the next step."""

    def victim(self, found: list[Run]) -> Run | None:
        """One of them, None when there is none."""
        return found[int(self.where * len(found))] if found else None


Fault = Callable[[World, Step], str | None]
"""Says what it did; None when there was nothing to break."""


def start(world: World, step: Step) -> str:
    """A new run of any kind; hostile ones as often as tame ones."""
    drawn = step.where * sum(kind.weight for kind in KINDS)
    for kind in KINDS:
        drawn -= kind.weight
        if drawn < 0:
            break
    policy = POLICIES[int(step.what * len(POLICIES))]
    run = world.start(kind, restart_policy=policy, max_attempts=2 if kind.natural else 4)
    return f"start {kind.name} {run.session_name} ({policy})"


def gate(world: World, step: Step) -> str | None:
    """An agent ends by itself."""
    run = step.victim([run for run in _standing(world) if world.stories[run.id].kind.gated])
    code = CODES[int(step.what * len(CODES))]
    if run is None or not world.open_gate(run, code):
        return None
    world.stories[run.id].allow(run.attempt, f"exit:{code}", due=True)
    return f"exit {code} of {run.session_name}"


def stop(world: World, step: Step) -> str | None:
    """The operator stops a run, in whatever state it is."""
    run = step.victim([run for run in world.all_runs() if run.live or run.retry_at is not None])
    return ask_to_stop(world, run) if run else None


def ask_to_stop(world: World, run: Run) -> str:
    """The operator's wish; a failed run that waited for its restart is called off, and stays failed."""
    try:
        asked = runs.request_stop(world.store, run.id, actor=ACTOR)
    except IllegalTransition:
        return f"stop {run.session_name}, which has ended"
    if asked.status != "failed":
        world.stories[run.id].allow(asked.attempt, "stopped", due=True)
    return f"stop {run.session_name} while {run.status}"


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
    run = step.victim([run for run in _standing(world) if run.wrapper_pid])
    if run is None or run.wrapper_pid is None:
        return None
    processes.send(run.wrapper_pid, signal.SIGKILL)
    world.stories[run.id].allow(run.attempt, "session_lost", due=True)
    return f"kill -9 wrapper {run.wrapper_pid} of {run.session_name}"


def kill_agent(world: World, step: Step) -> str | None:
    """kill -9 of an agent."""
    run = step.victim(_standing(world))
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
    for run in _live(world):
        # Where nothing was made yet, the attempt goes on in the next server.
        world.stories[run.id].allow(run.attempt, "*", due=run.status == "running")
        world.stories[run.id].allow(run.attempt + 1, "*")
    world.tmux_deaths += 1
    return f"kill tmux server {pid}"


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


def kill_session(world: World, step: Step) -> str | None:
    """The operator ends a session behind pam's back."""
    run = step.victim(_standing(world))
    if run is None:
        return None
    world.stories[run.id].allow(run.attempt, "exit:*", "session_lost", due=True)
    world.tmux("kill-session", "-t", f"={run.session_name}")
    return f"kill-session {run.session_name}"


def meddle(world: World, step: Step) -> str | None:
    """The operator splits a pane, adds a window, or scrolls."""
    run = step.victim(_standing(world))
    if run is None:
        return None
    words = (
        ("split-window", "-d", "-t", f"={run.session_name}:", "sleep 9000"),
        ("new-window", "-d", "-t", f"={run.session_name}:", "sleep 9000"),
        ("copy-mode", "-t", f"={run.session_name}:"),
    )[int(step.what * 3)]
    world.tmux(*words)
    world.meddled.add(run.session_name)
    return f"{words[0]} in {run.session_name}"


def fill_disk(world: World, step: Step) -> str | None:
    """The disk is full while an agent ends: the report waits until there is room again."""
    run = step.victim([run for run in _standing(world) if world.stories[run.id].kind.gated and run.wrapper_pid])
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
    for run in _live(world):
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
    run = step.victim([run for run in _standing(world) if run.wrapper_pid])
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


def delete_task(world: World, step: Step) -> str | None:
    """The operator deletes the task of a run that has ended."""
    ended = [run for run in world.all_runs() if not run.live and run.retry_at is None]
    run = step.victim(ended)
    if run is None:
        return None
    try:
        items.delete(world.store, run.task_id, actor=ACTOR)
    except NotFound:
        return None
    world.stories[run.id].deleted = True
    return f"delete the task of {run.session_name}"


def _live(world: World) -> list[Run]:
    return [run for run in world.all_runs() if run.live]


def _standing(world: World) -> list[Run]:
    """Running, and nothing asked of it yet that would end it."""
    return [
        run
        for run in world.all_runs()
        if run.status == "running" and run.stop_requested_at is None and not _ending(world.stories[run.id], run)
    ]


def _ending(story: Story, run: Run) -> bool:
    return run.attempt in story.must


def _dead(world: World) -> bool:
    return world.executor is None or not world.executor.lives


FAULTS: dict[str, tuple[Fault, int]] = {
    "start": (start, 12),
    "gate": (gate, 6),
    "stop": (stop, 5),
    "kill-executor": (kill_executor, 5),
    "restart-executor": (restart_executor, 1),
    "freeze-executor": (freeze_executor, 2),
    "double-executor": (double_executor, 2),
    "kill-wrapper": (kill_wrapper, 3),
    "kill-agent": (kill_agent, 2),
    "kill-client": (kill_client, 3),
    "kill-tmux": (kill_tmux, 2),
    "freeze-tmux": (freeze_tmux, 2),
    "remove-socket": (remove_socket, 2),
    "kill-session": (kill_session, 1),
    "meddle": (meddle, 1),
    "fill-disk": (fill_disk, 2),
    "fill-executors-disk": (fill_executors_disk, 1),
    "lock-database": (lock_database, 2),
    "lock-spool": (lock_spool, 1),
    "freeze-wrapper": (freeze_wrapper, 1),
    "replay": (replay, 1),
    "step-clock": (step_clock, 1),
    "delete-task": (delete_task, 1),
}
"""Every fault with its weight in a schedule."""
