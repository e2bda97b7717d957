"""The way out of every call: an answer that arrives, or an exit code and a sentence that stand without it."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import PAM, Answer, Pam

Script = Callable[..., Answer]
UNKNOWN = ("task", "show", "dead", "--json")
"""A call that fails with 3."""

BUFFERED = [None, "1"]
"""Values of PYTHONUNBUFFERED: an answer that waits in the buffer fails later than one that does not."""


def redirected(line: str, *words: str, unbuffered: str | None = None) -> subprocess.CompletedProcess[str]:
    """The console script under a shell's redirections."""
    env = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    env |= {"PYTHONUNBUFFERED": unbuffered} if unbuffered else {}
    return subprocess.run(
        ["sh", "-c", line, str(PAM), *words], capture_output=True, text=True, env=env, timeout=60, check=False
    )


def left_early(stream: str, *words: str, unbuffered: str | None) -> tuple[int, str]:
    """Exit code and what the other stream holds, when nobody reads ``stream`` from the start."""
    reading, writing = os.pipe()
    os.close(reading)
    env = {**os.environ, "PYTHONUNBUFFERED": unbuffered or ""}
    with os.fdopen(writing, "wb") as pipe:
        streams: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, stream: pipe}
        done = subprocess.run([str(PAM), *words], **streams, text=True, env=env, timeout=60, check=False)
    return done.returncode, done.stderr if stream == "stdout" else done.stdout


@pytest.mark.parametrize("noun", ["run", "task", "project", "host", "provider", "events", "config"])
def test_a_noun_alone_is_an_error_in_json_too(pam: Pam, noun: str) -> None:
    """PAM-CLI-001: one object on stdout on every way out."""
    answer = pam("--json", noun, code=2)
    assert (answer.error["code"], f"`pam {noun}` needs a verb" in answer.error["message"]) == ("usage", True)
    assert f"Usage: pam {noun}" in answer.err
    assert pam(noun, "--json", code=2).error["code"] == "usage"


@pytest.mark.parametrize(
    "words",
    [
        ("events", "list", "--after", str(10**20)),
        ("events", "list", "--limit", str(10**20)),
        ("run", "start", "--task", "TASK", "--provider", "shell", "--attempts", str(10**20), "--", "true"),
    ],
    ids=lambda words: " ".join(words[:2]),
)
def test_a_number_beyond_64_bits_is_a_bad_value(pam: Pam, words: tuple[str, ...], tmp_path: Path) -> None:
    """Not a failure that pam does not know."""
    pam.project("Checkout service", "--cwd", str(tmp_path))
    task = pam.task()
    flags = ("--json", *(task["id"] if word == "TASK" else word for word in words))
    assert pam(*flags, code=2).error["code"] == "invalid_value"


def test_a_payload_nested_too_deep_is_a_malformed_signal(pam: Pam, tmp_path: Path) -> None:
    pam.project("Checkout service", "--cwd", str(tmp_path))
    run = pam.json("run", "start", "--task", pam.task()["id"], "--provider", "demo")["run"]
    words = ("signal", "progress", "--run", run["id"], "--attempt", "1", "--seq", "1", "--payload", "[" * 20_000)
    assert pam(*words, "--json", code=4).error["code"] == "malformed_signal"


def test_a_home_that_cannot_be_named_is_told(script: Script, tmp_path: Path) -> None:
    """No traceback: also the log has no place then."""
    answer = script("status", "--json", "--home", "~nobody0/x")
    assert (answer.code, answer.error["code"], answer.err.count("\n")) == (2, "invalid_value", 1)
    (tmp_path / "gone").mkdir()
    line = 'cd "$1" && rmdir "$1" && exec "$0" status --json --home relative'
    done = redirected(line, str(tmp_path / "gone"))
    assert (done.returncode, json.loads(done.stdout)["error"]["code"]) == (2, "invalid_value")


@pytest.mark.parametrize("unbuffered", BUFFERED)
def test_a_reader_who_left_does_not_change_the_exit_code(pam: Pam, unbuffered: str | None) -> None:
    """`pam run wait R --json | head -c 0` must still say that the run failed."""
    pam("init")
    code, narration = left_early("stdout", *UNKNOWN, unbuffered=unbuffered)
    assert (code, narration) == (3, "There is no task 'dead'.\n")
    assert left_early("stdout", "project", "list", unbuffered=unbuffered) == (0, "")


@pytest.mark.parametrize("unbuffered", BUFFERED)
def test_narration_that_nobody_hears_stops_no_command(pam: Pam, home: Path, unbuffered: str | None) -> None:
    code, answer = left_early("stderr", *UNKNOWN, unbuffered=unbuffered)
    assert (code, json.loads(answer)["error"]["code"]) == (3, "not_found")
    code, answer = left_early("stderr", "project", "add", "Made all the same", "--json", unbuffered=unbuffered)
    assert (code, json.loads(answer)["project"]["slug"]) == (0, "made-all-the-same")


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_streams_that_the_caller_closed_are_no_fault(pam: Pam, closed: str) -> None:
    """As daemons and cron may start it."""
    done = redirected(f'exec "$0" project add Closed --json {closed}')
    assert (done.returncode, "Traceback" in done.stderr) == (0, False)
    assert [project["name"] for project in pam.json("project", "list")["projects"]] == ["Closed"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this machine has no /dev/full")
@pytest.mark.parametrize("unbuffered", BUFFERED)
def test_an_answer_that_does_not_fit_on_the_disk_is_told(pam: Pam, unbuffered: str | None) -> None:
    """Never exit 0 with half an answer."""
    pam("init")
    done = redirected('exec "$0" project list --json >/dev/full', unbuffered=unbuffered)
    assert done.returncode == 1
    assert "No space left" in done.stderr
    assert "Traceback" not in done.stderr
    failed = redirected('exec "$0" task show dead --json >/dev/full', unbuffered=unbuffered)
    assert (failed.returncode, "There is no task 'dead'." in failed.stderr) == (3, True)
