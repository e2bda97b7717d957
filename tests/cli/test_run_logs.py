"""``pam run logs``."""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from store import runs
from tests.cli.conftest import PAM, Pam

RAW = b"\x1b[32mgreen\x1b[0m\r\nhalf\rwhole\r\n"


@pytest.fixture
def run_id(pam: Pam, opened: Callable[[], Any]) -> str:
    """A pending run."""
    pam.project()
    task = pam.task()
    with opened() as store:
        return runs.start(store, task["id"], "demo", "/tmp", actor="operator").id


@pytest.fixture
def log(home: Path, run_id: str) -> Path:
    """Its log, with something in it."""
    path = home / "runs" / f"{run_id}.log"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(RAW)
    return path


def test_plain_raw_and_json(pam: Pam, run_id: str, log: Path) -> None:
    """PAM-CLI-028."""
    assert pam("run", "logs", run_id).out == "green\nwhole\n"
    assert subprocess.check_output([str(PAM), "run", "logs", run_id, "--raw"]) == RAW
    told = pam.json("run", "logs", run_id)["log"]
    assert told == {"text": "green\nwhole\n", "path": str(log), "bytes": len(RAW)}


def test_what_was_rotated_away_comes_first(pam: Pam, run_id: str, log: Path) -> None:
    log.with_name(log.name + ".1").write_bytes(b"older\n")
    assert pam("run", "logs", run_id).out == "older\ngreen\nwhole\n"


def test_follow_goes_on_until_the_run_has_ended(pam: Pam, run_id: str, log: Path) -> None:
    """What comes is given as it comes, a rotation loses nothing, and the end of the run ends it."""
    argv = [str(PAM), "run", "logs", run_id, "--follow"]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True, env=dict(os.environ)) as following:
        assert following.stdout is not None
        guard = threading.Timer(30, following.kill)
        guard.start()
        assert [following.stdout.readline() for _ in range(2)] == ["green\n", "whole\n"]
        with log.open("ab") as file:
            file.write(b"more\n")
        assert following.stdout.readline() == "more\n"
        with log.open("ab") as file:
            file.write(b"last of the old\n")
        log.rename(log.with_name(log.name + ".1"))
        log.write_bytes(b"first of the new\n")
        assert following.stdout.readline() == "last of the old\n"
        assert following.stdout.readline() == "first of the new\n"
        pam("run", "stop", run_id)
        assert following.stdout.read() == ""
        assert following.wait(10) == 0
        guard.cancel()


def test_following_a_run_that_has_ended_is_reading_it(pam: Pam, run_id: str, log: Path) -> None:
    pam("run", "stop", run_id)
    assert pam("run", "logs", run_id, "--follow").out == "green\nwhole\n"
