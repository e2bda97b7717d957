"""``pam status``: what is going on, on one page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import click

from app.cli.call import Call
from app.cli.declare import command
from app.cli.shapes import shapes, short_ids
from app.cli.table import facts, section, table
from store.records import RUN_STATUSES, Run, RunStatus

if TYPE_CHECKING:
    from executor.lock import ExecutorState


@command(
    "status",
    prints='{"executor": {"running", "pid", "hosted_by", "since"}, "hosts": […], "runs": {status: n}, "waiting": […]}',
)
@click.pass_obj
def status(call: Call) -> None:
    """Show executor, hosts, runs by status, and which agents wait for you."""
    from app.cli.host import host_table
    from executor import lock
    from screens.chips import waits
    from store import hosts, items, runs

    store = call.store
    executor = lock.state(call.home)
    found = hosts.list_all(store)
    counts = runs.counts(store)
    waiting = [run for run in runs.live(store) if waits(run)]
    data = {
        "executor": executor.as_json(),
        "hosts": shapes(found),
        "runs": {status: counts.get(status, 0) for status in RUN_STATUSES},
        "waiting": shapes(waiting),
    }
    call.emit(
        data,
        lambda: (
            _head(executor, counts)
            + section("Hosts", host_table(found))
            + section(
                "Waiting for you",
                _waiting(waiting, {run.task_id: items.get(store, run.task_id).title for run in waiting}),
            )
        ),
    )


def executor_words(state: ExecutorState) -> str:
    """Who makes runs happen, or how to have somebody."""
    from app.cli.said import ago

    if not state.running:
        return "not running; start one with `pam up --detach`, or open the control room with `pam`"
    who = {"control-room": "the control room", "headless": "pam up", "command": "a waiting command"}
    since = f", since {ago(state.since)}" if state.since else ""
    return f"running: {who.get(state.hosted_by or '', 'another process')}, pid {state.pid}{since}"


def _head(executor: ExecutorState, counts: Mapping[RunStatus, int]) -> str:
    numbers = ", ".join(f"{counts[status]} {status}" for status in RUN_STATUSES if counts.get(status))
    return facts([("executor", executor_words(executor)), ("runs", numbers or "none")])


def _waiting(found: Sequence[Run], titles: Mapping[str, str]) -> str:
    from app.cli.said import ago
    from screens.chips import note

    short = short_ids(run.id for run in found)
    rows = [[short(run.id), run.provider, ago(run.activity_at), titles[run.task_id], note(run)] for run in found]
    return table(("RUN", "PROVIDER", "SINCE", "TASK", "SAYS"), rows, empty="")
