"""From an empty home to an agent at work and back, through the real console script, real tmux and real processes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from app.cli.hosting import interruptible
from executor import lock
from store.home import Home
from tests.cli.conftest import PAM, Answer, Pam
from tests.support.pty_program import PtyProgram
from tests.support.tmux_server import SOCKET, TmuxSandbox
from tests.support.waiting import until

Script = Callable[..., Answer]
ASIDE = ("run.signal_received", "run.output_appended")
"""What was said and how much was written: no part of a run's way."""


@pytest.fixture
def task(pam: Pam, home: Path, tmux_sandbox: TmuxSandbox, tmp_path: Path) -> str:
    """A task, on a home whose tmux server is the test's own."""
    pam("init")
    (home / "config.toml").write_text(
        f'[tmux]\nsocket = "{SOCKET}"\n[executor]\nliveness_s = 0.5\ngrace_s = 2\nhold_open_s = 60\n'
    )
    work = tmp_path / "work"
    work.mkdir()
    pam.project("Checkout service", "--cwd", str(work))
    return str(pam.task()["id"])


@pytest.fixture
def daemon(pam: Pam, home: Path, task: str, script: Script) -> Iterator[int]:
    """A detached executor; its pid."""
    pid = script("up", "--detach", "--json").json["executor"]["pid"]
    yield pid
    script("down")
    assert not lock.state(Home(home)).running


def shell(task: str, line: str, *words: str) -> list[str]:
    """Words that start a shell run."""
    return ["run", "start", "--task", task, "--provider", "shell", "--json", *words, "--", "sh", "-c", line]


def start(script: Script, task: str, line: str) -> str:
    """A shell run; its id."""
    return str(script(*shell(task, line)).json["run"]["id"])


def until_status(pam: Pam, run_id: str, status: str) -> Any:
    """The run once it is there."""
    until(
        lambda: pam.json("run", "show", run_id)["run"]["status"] == status, 20, lambda: pam("run", "show", run_id).out
    )
    return pam.json("run", "show", run_id)["run"]


def test_start_and_wait_on_an_empty_machine(
    pam: Pam, task: str, script: Script, tmux_sandbox: TmuxSandbox, home: Path
) -> None:
    """PAM-TEST-006: no executor runs, so the command is it; session, pane and journal are as they must be."""
    prompt = ("--prompt", "Greet [[steps 1]] [[pace 0]]")
    answer = script("run", "start", "--task", task, "--provider", "demo", "--wait", "--json", *prompt)
    assert answer.code == 0, answer
    run = answer.json["run"]
    assert (run["status"], run["exit_code"], run["host"]) == ("exited", 0, "local")
    assert "this command is it" in answer.err
    assert not lock.state(Home(home)).running
    assert tmux_sandbox.sessions() == {"pam-hub", f"pam-{run['id'][:8]}"}
    pane = pam.json("run", "pane", run["id"])["pane"]
    assert list(pane) == ["text", "columns", "rows", "taken_at"]
    assert (pane["columns"], pane["rows"]) == (220, 50)
    assert "Greet" in pane["text"]
    assert "\x1b" not in pam("run", "pane", run["id"]).out
    assert "\x1b[" in pam("run", "pane", run["id"], "--ansi").out
    events = pam.json("events", "list", "--topic", "run.*")["events"]
    lifecycle = [event for event in events if event["topic"] not in ASIDE]
    assert [event["topic"] for event in lifecycle] == ["run.created", "run.spawning", "run.started", "run.finished"]
    assert {event["payload"]["attempt"] for event in events} == {1}
    assert "Greet" in pam("run", "logs", run["id"]).out
    tmux_sandbox.tmux("kill-session", "-t", f"=pam-{run['id'][:8]}")
    gone = pam("run", "pane", run["id"], "--json", code=3)
    assert f"pam run logs {run['id'][:8]}" in gone.err


def test_the_exit_code_says_how_the_run_ended(pam: Pam, task: str, script: Script, home: Path) -> None:
    """20 failed, with the reason; a missing program is a failed spawn, not a crash."""
    failed = script(*shell(task, "exit 3", "--wait"))
    assert (failed.code, failed.json["run"]["exit_code"]) == (20, 3)
    words = ["run", "start", "--task", task, "--provider", "shell", "--wait", "--", "/no/such/program"]
    missing = script(*words)
    assert missing.code == 20
    assert "/no/such/program" in missing.out


