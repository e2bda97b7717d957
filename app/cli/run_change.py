"""The verbs of ``pam run`` that change a run: stop, restart, release."""

from __future__ import annotations

import click

from app.cli import output
from app.cli.call import Call
from app.cli.declare import argument, command
from app.cli.shapes import shape
from store.records import Run


@command("stop", prints='{"run": {…}}')
@argument("wanted", metavar="RUN")
@click.pass_obj
def stop(call: Call, wanted: str) -> None:
    """Ask a run to stop; returns at once. The executor sends TERM, then KILL, and sees to it that all is gone.

    A failed run that waits for its restart is not restarted.
    """
    from app.cli.run_start import tell_without_executor
    from store import runs

    found = runs.find(call.store, wanted)
    run = runs.request_stop(call.store, found.id, actor=call.actor)
    called_off = "stays failed; its restart is called off"
    said = "is asked to stop" if run.live else called_off if run.status == "failed" else run.status
    call.emit({"run": shape(run)}, f"{run.session_name} {said}")
    if run.live:
        tell_without_executor(call)


@command("restart", prints='{"run": {…}}')
@argument("wanted", metavar="RUN")
@click.pass_obj
def restart(call: Call, wanted: str) -> None:
    """Queue a failed run again, as its next attempt: at once, and also when its attempts are used up."""
    from app.cli.run_start import tell_without_executor
    from store import runs

    found = runs.find(call.store, wanted)
    run: Run = runs.requeue(call.store, found.id, actor=call.actor)
    call.emit({"run": shape(run)}, f"{run.session_name} is {run.status}, attempt {run.attempt}")
    tell_without_executor(call)


@command("release", prints='{"lease": null, "was": {…} or null}')
@argument("wanted", metavar="RUN")
@click.pass_obj
def release(call: Call, wanted: str) -> None:
    """Take the right to type from whoever holds it; `pam run show` says who does."""
    from store import leases, runs

    found = runs.find(call.store, wanted)
    was = leases.release(call.store, found.id, actor=call.actor)
    text = (
        f"{was.holder} no longer types into {found.session_name}." if was else "Nobody had the right to type into it."
    )
    call.emit({"lease": None, "was": shape(was) if was else None}, output.clean(text))
