"""``pam up``: be the executor without a screen, here or as a daemon."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import click

from app.cli import output
from app.cli.call import Call
from app.cli.declare import command, option
from app.own_command import own_command
from executor import lock
from store import errors
from store.errors import ExecutorNotRunning, PamError
from store.home import DIRECTORY_MODE, FILE_MODE, Home

READY_S = 45.0
"""Longer than an executor may take to start, so that its own word comes first."""


@command("up", prints='{"executor": {"running", "pid", "hosted_by", "since"}}')
@option("--detach", is_flag=True, help="As a daemon: returns once it runs.")
@click.pass_obj
def up(call: Call, detach: bool) -> int:
    """Be the executor of this home, until interrupted. Stopping it never stops an agent."""
    return _detach(call) if detach else _serve(call)


def _serve(call: Call) -> int:
    from app.cli.hosting import hosting, interruptible

    _mention_catalog(call)
    try:
        with interruptible(), hosting(call, "headless") as thread:
            state = lock.state(call.home)
            call.emit({"executor": state.as_json()}, f"The executor of {call.home.path} runs, pid {state.pid}.")
            sys.stdout.flush()
            thread.wait()
    except KeyboardInterrupt:
        output.say("The executor has stopped; agents go on.")
        return 0
    raise ExecutorNotRunning(f"The executor has ended by itself; {call.home.log} says why.")


def _mention_catalog(call: Call) -> None:
    """A fault of the catalog stops no executor: it waits for the file to be mended. The operator hears of it."""
    try:
        _ = call.catalog
    except errors.ConfigError as error:
        output.say(error.message)


def _detach(call: Call) -> int:
    if _runs_already(call):
        return 0
    _ = call.settings, call.store
    call.close()
    log = _daemon_log(call.home)
    flags = ["--home", str(call.home.path), "--config", call.config_named][: 4 if call.config_named else 2]
    with log.open("ab") as narration:
        daemon = subprocess.Popen(
            own_command("up", "--json", *filter(None, flags)),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=narration,
            cwd="/",
            env=dict(call.environ),
            start_new_session=True,
        )
    answer = _first_answer(daemon)
    if "executor" in answer:
        call.emit(answer, f"The executor runs, pid {daemon.pid}; `pam down` stops it.")
        return 0
    if _runs_already(call):  # another process was faster: two of these at once, or a control room
        return 0
    raise _as_error(answer.get("error"), log)


def _runs_already(call: Call) -> bool:
    """Whether there is an executor; if so, it is the answer."""
    state = lock.state(call.home)
    if state.running:
        call.emit({"executor": state.as_json()}, f"An executor runs already, pid {state.pid}.")
    return state.running


def _daemon_log(home: Home) -> Path:
    log = home.log.with_name("executor.log")
    try:
        log.parent.mkdir(mode=DIRECTORY_MODE, parents=True, exist_ok=True)
        os.close(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, FILE_MODE))
    except OSError as error:
        raise errors.StoreUnavailable(f"{log} cannot be written: {error.strerror}.", path=str(log)) from error
    return log


def _first_answer(daemon: subprocess.Popen[bytes]) -> Mapping[str, object]:
    """The one JSON object the daemon says, when it runs or when it could not; empty when it says nothing in time."""
    assert daemon.stdout is not None
    with daemon.stdout:
        if not select.select([daemon.stdout], [], [], READY_S)[0]:
            daemon.kill()
            return {}
        try:
            answer = json.loads(daemon.stdout.readline() or b"{}")
        except ValueError:
            return {}
    return answer if isinstance(answer, dict) else {}


def _as_error(told: object, log: Path) -> PamError:
    """The daemon's error, as an error of this process with the same code."""
    if not isinstance(told, dict):
        return ExecutorNotRunning(f"The executor did not start; {log} says what it said.", log=str(log))
    kinds = {kind.code: kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, PamError)}
    return kinds.get(str(told.get("code")), ExecutorNotRunning)(str(told.get("message")), **told.get("details") or {})
