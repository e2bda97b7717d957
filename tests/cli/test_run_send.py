"""``pam run send``, ``keys`` and ``resume``: the answer says what became of it, and so does the exit code."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from executor import lock
from store import hosts, leases, runs, signals
from store.home import Home
from store.records import Signal
from tests.cli.conftest import Answer, Pam
from tests.support import recorder
from tests.support.tmux_server import SOCKET, TmuxSandbox
from tests.support.waiting import until

Script = Callable[..., Answer]
Opened = Callable[[], Any]
RECORDER = Path(recorder.__file__)

PROVIDERS = f"""
[plain]
title = "Takes what is typed"
bin = "{sys.executable}"
argv = ["{{bin}}", "{RECORDER}", "{{args}}"]
prompt = "none"
tui_type = "raw_mode"
ready_after_s = 0.2
submit_delay_ms = 50

[plain.conversation]
id = "learned"
resume = ["{{bin}}", "{RECORDER}", "{{args}}", "resumed-{{conversation_id}}"]

[hooked]
title = "Like an agent with hooks"
bin = "{sys.executable}"
argv = ["{{bin}}", "{RECORDER}", "{{args}}"]
prompt = "none"
tui_type = "raw_mode"
submit_delay_ms = 50

[hooked.hooks]
recipe = "claude"
proven = true
"""


@pytest.fixture
def task(pam: Pam, home: Path, tmp_path: Path) -> str:
    """A task, on a home that knows the recorder as a provider."""
    pam("init")
    (home / "config.toml").write_text(f'[tmux]\nsocket = "{SOCKET}"\n[executor]\ngrace_s = 2\n')
    (home / "providers.toml").write_text(PROVIDERS)
    work = tmp_path / "work"
    work.mkdir()
    pam.project("Checkout service", "--cwd", str(work))
    return str(pam.task()["id"])


@pytest.fixture
def daemon(pam: Pam, home: Path, task: str, script: Script, tmux_sandbox: TmuxSandbox) -> Iterator[None]:
    """A detached executor."""
    script("up", "--detach")
    yield
    script("down")
    assert not lock.state(Home(home)).running


@pytest.fixture
def record(tmp_path: Path) -> Path:
    """Where the recorder writes."""
    return tmp_path / "work" / "record"


def started(pam: Pam, task: str, provider: str, *words: str) -> Any:
    """A run that was asked for."""
    return pam("run", "start", "--json", "--task", task, "--provider", provider, "--", *words).json["run"]


def at_work(pam: Pam, task: str, record: Path, *words: str, provider: str = "plain") -> str:
    """A recorder that reads; the run's id."""
    run = started(pam, task, provider, str(record), *words)
    until(lambda: "ready" in pane(pam, run["id"]), 20, lambda: pam("run", "show", run["id"]).out)
    return str(run["id"])


def pane(pam: Pam, run_id: str) -> str:
    """The text on its screen; nothing before there is one."""
    if pam.json("run", "show", run_id)["run"]["status"] != "running":
        return ""
    return str(pam.json("run", "pane", run_id)["pane"]["text"])


def ended(opened: Opened, task: str, provider: str = "plain", conversation: str | None = None) -> str:
    """A run that has exited, made without an executor."""
    with opened() as store:
        run = runs.start(store, task, provider, "/tmp", args=["x"], actor="operator", conversation_id=conversation)
        hosts.heartbeat(store, "local", "one", actor="executor")
        runs.claim(store, run.id, hosts.get(store, "local"), actor="executor")
        signals.ingest(store, Signal(run.id, 1, "started", "wrapper"))
        signals.ingest(store, Signal(run.id, 1, "finished", "wrapper", payload={"exit_code": 0}))
    return str(run.id)


def test_send_types_a_prompt_and_says_what_is_known(daemon: None, pam: Pam, task: str, record: Path) -> None:
    """Exit 0; an agent without hooks cannot say more than that it was typed."""
    run_id = at_work(pam, task, record)
    answer = pam.json("run", "send", run_id[:8], "go on\nplease")
    assert (answer["delivered"], answer["delivery"]["status"], answer["delivery"]["attempt"]) == (True, "typed", 1)
    assert answer["evidence"].startswith("The prompt was typed and submitted")
    until(lambda: record.exists() and record.read_bytes() == b"\x1b[200~go on\nplease\x1b[201~\r", 10)
    shown = pam.json("run", "show", run_id)["run"]["deliveries"]
    assert [one["text"] for one in shown] == ["go on\nplease"]
    assert "prompt queued: go on" in pam("run", "show", run_id).out


def test_a_prompt_comes_in_words_from_a_file_or_from_stdin(
    daemon: None, pam: Pam, task: str, record: Path, tmp_path: Path
) -> None:
    """Once, and only once."""
    run_id = at_work(pam, task, record)
    file = tmp_path / "prompt.md"
    file.write_text("from a file", encoding="utf-8")
    pam("run", "send", run_id, "--file", str(file))
    pam("run", "send", run_id, "-", stdin="from stdin")
    for words in ((), ("one", "--file", str(file))):
        assert "Give the prompt once" in pam("run", "send", run_id, *words, code=2).err
    assert "cannot be read" in pam("run", "send", run_id, "--file", str(tmp_path / "none"), code=2).err
    until(lambda: b"from stdin" in record.read_bytes() and b"from a file" in record.read_bytes(), 10)


