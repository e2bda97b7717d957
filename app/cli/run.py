"""``pam run``: agents at work, listed and shown; what starts, ends and watches them is loaded when called."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from app.cli.call import Call
from app.cli.declare import argument, choice, group, option
from app.cli.shapes import shape, shapes, short_ids, with_tokens
from store.records import LIVE_RUN_STATUSES, RUN_STATUSES, Run, RunStatus

if TYPE_CHECKING:
    from executor.metrics import Usage

MORE = {
    "start": ("app.cli.run_start:start", "Start an agent on a task."),
    "wait": ("app.cli.run_wait:wait", "Wait until a run has ended."),
    "send": ("app.cli.run_send:send", "Type a prompt into an agent, submit it, and see that it was taken up."),
    "keys": ("app.cli.run_send:keys", "Press keys in an agent's session, to answer what it asks."),
    "resume": (
        "app.cli.run_resume:resume",
        "Go on with the conversation of a run that ended, in a new run of the same item and on the same host.",
    ),
    "stop": ("app.cli.run_change:stop", "Ask a run to stop."),
    "restart": ("app.cli.run_change:restart", "Queue a failed run again, as its next attempt."),
    "release": ("app.cli.run_change:release", "Take the right to type from whoever holds it."),
    "pane": ("app.cli.run_look:pane", "Print what an agent's screen shows now."),
    "logs": ("app.cli.run_logs:logs", "Print what a run has written since it began."),
    "attach": ("app.cli.run_attach:attach", "Give the terminal to an agent's session; ctrl+] or F12 gives it back."),
}


@group("run", lazy=MORE)
def run() -> None:
    """Runs: agents at work in tmux sessions."""


@run.command("list", prints='{"runs": [{…, "tokens": {…}}]}')
@option("--task", metavar="I", help="Only runs of this item.")
@option("--project", "project_", metavar="P", help="Only runs of this project.")
@option("--status", type=choice(RUN_STATUSES), help="Only those.")
@option("--live", is_flag=True, help="Only those whose agent lives or is about to.")
@click.pass_obj
def list_(call: Call, task: str | None, project_: str | None, status: RunStatus | None, live: bool) -> None:
    """List runs, the newest first."""
    from app.cli.said import run_table
    from store import items, projects, runs, usage

    store = call.store
    wanted = [each for each in RUN_STATUSES if status in (None, each) and (not live or each in LIVE_RUN_STATUSES)]
    found = (
        runs.list_all(
            store,
            task_id=items.find(store, task).id if task else None,
            project_id=projects.find(store, project_).id if project_ else None,
            statuses=wanted,
        )
        if wanted
        else []
    )
    used = usage.of_runs(store, [each.id for each in found])
    call.emit(
        {"runs": with_tokens(found, used)},
        lambda: run_table(
            found,
            short_ids(each.id for each in found),
            {task_id: items.get(store, task_id).title for task_id in {each.task_id for each in found}},
            used,
        ),
    )


@run.command(
    "show", prints='{"run": {…, "signals": […], "lease", "silence", "usage": {…}, "tokens": {…}, "deliveries": […]}}'
)
@argument("wanted", metavar="RUN")
@click.pass_obj
def show(call: Call, wanted: str) -> None:
    """Show a run, the signals about it, what it takes of this machine and of its model, and its history."""
    from app.cli.run_text import completion, page, signals
    from store import deliveries, journal, leases, runs, silence, usage

    found = runs.find(call.store, wanted)
    events = journal.of_run(call.store, found.id)
    lease = leases.holder_of(call.store, found.id)
    silent = silence.current(call.store).get(found.id)
    taken = _usage(found)
    more = {"lease": shape(lease) if lease else None, "silence": shape(silent) if silent else None}
    more["completion"] = completion(events, found)
    more["usage"] = shape(taken) if taken else None
    used = usage.of_run(call.store, found.id)
    more["tokens"] = shape(used) if used else None
    typed = shapes(deliveries.of_run(call.store, found.id))
    call.emit(
        {"run": {**shape(found), "signals": signals(events), **more, "deliveries": typed}},
        lambda: page(call.store, found, events, lease, silent, taken, used),
    )


def _usage(run: Run) -> Usage | None:
    """What a live agent of this machine takes now, measured here and only because somebody asks."""
    if run.status != "running":
        return None
    from executor.metrics import local_wrapper, usage

    wrapper = local_wrapper(run)
    return usage(wrapper) if wrapper else None
