"""Canaries: a key that an agent was given is nowhere but in its environment and in what it printed itself (PAM-SEC)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from app.logs import start_log
from executor.hosts.link import SpawnFailed
from executor.hosts.local import LocalLink
from store import hosts, journal, redaction, runs
from store.home import Home
from store.records import Run
from tests.support.private_cli import make_leaky
from tests.support.stage import Stage, end_process
from tests.support.waiting import until

SHAPED = "sk-ant-api03-canary-0123456789abcdef"
SHAPELESS = "canary and no shape of a key"
CANARIES = (SHAPED, SHAPELESS)
PAM = Path(sys.executable).with_name("pam")


@pytest.fixture
def leaky(stage: Stage, tmp_path: Path) -> Path:
    """The provider ``leaky``, whose keys are canaries; the file that lets its agents end."""
    gate = make_leaky(tmp_path / "leaky", stage.home.path)
    stage.environ |= {"LEAKY_API_KEY": SHAPED, "LEAKY_AUTH": SHAPELESS}
    return gate


@pytest.fixture(autouse=True)
def unlearned(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing that another test taught this process."""
    monkeypatch.setattr(redaction, "_KNOWN", redaction._Known())


def claim_run(stage: Stage) -> Run:
    """The run as an executor has it that took it and came no further."""
    with stage.executor():
        pass  # the host is known and online
    run = stage.start("leaky", prompt="go")
    taken = runs.claim(stage.store, run.id, hosts.get(stage.store, hosts.LOCAL), actor="executor")
    assert taken is not None
    return taken


def holders(place: Path, canaries: tuple[str, ...] = CANARIES) -> set[str]:
    """Files below ``place`` that hold a canary, by their path in it."""
    files = [path for path in place.rglob("*") if path.is_file()]
    return {
        str(path.relative_to(place))
        for path in files
        if any(canary.encode() in path.read_bytes() for canary in canaries)
    }