def test_send_is_refused_with_the_question_and_keys_answer_it(daemon: None, pam: Pam, task: str, record: Path) -> None:
    """Exit 4, and how to answer; PAM-API-008."""
    run_id = at_work(pam, task, record)
    said = ("--source", "hook:claude", "--payload", '{"activity":"waiting","note":"Write it?"}')
    pam("signal", "progress", "--run", run_id, "--attempt", "1", "--seq", "100", *said)
    error = pam("run", "send", run_id, "go on", "--json", code=4).error
    assert "The agent asks: Write it? Answer it first: `pam run keys " in error["message"]
    assert error["details"]["run_id"] == run_id
    answer = pam.json("run", "keys", run_id, "--text", "yes", "Down", "Enter")
    assert (answer["delivered"], answer["delivery"]["kind"]) == (True, "keys")
    until(lambda: record.exists() and record.read_bytes() == b"yes\x1b[B\r", 10, lambda: record.read_bytes())


def test_the_agents_word_and_its_lack_are_told_apart(
    daemon: None, pam: Pam, task: str, record: Path, script: Script
) -> None:
    """Exit 23 without it; 22 when the time is up before anything is known."""
    run_id = at_work(pam, task, record, "signals", provider="hooked")
    answer = pam.json("run", "send", run_id, "one", code=23)
    assert (answer["delivered"], answer["delivery"]["status"]) == (None, "unconfirmed")
    assert "did not say that it took this up" in answer["evidence"]
    assert pam.json("run", "send", run_id, "two", "--no-wait")["delivery"]["status"] == "queued"
    until(lambda: pam.json("run", "show", run_id)["run"]["deliveries"][-1]["status"] == "typed", 15)
    assert pam.json("run", "send", run_id, "three", "--timeout", "0.2", code=22)["delivered"] is None
    said = ("--source", "hook:claude", "--payload", '{"activity":"working","accepted":true}')
    pam("signal", "progress", "--run", run_id, "--attempt", "1", "--seq", "100", *said)
    assert pam.json("run", "show", run_id)["run"]["deliveries"][1]["status"] == "confirmed"


@pytest.mark.parametrize("key", ["Entre", "C-b", "C-z", "|", "é", "rm"])
def test_a_key_that_may_not_be_pressed_is_a_slip(pam: Pam, task: str, opened: Opened, key: str) -> None:
    """PAM-TMUX-010, 011: told before anything is queued."""
    run_id = ended(opened, task)
    assert "may" in pam("run", "keys", run_id, key, code=2).err
    assert "may not be typed" in pam("run", "keys", run_id, "--text", "a | b", code=2).err


def test_without_an_executor_nothing_is_queued_unless_asked_for(pam: Pam, task: str) -> None:
    """Exit 8, or the one line that `run start` says."""
    run_id = started(pam, task, "plain", "x")["id"]
    error = pam("run", "send", run_id, "go on", "--json", code=8).error
    assert "nothing was queued" in error["message"]
    assert pam.json("run", "show", run_id)["run"]["deliveries"] == []
    answer = pam("run", "send", run_id, "go on", "--no-wait")
    assert "queued" in answer.out and "pam up --detach" in answer.err


def test_a_run_that_ended_takes_nothing(pam: Pam, task: str, opened: Opened) -> None:
    """Exit 4, and what to do instead; 5 while somebody types by hand."""
    run_id = ended(opened, task)
    assert f"pam run resume {run_id[:8]}" in pam("run", "send", run_id, "go on", code=4).err
    live = started(pam, task, "plain", "x")["id"]
    with opened() as store:
        leases.acquire(store, live, "me@desk", actor="operator")
    assert "me@desk types into this run" in pam("run", "send", live, "go on", "--no-wait", code=5).err


def test_resume_goes_on_with_the_conversation(daemon: None, pam: Pam, task: str, record: Path, opened: Opened) -> None:
    """A new run of the same item; its prompt is typed when the command line has no place for it."""
    old = at_work(pam, task, record)
    pam("run", "keys", old, "C-d")
    pam("run", "wait", old)
    assert "No conversation of" in pam("run", "resume", old, code=4).err
    with opened() as store, store.write("operator"):
        from store.models import RunRow

        RunRow.update(conversation_id="c-1").where(RunRow.id == old).execute()
    new = pam.json("run", "resume", old)["run"]
    assert (new["resumed_from"], new["task_id"], new["attempt"]) == (old, task, 1)
    until(lambda: "ready" in pane(pam, new["id"]), 20, lambda: pam("run", "show", new["id"]).out)
    assert "is in this conversation already" in pam("run", "resume", old, code=4).err


def test_a_provider_that_cannot_resume_says_so(pam: Pam, task: str, opened: Opened) -> None:
    """And how to start anew."""
    old = ended(opened, task, provider="hooked", conversation="c-1")
    assert "cannot go on with a conversation" in pam("run", "resume", old, code=4).err