def test_wait_with_an_executor(pam: Pam, task: str, script: Script, daemon: int, tmp_path: Path) -> None:
    """22 when the time is up, then 0; several may wait."""
    gate = tmp_path / "gate"
    run_id = start(script, task, f"until [ -e '{gate}' ]; do sleep 0.05; done")
    late = script("run", "wait", run_id, "--timeout", "0.3", "--json")
    assert late.code == 22
    assert late.json["run"]["id"] == run_id
    waiting = [subprocess.Popen([str(PAM), "run", "wait", run_id], stdout=subprocess.DEVNULL) for _ in range(2)]
    gate.touch()
    assert [process.wait(20) for process in waiting] == [0, 0]


def test_stop_ends_the_wait_with_21(pam: Pam, task: str, script: Script, daemon: int) -> None:
    run_id = start(script, task, "exec sleep 1000")
    until_status(pam, run_id, "running")
    with subprocess.Popen([str(PAM), "run", "wait", run_id], stdout=subprocess.DEVNULL) as waiting:
        stopped = script("run", "stop", run_id)
        assert "asked to stop" in stopped.out
        assert waiting.wait(20) == 21
    assert pam.json("run", "show", run_id)["run"]["status"] == "stopped"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_wait_leaves_the_agent_running(
    pam: Pam, task: str, script: Script, home: Path, tmux_sandbox: TmuxSandbox, number: signal.Signals
) -> None:
    """130; the next executor takes the run over."""
    argv = [str(PAM), *shell(task, "exec sleep 1000", "--wait")]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as command:
        until(lambda: [run["status"] for run in pam.json("run", "list")["runs"]] == ["running"], 20)
        command.send_signal(number)
        answer, narration = command.communicate(timeout=20)
        assert command.returncode == 130
    assert "The agent goes on; start an executor" in narration
    run = pam.json("run", "list")["runs"][0]
    assert json.loads(answer)["run"]["id"] == run["id"], "the script that was interrupted knows what it started"
    assert run["status"] == "running"
    assert run["session_name"] in tmux_sandbox.sessions()
    assert not lock.state(Home(home)).running


def test_up_detach_status_down(pam: Pam, task: str, script: Script, home: Path, tmux_sandbox: TmuxSandbox) -> None:
    """Design §4: stopping the executor never stops an agent; each of the three says what is so."""
    up = script("up", "--detach", "--json")
    executor = up.json["executor"]
    assert (up.code, executor["running"], executor["hosted_by"]) == (0, True, "headless")
    again = script("up", "--detach", "--json")
    assert (again.code, again.json["executor"]["pid"]) == (0, executor["pid"])
    refused = script("up", "--json")
    assert (refused.code, refused.error["code"]) == (4, "executor_busy")
    assert pam.json("status")["executor"] == executor
    run_id = start(script, task, "exec sleep 1000")
    until_status(pam, run_id, "running")
    down = script("down", "--json")
    assert (down.code, down.json["executor"]["running"]) == (0, False)
    assert f"pam-{run_id[:8]}" in tmux_sandbox.sessions()
    assert pam.json("run", "show", run_id)["run"]["status"] == "running"
    assert script("down", "--json").code == 0
    log = home / "logs" / "executor.log"
    assert log.stat().st_mode & 0o777 == 0o600
    assert "agents go on" in log.read_text()


def test_a_wait_interrupted_before_the_agent_lives_says_so(pam: Pam, task: str, daemon: int, home: Path) -> None:
    """No agent goes on where none has begun; the executor of somebody else needs no other."""
    pam("host", "disable", "local")
    argv = [str(PAM), *shell(task, "true", "--wait")]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as command:
        until(lambda: [run["status"] for run in pam.json("run", "list")["runs"]] == ["pending"], 20)
        command.send_signal(signal.SIGINT)
        answer, narration = command.communicate(timeout=20)
        assert command.returncode == 130
    run = json.loads(answer)["run"]
    assert run["status"] == "pending"
    assert narration == f"The run stays pending; `pam run wait {run['id'][:8]}` waits again.\n"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interruption_waits_for_what_must_not_be_cut(number: signal.Signals) -> None:
    """A run that is made is told, whenever ctrl+c comes; the next one counts for nothing."""
    done = []
    with pytest.raises(KeyboardInterrupt), interruptible() as interruptions:
        with interruptions.held():
            signal.raise_signal(number)
            done.append("made")
        done.append("waited")
    assert done == ["made"]


