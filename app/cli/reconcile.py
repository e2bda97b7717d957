"""``pam reconcile``: what differs between the store and what lives, shown, or put right by the executor."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

import click

from app.cli import output
from app.cli.call import Call
from app.cli.declare import command, option
from app.cli.table import table

if TYPE_CHECKING:
    from store.records import Event, Host

Shape = dict[str, object]

PATIENCE_S = 60.0
"""How much longer than a ladder the executor may take to answer."""
LOOK_S = 1.0


@command(
    "reconcile",
    prints='{"plan": [{"host", "subject", "desired", "observed", "action", "reason", "done", "run_id", "attempt"}]}',
)
@option("--dry-run", is_flag=True, help="Show the plan and change nothing; works without an executor, too.")
@option("--host", metavar="HOST", help="Only this host.")
@click.pass_obj
def reconcile(call: Call, dry_run: bool, host: str | None) -> None:
    """Compare runs with the sessions and agents that live, and put right what differs.

    The executor does so by itself; this asks it to do it now, and waits. The plan lists what differs: nothing is done
    about what cannot be known, and never anything to a session that is not pam's.
    """
    from store import hosts

    wanted = [hosts.get(call.store, host)] if host else hosts.list_all(call.store)
    steps, kept = _look(call, wanted) if dry_run else _ask(call, wanted, host)
    call.emit({"plan": steps}, lambda: _text(steps, kept))


def _look(call: Call, wanted: Sequence[Host]) -> tuple[list[Shape], int]:
    from executor import lock
    from executor.supervision.dry_run import dry_run

    attended = lock.state(call.home).running
    steps = [
        step
        for host in wanted
        for step in asyncio.run(dry_run(call.store, call.home.path, call.settings.executor, host, attended=attended))
    ]
    shown = [step.as_json() for step in steps if step.action != "keep"]
    return shown, len(steps) - len(shown)


def _ask(call: Call, wanted: Sequence[Host], named: str | None) -> tuple[list[Shape], int]:
    from store import journal, reconciling

    _check_attended(call)
    answering = [host.name for host in wanted if host.status in ("online", "disabled")]
    silent = [host for host in wanted if host.name not in answering]
    answers: dict[str, Event] = {}
    woken = threading.Event()

    def deliver(events: list[Event]) -> None:
        for event in events:
            if reconciling.is_answer(event, request):
                answers.setdefault(str(event.payload.get("host")), event)
        woken.set()

    request = reconciling.request(call.store, named, actor=call.actor)
    tail = journal.Tail(call.store, deliver, after=request).start()
    try:
        deadline = time.monotonic() + call.settings.executor.grace_s + PATIENCE_S
        while not answers.keys() >= set(answering) and time.monotonic() < deadline:
            woken.clear()
            _check_attended(call)
            woken.wait(LOOK_S)
    finally:
        tail.close()
    steps = [step for name in answering for step in _told(name, answers.get(name))]
    steps += [_unknown(host.name, f"the host is {host.status}; it is reconciled when it comes back") for host in silent]
    return steps, sum(cast("int", event.payload.get("kept", 0)) for event in answers.values())


def _check_attended(call: Call) -> None:
    from executor import lock
    from store.errors import ExecutorNotRunning

    if not lock.state(call.home).running:
        raise ExecutorNotRunning(
            "No executor runs that could put anything right. Start one with `pam up --detach`, it reconciles as it "
            "starts; or see what it would do with `pam reconcile --dry-run`."
        )


def _told(name: str, answer: Event | None) -> list[Shape]:
    if answer is None:
        return [_unknown(name, "its executor did not answer in time; it may still be at it")]
    left_out = answer.payload.get("left_out")
    if left_out:
        output.say(f"{left_out} more steps on {name} are not listed; the log of the executor has them.")
    return cast("list[Shape]", answer.payload.get("plan") or [])


def _unknown(name: str, reason: str) -> Shape:
    from executor.supervision.plan import Step

    return Step(name, name, "an answer", "unknown", "wait", reason).as_json()


def _text(steps: Sequence[Shape], kept: int) -> str:
    rows = [
        [
            *(str(step[name]) for name in ("host", "subject", "desired", "observed", "action")),
            "-" if step["action"] == "wait" else "yes" if step["done"] else "no",
            str(step["reason"]),
        ]
        for step in steps
    ]
    heads = ("HOST", "SUBJECT", "SHOULD BE", "IS", "ACTION", "DONE", "WHY")
    well = "1 session is as it should be" if kept == 1 else f"{kept} sessions are as they should be"
    return table(heads, rows, empty=f"Nothing to do: {well}.")
