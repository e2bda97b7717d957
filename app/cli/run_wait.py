"""Waiting for the end of a run: by the journal, never by asking again and again."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

import click

from app.cli import output
from app.cli.call import Call
from app.cli.declare import argument, command, option
from app.cli.run_text import failure
from app.cli.shapes import shape
from executor import lock
from store import journal, runs
from store.errors import ExecutorNotRunning
from store.records import Event, Run

TIMED_OUT = 22
EXITS = {"exited": 0, "failed": 20, "stopped": 21}

PATIENCE_S = 5.0
"""How long an executor may be gone before the wait is given up: another may be taking its place."""
LOOK_S = 0.5


@command("wait", prints='{"run": {…}}')
@argument("wanted", metavar="RUN")
@option("--timeout", type=click.FloatRange(min=0), metavar="S", help="Seconds to wait at most; then exit 22.")
@click.pass_obj
def wait(call: Call, wanted: str, timeout: float | None) -> int:
    """Wait until a run has ended: exit 0 exited, 20 failed, 21 stopped, 22 time is up."""
    run = runs.find(call.store, wanted)
    attended = attended_within(call, patience=PATIENCE_S)
    if not over(run) and not lock.state(call.home).running:
        raise _nobody(run)
    return answer(call, wait_for(call, run, attended, timeout))


@contextmanager
def attendance(call: Call) -> Iterator[Callable[[], bool]]:
    """An executor for the length of the block: the one that runs, else one of this command's own.

    Yields what says whether it is still there. Raises TmuxUnavailable when nobody can be it.
    """
    from app.cli.hosting import hosting
    from executor.lock import ExecutorBusy

    with ExitStack() as held:
        if not lock.state(call.home).running:
            try:
                thread = held.enter_context(hosting(call, "command"))
            except ExecutorBusy:
                pass  # another took the place this very moment
            else:
                output.say("No executor runs: this command is it until the run has ended.")
                yield lambda: not thread.wait(0)
                return
        yield attended_within(call, patience=PATIENCE_S)


def stay(call: Call, make: Callable[[], Run]) -> int:
    """The wait of ``pam run start --wait``; the run is made once somebody is there to carry it out."""
    from app.cli.hosting import interruptible

    with interruptible() as interruptions, attendance(call) as attended:
        run = None
        try:
            with interruptions.held():
                run = make()
            return answer(call, wait_for(call, run, attended, None))
        except KeyboardInterrupt:
            if run is not None:
                _tell_interrupted(call, runs.get(call.store, run.id))
            raise


def _tell_interrupted(call: Call, run: Run) -> None:
    """The run as it is left, and how to come back to it; the executor ends with this command if it was ours."""
    call.emit({"run": shape(run)}, lambda: _sentence(call, run))
    if over(run):
        return
    left = "The agent goes on" if run.status == "running" else f"The run stays {run.status}"
    first = "start an executor with `pam up --detach`, then " if lock.state(call.home).pid == os.getpid() else ""
    output.say(f"{left}; {first}`pam run wait {run.id[:8]}` waits again.")


def over(run: Run) -> bool:
    """Whether nothing more comes: the run has ended and no restart is due."""
    return not run.live and run.retry_at is None


def wait_for(call: Call, run: Run, attended: Callable[[], bool], timeout: float | None) -> Run:
    """The run once it is over, or as it is when ``timeout`` seconds have passed.

    Raises ExecutorNotRunning when ``attended`` says that nobody is there to end it.
    """
    deadline = None if timeout is None else time.monotonic() + timeout
    woken = threading.Event()

    def deliver(events: list[Event]) -> None:
        if any(event.payload.get("run_id") == run.id for event in events):
            woken.set()

    tail = journal.Tail(call.store, deliver).start()
    try:
        told = run.status
        while True:
            woken.clear()
            now = runs.get(call.store, run.id)
            if now.status != told:
                told = now.status
                output.say(f"{now.session_name} is {told}" + _more(now))
            if over(now):
                return now
            if not attended():
                raise _nobody(now)
            left = LOOK_S if deadline is None else min(LOOK_S, deadline - time.monotonic())
            if left <= 0:
                return now
            woken.wait(left)
    finally:
        tail.close()


def _more(run: Run) -> str:
    from app.cli import said
    from screens import chips

    if run.status == "spawning":
        return f" on {run.host}"
    again = chips.restart(run, said.now())
    return f"; {again}" if again else ""


def attended_within(call: Call, *, patience: float) -> Callable[[], bool]:
    """Says whether an executor was there within the last ``patience`` seconds."""
    seen = time.monotonic()

    def attended() -> bool:
        nonlocal seen
        if lock.state(call.home).running:
            seen = time.monotonic()
        return time.monotonic() - seen < patience

    return attended


def _nobody(run: Run) -> ExecutorNotRunning:
    return ExecutorNotRunning(
        f"{run.session_name} is {run.status} and no executor runs, so its end would never be seen. "
        "Start one with `pam up --detach`, or open `pam`.",
        run_id=run.id,
        status=run.status,
    )


def answer(call: Call, run: Run) -> int:
    """The run as the answer, and the exit code that says how it stands."""
    call.emit({"run": shape(run)}, lambda: _sentence(call, run))
    return EXITS[run.status] if over(run) else TIMED_OUT


def _sentence(call: Call, run: Run) -> str:
    from app.cli.said import ended

    why = failure(journal.of_run(call.store, run.id), run) if run.status == "failed" else ""
    return f"{run.session_name} {ended(run)}" + (f": {why}" if why else "")