def test_two_that_go_up_at_once_and_two_that_go_down(task: str, home: Path) -> None:
    """Both are told the truth: there is one executor, and then there is none. Its end is clean, whoever asked twice."""
    for words, running in ((["up", "--detach"], True), (["down"], False)):
        argv = [str(PAM), *words, "--json"]
        pair = [subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) for _ in range(2)]
        answers = [json.loads(each.communicate(timeout=60)[0])["executor"] for each in pair]
        assert [each.returncode for each in pair] == [0, 0]
        assert answers[0] == answers[1]
        assert answers[0]["running"] is running
    assert "Traceback" not in (home / "logs" / "pam.log").read_text()


def test_up_hears_the_first_word_only(task: str, home: Path) -> None:
    """A second TERM or ctrl+c, however close, does not cut the end of the executor short."""
    with subprocess.Popen([str(PAM), "up", "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as up:
        assert up.stdout is not None
        up.stdout.readline()
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            up.send_signal(number)
        up.communicate(timeout=20)
        assert up.returncode == 0
    assert "Traceback" not in (home / "logs" / "pam.log").read_text()
    assert list((home / "host" / "clients").iterdir()) == [], "the control client was ended and forgotten"


def test_up_under_nohup_outlives_the_terminal(task: str) -> None:
    """What the caller ignores stays ignored."""
    argv = ["sh", "-c", "trap '' HUP; exec \"$0\" up --json", str(PAM)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as up:
        assert up.stdout is not None
        up.stdout.readline()
        up.send_signal(signal.SIGHUP)
        with pytest.raises(subprocess.TimeoutExpired):
            up.wait(0.5)
        up.terminate()
        up.communicate(timeout=20)
        assert up.returncode == 0


def test_up_ends_well_when_told_to(task: str, home: Path) -> None:
    """PAM-CLI-006: headless until interrupted, and then exit 0."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        argv = [str(PAM), "up", "--json"]
        # What whoever runs the tests ignores, under nohup for instance, pam would ignore as well.
        heard = partial(signal.signal, number, signal.SIG_DFL)
        with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=heard) as up:
            assert up.stdout is not None
            assert json.loads(up.stdout.readline())["executor"]["pid"] == up.pid
            up.send_signal(number)
            _, narration = up.communicate(timeout=20)
            assert up.returncode == 0
            assert "agents go on" in narration


def test_a_control_room_is_not_taken_down(pam: Pam, home: Path, task: str) -> None:
    held = lock.acquire(Home(home), "control-room")
    assert held is not None
    try:
        answer = pam("down", "--json", code=4)
    finally:
        held.release()
    assert answer.error["code"] == "conflict"
    assert "control room" in answer.err


def test_without_tmux_nothing_is_written(pam: Pam, home: Path, task: str, script: Script) -> None:
    """Exit 9 with how to install it; there is no run afterwards."""
    (home / "config.toml").write_text('[tmux]\nbin = "no-such-tmux"\n')
    for words in (shell(task, "true", "--wait"), ["up", "--json"], ["up", "--detach", "--json"]):
        answer = script(*words)
        assert (answer.code, answer.error["code"]) == (9, "tmux_unavailable"), words
        assert "Install it" in answer.error["message"]
    assert pam.json("run", "list") == {"runs": []}
    assert not lock.state(Home(home)).running


def test_a_faulty_catalog_is_told_and_stops_no_executor(home: Path, task: str, script: Script) -> None:
    """PAM-PROV-008: it waits for the file to be mended."""
    (home / "providers.toml").write_text("[claude]\nenabeld = true\n")
    argv = [str(PAM), "up", "--json"]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as up:
        assert up.stdout is not None
        assert json.loads(up.stdout.readline())["executor"]["running"]
        up.terminate()
        _, narration = up.communicate(timeout=20)
    assert "providers.toml:2" in narration


def test_attach_takes_the_terminal_and_gives_it_back(
    pam: Pam, task: str, script: Script, daemon: int, tmp_path: Path
) -> None:
    """PAM-CLI-031: what is typed reaches the agent; ctrl+] detaches, and the agent goes on."""
    run_id = start(script, task, 'echo ready; read line; echo "heard $line"; exec sleep 1000')
    until_status(pam, run_id, "running")
    environ = {**os.environ, "TERM": "xterm-256color"}
    with PtyProgram([str(PAM), "run", "attach", run_id], environ, tmp_path) as terminal:
        terminal.expect("ready")
        terminal.type("hello\r")
        terminal.expect("heard hello")
        assert pam.json("run", "show", run_id)["run"]["status"] == "running"  # and time enough for it to be no paste
        terminal.type("\x1d")
        assert terminal.exit_code() == 0
    assert pam.json("run", "show", run_id)["run"]["status"] == "running"


def test_attach_respects_who_types(
    pam: Pam, task: str, script: Script, daemon: int, tmp_path: Path, opened: Any
) -> None:
    """PAM-ATT-003: exit 5 with the holder; reading along is free, a session that is gone is not found."""
    from store import leases

    run_id = start(script, task, "exec sleep 1000")
    until_status(pam, run_id, "running")
    with opened() as store:
        leases.acquire(store, run_id, "mara@elsewhere, control room 7", actor="operator")
    environ = {**os.environ, "TERM": "xterm-256color"}
    with PtyProgram([str(PAM), "run", "attach", run_id], environ, tmp_path) as terminal:
        terminal.expect("control room 7")
        assert terminal.exit_code() == 5
    with PtyProgram([str(PAM), "run", "attach", run_id, "--read-only"], environ, tmp_path) as terminal:
        terminal.expect("\x1b")
        terminal.type("\x1d")
        assert terminal.exit_code() == 0
    pam("run", "release", run_id)
    script("run", "stop", run_id)
    until_status(pam, run_id, "stopped")
    with PtyProgram([str(PAM), "run", "attach", run_id], environ, tmp_path) as terminal:
        terminal.expect("gone")
        assert terminal.exit_code() == 3


def test_waiting_is_not_busy(pam: Pam, task: str, script: Script, daemon: int) -> None:
    """A second of waiting costs a small part of a second of work."""
    run_id = start(script, task, "sleep 2")
    before = time.process_time()
    pam("run", "wait", run_id)
    assert time.process_time() - before < 0.5


def test_pam_alone_opens_the_control_room(pam: Pam, task: str, home: Path, tmp_path: Path) -> None:
    """PAM-CLI-006: it hosts the executor while it is open, logs nothing to the terminal, and q leaves."""
    environ = {**os.environ, "TERM": "xterm-256color"}
    with PtyProgram([str(PAM)], environ, tmp_path, rows=30, columns=120) as room:
        room.expect("Fix the flaky auth", timeout=20)
        until(lambda: lock.state(Home(home)).hosted_by == "control-room", 10)
        refused = pam("down", "--json", code=4)
        assert "leave it with q" in refused.err
        room.type("q")
        assert room.exit_code(20) == 0
    assert not lock.state(Home(home)).running
    assert "pam.executor" in (home / "logs" / "pam.log").read_text()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_control_room_that_is_told_to_end_gives_the_terminal_back(
    task: str, home: Path, tmp_path: Path, number: signal.Signals
) -> None:
    """As when the machine shuts down: no alternate screen, no mouse reports, no executor is left behind."""
    with PtyProgram([str(PAM)], {**os.environ, "TERM": "xterm-256color"}, tmp_path, rows=30, columns=120) as room:
        room.expect("Fix the flaky auth", timeout=20)
        room.send_signal(number)
        assert room.exit_code(20) == 0
        for off in ("\x1b[?1049l", "\x1b[?1000l", "\x1b[?25h"):
            assert off in room.output
    assert not lock.state(Home(home)).running


def test_the_pane_has_the_size_it_was_made_with(pam: Pam, task: str, script: Script, home: Path) -> None:
    """Whatever the settings say by now."""
    run_id = script(*shell(task, "true", "--wait")).json["run"]["id"]
    pam("config", "set", "tmux.columns", "100")
    pane = pam.json("run", "pane", run_id)["pane"]
    assert (pane["columns"], pane["rows"]) == (220, 50)


def test_a_typo_in_the_config_is_told_before_anything_is_drawn(home: Path, task: str, tmp_path: Path) -> None:
    (home / "config.toml").write_text("[tmux]\nsoket = 'x'\n")
    with PtyProgram([str(PAM)], {**os.environ, "TERM": "xterm-256color"}, tmp_path) as room:
        assert room.exit_code(20) == 2
        assert "config.toml:2" in room.text
        assert "\x1b[" not in room.output
