"""``pam down``: stops the executor, never an agent."""

from __future__ import annotations

import os
import signal
import threading
import time

import click

from app.cli.call import Call
from app.cli.declare import command
from executor import lock
from store.errors import Conflict

GONE_S = 40.0
LOOK_S = 0.05


@command("down", prints='{"executor": {"running", "pid", "hosted_by", "since"}}')
@click.pass_obj
def down(call: Call) -> None:
    """Stop the executor and wait until it is gone; agents go on."""
    state = lock.state(call.home)
    if not state.running:
        call.emit({"executor": state.as_json()}, "No executor runs.")
        return
    if state.hosted_by == "control-room":
        raise Conflict(
            f"The control room (pid {state.pid}) is the executor: leave it with q. Its agents go on.",
            **state.as_json(),
        )
    _end(call, state)
    call.emit(
        {"executor": lock.state(call.home).as_json()}, f"The executor has stopped, pid {state.pid}; agents go on."
    )


def _end(call: Call, state: lock.ExecutorState) -> None:
    """TERM to the holder, once its pid can be read, until nobody holds the lock."""
    asked: int | None = None
    deadline = time.monotonic() + GONE_S
    pause = threading.Event()
    while state.running:
        if state.pid is not None and state.pid != asked:
            if asked is not None:
                return  # the one that was asked is gone; this is another
            asked = state.pid
            _ask(asked)
        if time.monotonic() > deadline:
            raise Conflict(f"The executor (pid {state.pid}) did not stop within {GONE_S:g} s.", **state.as_json())
        pause.wait(LOOK_S)
        state = lock.state(call.home)


def _ask(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGTERM)
    except ProcessLookupError:
        return
    except PermissionError as error:
        raise Conflict(f"The executor (pid {pid}) belongs to another user; ask them to stop it.", pid=pid) from error
