"""``pam run attach`` in real terminals: the lease, the way back, and a terminal that is as it was afterwards."""

from __future__ import annotations

import os
import signal
import subprocess
import termios
from pathlib import Path
from typing import Any

import psutil
import pytest

from store import leases
from tests.cli.conftest import PAM
from tests.cli.test_whole_path import Script, daemon, start, task, until_status
from tests.support.attach_rig import Seat
from tests.support.waiting import until

__all__ = ["daemon", "task"]

ENVIRON = {"TERM": "xterm-256color", "LANG": "C.UTF-8"}


@pytest.fixture
def run_id(pam: Any, task: str, script: Script, daemon: int) -> str:
    started: str = start(script, task, "stty -echo; while read line; do echo heard $line; done")
    until_status(pam, started, "running")
    return started


def seat(*words: str) -> Seat:
    return Seat([str(PAM), "run", "attach", *words], {**os.environ, **ENVIRON}, columns=90, rows=20)


def ended(terminal: Seat) -> int:
    """Its exit code."""
    until(lambda: terminal.read(0.02) == b"" and not terminal.child.isalive(), 10)
    status = terminal.child.exitstatus
    terminal.close()
    return -int(terminal.child.signalstatus) if status is None else int(status)


def held(opened: Any, run_id: str) -> str:
    with opened() as store:
        lease = leases.holder_of(store, run_id)
        return lease.holder if lease else ""


@pytest.mark.parametrize("key", [b"\x1d", b"\x1b[24~", b"\x1b[93;5u"])
def test_typing_holds_the_lease_until_the_way_back(run_id: str, opened: Any, key: bytes) -> None:
    """PAM-ATT-002, 005, PAM-CLI-031."""
    terminal = seat(run_id)
    terminal.write(b"hello\r")
    terminal.until(b"heard hello")
    assert ", terminal " in held(opened, run_id)
    terminal.settle(0.2)
    terminal.write(key)
    assert ended(terminal) == 0
    assert held(opened, run_id) == ""


def test_a_second_one_is_refused_or_takes_over(run_id: str, opened: Any) -> None:
    """PAM-ATT-003, 004: the first is told, and its terminal is given back."""
    first = seat(run_id)
    first.write(b"one\r")
    first.until(b"heard one")
    second = seat(run_id)
    second.until(b"take it over with --force")
    assert ended(second) == 5
    third = seat(run_id, "--force")
    third.write(b"three\r")
    third.until(b"heard three")
    first.until(b"types into this run now")
    assert ended(first) == 5
    third.write(b"\x1d")
    assert ended(third) == 0
    assert held(opened, run_id) == ""


def test_a_reader_has_no_input_and_no_lease(run_id: str, opened: Any) -> None:
    """PAM-ATT-001."""
    reader = seat(run_id, "--read-only")
    reader.until(b"\x1b[?1049h")
    reader.write(b"nothing\r")
    reader.settle(0.4)
    assert held(opened, run_id) == ""
    writer = seat(run_id)
    writer.write(b"something\r")
    reader.until(b"heard something")
    assert b"heard nothing" not in writer.output
    for terminal in (reader, writer):
        terminal.write(b"\x1d")
        assert ended(terminal) == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_told_to_end_it_gives_everything_back(run_id: str, opened: Any, number: signal.Signals) -> None:
    terminal = seat(run_id)
    before = termios.tcgetattr(terminal.child.fd)
    terminal.write(b"hello\r")
    terminal.until(b"heard hello")
    os.kill(terminal.child.pid, number)
    assert_given_back(terminal, before)
    assert held(opened, run_id) == ""


def test_a_client_that_is_killed_leaves_no_modes_behind(run_id: str, opened: Any) -> None:
    """FR-49: also where tmux itself could not clean up."""
    terminal = seat(run_id)
    before = termios.tcgetattr(terminal.child.fd)
    terminal.write(b"hello\r")
    terminal.until(b"heard hello")
    (client,) = psutil.Process(terminal.child.pid).children()
    client.kill()
    assert_given_back(terminal, before)
    assert held(opened, run_id) == ""


def assert_given_back(terminal: Seat, before: list[Any]) -> None:
    """No alternate screen is left, and the line is edited and echoed as before."""
    terminal.until(b"\x1b[?1049l")
    until(lambda: terminal.read(0.02) == b"" and not terminal.child.isalive(), 10)
    assert termios.tcgetattr(terminal.child.fd)[:4] == before[:4]
    terminal.close()


def test_inside_a_tmux_of_the_operators(run_id: str, tmp_path: Path, opened: Any) -> None:
    """FR-52: that one's marks don't keep it from attaching, and it stays as it is."""
    command = f"exec {PAM} run attach {run_id}"
    base = ["tmux", "-u", "-f", "/dev/null", "-L", "operator"]
    subprocess.run([*base, "new-session", "-d", "-x", "90", "-y", "20", "-s", "mine", command], check=True)
    try:
        until(lambda: held(opened, run_id), 10)
        subprocess.run([*base, "send-keys", "-t", "mine", "inside", "Enter"], check=True)

        def seen() -> bool:
            shown = subprocess.run([*base, "capture-pane", "-p", "-t", "mine"], capture_output=True, text=True)
            return "heard inside" in shown.stdout

        until(seen, 10)
        subprocess.run([*base, "send-keys", "-t", "mine", "F12"], check=True)
        until(lambda: not held(opened, run_id), 10)
    finally:
        subprocess.run([*base, "kill-server"], check=False)