def processes() -> str:
    """The command lines of every process of the machine."""
    lines = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                lines.append((entry / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace"))
            except OSError:
                continue  # it has ended
    return "\n".join(lines)


def answers(stage: Stage, *words: str) -> str:
    """What pam says, on both streams."""
    done = subprocess.run(
        [str(PAM), *words],
        env={**os.environ, **stage.environ, "PAM_HOME": str(stage.home.path)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return done.stdout + done.stderr


def test_a_key_is_in_no_file_but_the_agents_own_log(
    stage: Stage, leaky: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """PAM-SEC-002, 003; it prints the key, passes it to a hook and to PAM_SIGNAL, and fails with it."""
    with stage.executor():
        run = stage.start("leaky", prompt="go")
        until(leaky.with_suffix(".said").exists, 30)
        until(lambda: "failed" in said_kinds(stage, run.id), 30, lambda: stage.events(run))
        raw = f"runs/{run.id}.log"
        until(lambda: SHAPED in stage.log(run), 10)
        assert holders(stage.home.path) == {raw}
        assert (stage.home.path / raw).stat().st_mode & 0o077 == 0
        assert not any(canary in processes() for canary in CANARIES)
        for words in (("run", "show", run.id[:8], "--json"), ("events", "--json"), ("doctor",), ("provider", "doctor")):
            seen = answers(stage, *words)
            assert seen
            assert not any(canary in seen for canary in CANARIES), words
        leaky.touch()
        stage.until_ended(run)
    assert holders(stage.home.path) == {raw}
    assert not any(canary in caplog.text for canary in CANARIES)
    note = stage.run(run).activity_note or ""
    assert not any(canary in note for canary in CANARIES)


def said_kinds(stage: Stage, run_id: str) -> list[str]:
    found = journal.of_run(stage.store, run_id)
    return [str(event.payload.get("kind")) for event in found if event.topic == "run.signal_received"]


def test_what_was_hidden_leaves_the_rest_readable(stage: Stage, leaky: Path) -> None:
    leaky.touch()
    with stage.executor():
        run = stage.start("leaky", prompt="go")
        stage.until_ended(run)
        until(lambda: "failed" in said_kinds(stage, run.id), 30)
    said = [event.payload.get("said") for event in stage.events(run) if event.topic == "run.signal_received"]
    assert "calling with [hidden]" in json.dumps(said)
    assert "auth [hidden]" in json.dumps(said)


def test_pams_own_log_holds_no_key(stage: Stage, leaky: Path) -> None:
    """Everything is told, and what fails is told with its traceback."""
    leaky.touch()
    environ = {**os.environ, **stage.environ, "PAM_HOME": str(stage.home.path), "PAM_LOG": "debug"}
    run = stage.start("leaky", prompt="go")
    up = subprocess.Popen([str(PAM), "up"], env=environ, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        stage.until_ended(run)
        up.terminate()
        told = "".join(up.communicate(timeout=30))
    finally:
        up.kill()
        up.wait()
    assert (stage.home.path / "logs" / "pam.log").stat().st_size > 0
    assert holders(stage.home.path) <= {f"runs/{run.id}.log"}
    assert not any(canary in told for canary in CANARIES)


def test_a_spec_is_private_and_gone_before_the_agent_runs(
    stage: Stage, leaky: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    modes: list[int] = []
    put = LocalLink.put_file

    async def watched(link: LocalLink, path: str, data: bytes, mode: int) -> None:
        await put(link, path, data, mode)
        if SHAPED.encode() in data:
            modes.append(Path(path).stat().st_mode & 0o777)

    monkeypatch.setattr(LocalLink, "put_file", watched)
    with stage.executor():
        run = stage.start("leaky", prompt="go")
        until(leaky.with_suffix(".said").exists, 30)
        assert modes == [0o600]
        assert list((stage.home.path / "specs").iterdir()) == []
        leaky.touch()
        stage.until_ended(run)


def test_a_spawn_that_fails_leaves_no_spec(stage: Stage, leaky: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def refuse(*_: object) -> str:
        raise SpawnFailed(f"tmux made no session for {SHAPELESS}, {SHAPED}")

    monkeypatch.setattr(LocalLink, "spawn", refuse)
    with stage.executor():
        run = stage.start("leaky", prompt="go", max_attempts=1)
        stage.until_ended(run)
        until(lambda: not list((stage.home.path / "specs").iterdir()), 10)
    assert holders(stage.home.path) == set()
    assert "tmux made no session for [hidden]" in json.dumps([event.payload for event in stage.events(run)])


@pytest.mark.parametrize("wish", ["stop", "go on"])
def test_a_spec_that_a_killed_executor_left_goes(stage: Stage, leaky: Path, wish: str) -> None:
    """Killed between the spec and the session: the next one uses it up, or removes it with the run."""
    run = claim_run(stage)
    spec = stage.home.path / "specs" / f"{run.id}-{run.attempt}.json"
    spec.parent.mkdir(mode=0o700, exist_ok=True)
    spec.write_text(json.dumps({"env": {"LEAKY_API_KEY": SHAPED}}))
    leaky.touch()
    if wish == "stop":
        runs.request_stop(stage.store, run.id, actor="operator")
    with stage.executor():
        stage.until_ended(run)
        until(lambda: not spec.exists(), 20)
    assert holders(stage.home.path) <= {f"runs/{run.id}.log"}


def test_no_key_outlives_an_executor_that_was_killed(stage: Stage, leaky: Path) -> None:
    """A new one hides what a live agent of the old one says, if the key is in its environment too."""
    process = stage.executor_process()
    run = stage.start("leaky", prompt="go")
    until(leaky.with_suffix(".said").exists, 30)
    end_process(process)
    with stage.executor():
        until(lambda: "failed" in said_kinds(stage, run.id), 30)
        leaky.touch()
        stage.until_ended(run)
    assert holders(stage.home.path) == {f"runs/{run.id}.log"}


def test_a_looked_up_key_is_hidden_as_well(stage: Stage, leaky: Path, tmp_path: Path) -> None:
    """It is in nobody's environment but the agent's."""
    del stage.environ["LEAKY_API_KEY"], stage.environ["LEAKY_AUTH"]
    lookup = tmp_path / "lookup"
    lookup.write_text(f'#!/bin/sh\n[ "$1" = LEAKY_AUTH ] && echo "{SHAPELESS}"\n')
    lookup.chmod(0o755)
    stage.settings = replace(stage.settings, key_command=(str(lookup), "{name}"))
    with stage.executor():
        run = stage.start("leaky", prompt="go")
        until(leaky.with_suffix(".said").exists, 30)
        until(lambda: SHAPELESS in stage.log(run), 10, lambda: stage.log(run))
        assert holders(stage.home.path) == {f"runs/{run.id}.log"}
        leaky.touch()
        stage.until_ended(run)


def test_a_fault_of_pams_own_is_told_without_the_key(stage: Stage) -> None:
    """A traceback quotes what it had in hand."""
    start_log(Home(stage.home.path), {"SOME_KEY": SHAPELESS})
    code = (
        "import sys; from app.cli import main, status\n"
        "def fail(*a, **k): raise RuntimeError('with ' + sys.argv[1])\n"
        "import store.hosts; store.hosts.list_all = fail\n"
        "import app.cli.call as c; c.Call.store = property(fail)\n"
        "sys.exit(main.run(['status', '--json']))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, SHAPELESS],
        env={**os.environ, "SOME_KEY": SHAPELESS, "PAM_HOME": str(stage.home.path)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1
    assert "RuntimeError: with [hidden]" in done.stdout + done.stderr
    assert SHAPELESS not in done.stdout + done.stderr
    assert "RuntimeError" in (stage.home.path / "logs" / "pam.log").read_text()
    assert holders(stage.home.path) == set()
