"""When the dust has settled: nothing is under way any more; what never gets there is a broken promise, too."""

from __future__ import annotations

import threading
import time

from tests.faults import invariants
from tests.faults.world import World
from tests.support.waiting import until

SETTLE_S = 20.0
QUIET_S = 0.1
"""How long the journal has to stay as it is."""


class Unsettled(AssertionError):
    """It did not come to rest in time."""


def settle(world: World, *, timeout: float = SETTLE_S) -> None:
    """Return once an executor lives and everything asked for has happened. Raises Unsettled with what is missing."""
    world.wait_delays()
    deadline = time.monotonic() + timeout
    while (said := world.ensure_executor()) != "up":
        if time.monotonic() > deadline:
            raise Unsettled(f"no executor comes up: {said}")
    pause, rest_since, head, missing = threading.Event(), None, -1, "everything"
    while time.monotonic() < deadline:
        missing = _missing(world)
        now = world.events[-1].seq if world.events else 0
        if missing or now != head:
            rest_since, head = None, now
        elif rest_since is None:
            rest_since = time.monotonic()
        elif time.monotonic() - rest_since >= QUIET_S:
            return
        pause.wait(0.03)
    raise Unsettled(f"after {timeout:g} s there is still: {missing}")


def _missing(world: World) -> str:
    """What is still under way; empty when nothing is. Cheap questions first."""
    world.read_events()
    executor = world.executor
    if executor is None or not executor.lives:
        return "an executor that lives"
    return _runs(world) or _host(world) or _dust(world)


def _runs(world: World) -> str:
    """Runs that go somewhere, and orders that were not carried out."""
    starts = world.starts()
    for run in world.all_runs():
        story = world.stories[run.id]
        if run.status in ("pending", "spawning"):
            return f"run {run.id} is {run.status} at attempt {run.attempt}"
        if run.retry_at is not None:
            return f"run {run.id} is {run.status} and waits for {run.retry_at}"
        if run.status == "running" and run.attempt in story.must:
            return f"run {run.id} ({story.kind.name}) is running at attempt {run.attempt}, which has to end"
        if run.status == "running" and story.kind.marked and (run.id, run.attempt) not in starts:
            return f"run {run.id} is running, and its agent has not begun"
        if run.stop_requested_at is not None and not _said(world, "run.stopped", run.id, run.attempt):
            return f"run {run.id} was asked to stop, and no run.stopped came"
    return ""


def _said(world: World, topic: str, run_id: str, attempt: int) -> bool:
    return any(
        event.topic == topic and event.payload.get("run_id") == run_id and event.payload.get("attempt") == attempt
        for event in reversed(world.events)
    )


def _host(world: World) -> str:
    """The way to tmux: server, socket, control client, spool."""
    if world.server_pid() is None:
        return "no tmux server on record lives"
    if not world.socket.exists():
        return "the tmux socket is gone"
    if not world.client_pids():
        return "no control client"
    if "pam-hub" not in world.tmux("list-sessions", "-F", "#{session_name}").split():
        return "no hub session"
    left = world.spool_left()
    return f"spool not ingested: {left}" if left else ""


def _dust(world: World) -> str:
    """What takes a moment longer than the journal's word, such as processes that were told to end."""
    sight = invariants.look(world)
    for check in TRANSIENT:
        for found in check(sight):
            return f"{check.__name__}: {found}"
    return ""


TRANSIENT = (
    invariants.what_lives_is_not_called_ended,
    invariants.what_is_called_running_runs,
    invariants.a_stop_left_nobody,
    invariants.an_older_attempt_left_nobody,
    invariants.no_file_is_left,
    invariants.control_clients_belong_to_somebody,
    invariants.wrappers_have_sessions,
)
"""Invariants that may be broken for a moment while things are under way."""


def emptied(world: World, *, timeout: float = SETTLE_S) -> None:
    """Return once every session of an ended run has left after its hold. Raises Unsettled."""
    try:
        until(lambda: not _sessions_of_ended(world), timeout, lambda: f"sessions {_sessions_of_ended(world)} to go")
    except AssertionError as error:
        raise Unsettled(str(error)) from error


def _sessions_of_ended(world: World) -> set[str]:
    live = {run.session_name for run in world.all_runs() if run.live}
    there = set(world.tmux("list-sessions", "-F", "#{session_name}").split())
    return there - live - world.meddled - {"pam-hub", "mine", "pam-notes"}
