"""``pam run attach``: the operator's terminal becomes an agent's, with the right to type while it lasts."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Final

import click

from app.attaching import HEARTBEAT_S
from app.cli import output
from app.cli.call import Call
from app.cli.declare import argument, command, option
from store.errors import LeaseHeld, NotFound, UsageError
from store.records import Run

LOOK_S: Final = 0.5
"""How soon a right to type that was taken away is noticed."""
LEAVE_KEYS: Final = "ctrl+right_square_bracket,f12"
_AS_BEFORE: Final = (
    "\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1005l\x1b[?1006l\x1b[?1015l\x1b[?1004l\x1b[?2004l\x1b[?1l\x1b>"
    "\x1b[>4;0m\x1b[<u\x1b[?1049l\x1b[?25h\x1b[0 q\x1b[m\r\n"
)
"""What a terminal client switches on, switched off; a client that was killed could not."""


@command("attach", prints="nothing: it takes the terminal")
@argument("wanted", metavar="RUN")
@option("--read-only", is_flag=True, help="Look on; what you type goes nowhere.")
@option("--force", is_flag=True, help="Take the right to type from whoever holds it.")
@click.pass_obj
def attach(call: Call, wanted: str, read_only: bool, force: bool) -> None:
    """Give the terminal to an agent's session; ctrl+] or F12 gives it back.

    The agent goes on. One at a time types; while you do, the session has your terminal's size.
    """
    from executor.tmux import oneshot
    from store import runs

    run = runs.find(call.store, wanted)
    if not (output.is_terminal(sys.stdin) and output.is_terminal(sys.stdout)):
        raise UsageError("Attaching needs a terminal; `pam run pane` prints the screen without one.")
    settings = call.settings.executor
    try:
        oneshot.find_pane(settings, run.session_name)
    except NotFound as error:
        raise gone(run) from error
    environ = oneshot.client_environment(os.environ)
    if read_only:
        with _terminal_as_before() as ended:
            ended(_client(oneshot.attach_argv(settings, run.session_name, read_only=True), environ).wait())
        return
    keys = call.settings.keys.get("terminal.leave", LEAVE_KEYS).split(",")
    _type(call, run, oneshot.typing_argv(settings, run.session_name, keys), environ, force)


def gone(run: Run) -> NotFound:
    """That a run has no session, with what to do."""
    short = run.id[:8]
    if run.status in ("pending", "spawning"):
        return NotFound(f"{run.session_name} has no session yet: the run is {run.status}.", run_id=run.id)
    return NotFound(f"The session {run.session_name} is gone; `pam run logs {short}` has its output.", run_id=run.id)


def _type(call: Call, run: Run, argv: Sequence[str], environ: Mapping[str, str], force: bool) -> None:
    """Hold the right to type for as long as the client lives; end the client when it is taken away."""
    from app import attaching
    from store import leases

    mine = attaching.holder("terminal")
    try:
        attaching.take(call.store, run.id, mine, force=force, actor=call.actor)
    except LeaseHeld as held:
        raise LeaseHeld(
            f"{held.details['holder']} types into this run. Look on with --read-only, or take it over with --force.",
            **held.details,
        ) from held
    said = ""
    try:
        with _terminal_as_before() as ended:
            client = _client(argv, environ)
            with _ending_with_us(client):
                said = _watch(call, run, mine, client)
            ended(client.wait())
    finally:
        leases.release(call.store, run.id, mine, actor=call.actor)
    if said:
        raise LeaseHeld(said)


def _watch(call: Call, run: Run, mine: str, client: subprocess.Popen[bytes]) -> str:
    """Wait for the client's end; a sentence when it was ended because another types now."""
    from app import attaching
    from store import leases

    beat = time.monotonic() + HEARTBEAT_S
    while True:
        with suppress(subprocess.TimeoutExpired):
            client.wait(LOOK_S)
            return ""
        held = leases.holder_of(call.store, run.id)
        if held is None or held.holder != mine:
            client.terminate()
            return attaching.lost(call.store, run.id)
        if time.monotonic() > beat:
            leases.renew(call.store, run.id, mine, actor=call.actor)
            beat = time.monotonic() + HEARTBEAT_S


def _client(argv: Sequence[str], environ: Mapping[str, str]) -> subprocess.Popen[bytes]:
    sys.stdout.flush()
    return subprocess.Popen(argv, env=environ)


@contextmanager
def _ending_with_us(client: subprocess.Popen[bytes]) -> Iterator[None]:
    """What tells us to end, tells the client: it gives the terminal back."""

    def end(_number: int, _frame: FrameType | None) -> None:
        client.terminate()

    numbers = (signal.SIGTERM, signal.SIGHUP)
    before = [signal.signal(number, end) for number in numbers]
    ignored = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)
        signal.signal(signal.SIGINT, ignored)


@contextmanager
def _terminal_as_before() -> Iterator[Callable[[int], None]]:
    """The terminal is as it was afterwards; tell what is yielded how the client ended, as one killed left its modes."""
    fd = sys.stdin.fileno()
    before = termios.tcgetattr(fd)
    killed = True

    def ended(status: int) -> None:
        nonlocal killed
        killed = status < 0

    try:
        yield ended
    finally:
        with suppress(termios.error, OSError):
            if killed:
                os.write(sys.stdout.fileno(), _AS_BEFORE.encode())
            termios.tcsetattr(fd, termios.TCSADRAIN, before)
