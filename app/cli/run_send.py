"""``pam run send`` and ``pam run keys``: what is typed into an agent, and what became of it."""

from __future__ import annotations

import threading
import time

import click

from app.cli import output
from app.cli.call import Call
from app.cli.declare import argument, command, option
from app.cli.prompt_text import read_text
from app.cli.run_start import tell_without_executor
from app.cli.run_wait import LOOK_S, PATIENCE_S, TIMED_OUT, attended_within
from app.cli.shapes import shape
from executor import lock
from store import deliveries, journal, runs
from store.errors import Conflict, ExecutorNotRunning, UsageError
from store.records import Delivery, Event, Run

UNCONFIRMED = 23
PRINTS = '{"delivery": {"id", "run_id", "kind", "status", "reason", …}, "delivered": true, false or null, "evidence"}'


@command("send", prints=PRINTS)
@argument("wanted", metavar="RUN")
@argument("text", metavar="[TEXT]", required=False)
@option("--file", "file_", metavar="F", help="The prompt from a file; - is stdin.")
@option("--no-wait", is_flag=True, help="Queue it and return at once.")
@option("--timeout", type=click.FloatRange(min=0), metavar="S", help="Seconds to wait at most; then exit 22.")
@click.pass_obj
def send(call: Call, wanted: str, text: str | None, file_: str | None, no_wait: bool, timeout: float | None) -> int:
    """Type a prompt into an agent, submit it, and see that it was taken up.

    Exit 0 when it was, or was typed into an agent that has no way to say so; 4 when nothing was typed, with the reason;
    23 when it was typed and the agent did not say that it took it up. TEXT may be - for stdin.
    """
    words = _words(text, file_)
    run = _found(call, wanted, wait=not no_wait)
    made = deliveries.queue_prompt(call.store, run.id, words, actor=call.actor)
    return _go_on(call, run, made, wait=not no_wait, timeout=timeout)


@command("keys", prints=PRINTS)
@argument("wanted", metavar="RUN")
@argument("keys_", nargs=-1, metavar="[KEY]...")
@option("--text", "typed", metavar="T", default="", help="Letters to type before the keys; a prompt goes with `send`.")
@option("--no-wait", is_flag=True, help="Queue them and return at once.")
@option("--timeout", type=click.FloatRange(min=0), metavar="S", help="Seconds to wait at most; then exit 22.")
@click.pass_obj
def keys(call: Call, wanted: str, keys_: tuple[str, ...], typed: str, no_wait: bool, timeout: float | None) -> int:
    """Press keys in an agent's session, to answer what it asks.

    A KEY is Enter, Escape, Tab, BackTab, Space, Up, Down, Left, Right, Home, End, PageUp, PageDown, Backspace, Delete,
    C-c, C-d, or a single character such as y or 1.
    """
    from executor.tmux.commands.keying import check_keys, check_typed

    check_keys(keys_)
    if typed:
        check_typed(typed)
    run = _found(call, wanted, wait=not no_wait)
    made = deliveries.queue_keys(call.store, run.id, keys_, typed=typed, actor=call.actor)
    return _go_on(call, run, made, wait=not no_wait, timeout=timeout)


def _words(text: str | None, file: str | None) -> str:
    if (text is None) == (file is None):
        raise UsageError("Give the prompt once: as TEXT, or with --file.")
    return read_text(file or "-") if text in (None, "-") else str(text)


def _found(call: Call, wanted: str, *, wait: bool) -> Run:
    """The run; with ``wait`` somebody must be there to do it, or what is queued would be typed at some later time."""
    run = runs.find(call.store, wanted)
    if wait and run.live and not lock.state(call.home).running:
        raise _nobody(run, "so nothing is typed, and nothing was queued")
    return run


def _nobody(run: Run, what: str) -> ExecutorNotRunning:
    return ExecutorNotRunning(
        f"No executor runs, {what}. Start one with `pam up --detach`, or open `pam`.", run_id=run.id, status=run.status
    )


def _go_on(call: Call, run: Run, made: Delivery, *, wait: bool, timeout: float | None) -> int:
    if not wait:
        what = "prompt" if made.kind == "prompt" else "keys"
        call.emit(_shape(made), f"{what} for {run.session_name} queued")
        tell_without_executor(call)
        return 0
    delivery = _until_over(call, run, made, timeout)
    if delivery.status == "refused":
        raise Conflict(
            f"Nothing was typed into {run.session_name}. {delivery.reason}",
            run_id=run.id,
            delivery_id=delivery.id,
            reason=delivery.reason,
        )
    call.emit(_shape(delivery), f"{run.session_name}: {_evidence(delivery)}")
    if not delivery.over:
        return TIMED_OUT
    return UNCONFIRMED if delivery.status == "unconfirmed" else 0


def _until_over(call: Call, run: Run, made: Delivery, timeout: float | None) -> Delivery:
    """The delivery once it is settled, or as it is when the time is up; woken by the journal."""
    deadline = None if timeout is None else time.monotonic() + timeout
    attended = attended_within(call, patience=PATIENCE_S)
    woken = threading.Event()

    def deliver(events: list[Event]) -> None:
        if any(event.payload.get("delivery_id") == made.id for event in events):
            woken.set()

    tail = journal.Tail(call.store, deliver).start()
    try:
        told = False
        while True:
            woken.clear()
            now = deliveries.get(call.store, made.id)
            if now.over:
                return now
            if not attended():
                raise _nobody(run, "so what is queued waits for one")
            if now.status == "typed" and not told:
                told = True
                output.say("Typed; waiting for the agent's word that it took it up.")
            left = LOOK_S if deadline is None else min(LOOK_S, deadline - time.monotonic())
            if left <= 0:
                return now
            woken.wait(left)
    finally:
        tail.close()


def _shape(delivery: Delivery) -> dict[str, object]:
    return {"delivery": shape(delivery), "delivered": delivery.delivered, "evidence": _evidence(delivery)}


def _evidence(delivery: Delivery) -> str:
    """What is known of it, in a sentence."""
    prompt = delivery.kind == "prompt"
    match delivery.status:
        case "queued":
            return "Nothing was typed yet."
        case "delivering":
            return "It is being typed."
        case "typed" if delivery.awaited:
            return "The prompt was typed; the agent's word that it took it up is still to come."
        case "typed":
            return (
                "The prompt was typed and submitted; this agent cannot say more."
                if prompt
                else "The keys were pressed."
            )
        case "confirmed":
            return "The prompt was typed, and the agent says that it took it up."
    return delivery.reason or delivery.status
