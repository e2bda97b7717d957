"""``pam run logs``."""

from __future__ import annotations

import os
import subprocess
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.cli.log_reader import LogReader
from store import runs
from tests.cli.conftest import PAM, Answer, Pam
from tests.support.tmux_server import SOCKET, TmuxSandbox

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


def test_a_rotation_caught_in_the_middle_hides_nothing(pam: Pam, run_id: str, log: Path) -> None:
    """The old part is aside and the new one not begun: what was written is there all the same."""
    log.rename(log.with_name(log.name + ".1"))
    assert pam("run", "logs", run_id).out == "green\nwhole\n"


def rotate(log: Path) -> None:
    """What the executor does, and the pane's new writer."""
    log.replace(log.with_name(log.name + ".1"))
    log.touch()


@settings(max_examples=60)
@given(st.lists(st.sampled_from(["write", "write", "rotate", "look"]), max_size=40))
def test_a_follower_sees_every_byte_once(steps: list[str]) -> None:
    """Whatever is written and rotated between its looks, as long as what it is at is not gone: one rotation a look."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "run.log"
        log.touch()
        reader = LogReader(log)
        written = seen = b""
        rotated = False
        for number, step in enumerate([*steps, "look", "look", "look"]):
            if step == "write":
                word = b"%d\n" % number
                written += word
                with log.open("ab") as file:
                    file.write(word)
            elif step == "rotate" and not rotated and number:
                rotate(log)
                rotated = True
            elif step == "look":
                seen += b"".join(reader.new())
                rotated = False
        reader.close()
        assert seen == written


def test_following_goes_over_the_executors_own_rotations(
    pam: Pam, home: Path, tmux_sandbox: TmuxSandbox, script: Callable[..., Answer], tmp_path: Path
) -> None:
    """PAM-OBS-011, rulings X-37: the follower has every line, though the log keeps only the last ones."""
    pam("init")
    (home / "config.toml").write_text(
        f'[tmux]\nsocket = "{SOCKET}"\n[executor]\nlog_max_bytes = 8192\nlog_check_s = 0.1\nhold_open_s = 60\n'
    )
    pam.project("Checkout service", "--cwd", str(tmp_path))
    task = pam.task()["id"]
    script("up", "--detach")
    try:
        loop = "i=0; while [ $i -lt 4000 ]; do i=$((i+1)); echo line-$i; [ $((i % 50)) = 0 ] && sleep 0.05; done"
        started = script("run", "start", "--task", task, "--provider", "shell", "--json", "--", "sh", "-c", loop)
        run_id = started.json["run"]["id"]
        followed = script("run", "logs", run_id, "--follow", timeout=60)
        kept = script("run", "logs", run_id)
    finally:
        script("down")
    assert [line for line in followed.out.splitlines() if line.startswith("line-")] == [
        f"line-{number}" for number in range(1, 4001)
    ]
    assert "line-1\n" not in kept.out
    assert "line-4000\n" in kept.out
