"""``pam run pane``: what an agent's screen shows now."""

from __future__ import annotations

import re

import click

from app.cli.call import Call
from app.cli.declare import argument, command, option
from app.cli.run_attach import gone
from store.errors import NotFound

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
        raise gone(run) from error
    lines = list(rows) if ansi else [_STYLE.sub("", row).rstrip() for row in rows]
    data = {"text": "\n".join(lines), "columns": seen.columns, "rows": seen.rows, "taken_at": utc_now()}
    while lines and not _STYLE.sub("", lines[-1]).strip():
        lines.pop()
    call.emit({"pane": data}, "\n".join(lines))
