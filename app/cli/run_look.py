"""The verbs of ``pam run`` that go to the agent's session: pane and attach."""

from __future__ import annotations

import os
import re
import sys

import click

from app.cli import output
from app.cli.call import Call
from app.cli.declare import argument, command, option
from store.errors import LeaseHeld, NotFound, UsageError
from store.records import Run

_STYLE = re.compile(r"\x1b\[[0-9;:]*m")


@command("pane", prints='{"pane": {"text", "columns", "rows", "taken_at"}}')
@argument("wanted", metavar="RUN")
@option("--ansi", is_flag=True, help="With its colours, as escape sequences.")
@click.pass_obj
def pane(call: Call, wanted: str, ansi: bool) -> None:
    """Print what an agent's screen shows now."""
    from executor.tmux import oneshot
    from store import runs
    from store.clock import utc_now

    run = runs.find(call.store, wanted)
    settings = call.settings.executor
    try:
        seen = oneshot.find_pane(settings, run.session_name)
        rows = oneshot.capture(settings, run.session_name)
    except NotFound as error:
        raise _gone(run) from error
    lines = list(rows) if ansi else [_STYLE.sub("", row).rstrip() for row in rows]
    data = {"text": "\n".join(lines), "columns": seen.columns, "rows": seen.rows, "taken_at": utc_now()}
    while lines and not _STYLE.sub("", lines[-1]).strip():
        lines.pop()
    call.emit({"pane": data}, "\n".join(lines))


@command("attach", prints="nothing: it takes the terminal")
@argument("wanted", metavar="RUN")
@option("--read-only", is_flag=True, help="Look on; what you type goes nowhere.")
@click.pass_obj
def attach(call: Call, wanted: str, read_only: bool) -> None:
    """Give the terminal to an agent's session; ctrl+] gives it back.

    The agent goes on.
    """
    from executor.tmux import oneshot
    from store import leases, runs

    run = runs.find(call.store, wanted)
    if not (output.is_terminal(sys.stdin) and output.is_terminal(sys.stdout)):
        raise UsageError("Attaching needs a terminal; `pam run pane` prints the screen without one.")
    held = leases.holder_of(call.store, run.id)
    if held is not None and not read_only:
        raise LeaseHeld(
            f"{held.holder} types into this run. Look on with --read-only, or take it over with "
            f"`pam run release {run.id[:8]}`.",
            holder=held.holder,
            acquired_at=held.acquired_at,
        )
    settings = call.settings.executor
    try:
        oneshot.find_pane(settings, run.session_name)
    except NotFound as error:
        raise _gone(run) from error
    argv = oneshot.attach_argv(settings, run.session_name, read_only=read_only)
    call.close()
    sys.stdout.flush()
    os.execvpe(argv[0], argv, oneshot.client_environment(os.environ))  # noqa: S606 - an argv of ours, no shell


def _gone(run: Run) -> NotFound:
    short = run.id[:8]
    if run.status in ("pending", "spawning"):
        return NotFound(f"{run.session_name} has no session yet: the run is {run.status}.", run_id=run.id)
    return NotFound(f"The session {run.session_name} is gone; `pam run logs {short}` has its output.", run_id=run.id)
