"""What operator and agents do in a schedule, in the order of a run's life: start, end, stop, meddle, delete."""

from __future__ import annotations

from store import items, runs
from store.errors import IllegalTransition, NotFound
from store.records import Run
from tests.faults.agents import KINDS
from tests.faults.steps import Step, standing
from tests.faults.world import ACTOR, World

POLICIES = ("infrastructure", "infrastructure", "infrastructure", "never", "on-failure", "always")
CODES = (0, 0, 1, 3, 130)


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
    run = step.victim([run for run in standing(world) if world.stories[run.id].kind.gated])
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


def kill_session(world: World, step: Step) -> str | None:
    """The operator ends a session behind pam's back."""
    run = step.victim(standing(world))
    if run is None:
        return None
    world.stories[run.id].allow(run.attempt, "exit:*", "session_lost", due=True)
    world.tmux("kill-session", "-t", f"={run.session_name}")
    return f"kill-session {run.session_name}"


def meddle(world: World, step: Step) -> str | None:
    """The operator splits a pane, adds a window, or scrolls."""
    run = step.victim(standing(world))
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
