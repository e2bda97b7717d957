"""The signal helper as hooks and agents call it: what lands in the spool, and how little it asks of its caller."""

from __future__ import annotations

import fcntl
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from executor.wrapper import pam_signal
from tests.executor.test_pam_exec import python_of

RUN = "5f0c1f7e-8a54-4c5e-9a5e-0d3f5f4b7a11"
HELPER = [sys.executable, "-I", "-S", "-E", pam_signal.__file__]
Said = subprocess.CompletedProcess[bytes]


class Agent:
    """The surroundings of an agent: an environment and a spool."""

    def __init__(self, folder: Path) -> None:
        self.spool = folder / "spool" / "1.jsonl"
        self.spool.parent.mkdir()
        self.env = {"PAM_RUN": RUN, "PAM_ATTEMPT": "3", "PAM_SPOOL": str(self.spool)}

    def says(self, *words: str | bytes, stdin: bytes | None = None, before: Callable[[], None] | None = None) -> Said:
        command: Sequence[str | bytes] = [*HELPER, *words]
        feed: dict[str, Any] = {"stdin": subprocess.DEVNULL} if stdin is None else {"input": stdin}
        return subprocess.run(command, env=self.env, capture_output=True, timeout=20, preexec_fn=before, **feed)

    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.spool.read_bytes().splitlines()] if self.spool.exists() else []


@pytest.fixture
def agent(tmp_path: Path) -> Agent:
    return Agent(tmp_path)


def silent(said: Said) -> bool:
    return (said.returncode, said.stdout, said.stderr) == (0, b"", b"")


def test_progress_carries_run_attempt_seq_and_time(agent: Agent) -> None:
    """PAM-SIG-001, 011; PAM-WRAP-006."""
    words = ["--message", 'läuft "gut"\n', "--percent=40", "--activity", "waiting", "--note", "May I?"]
    assert silent(agent.says("progress", *words, "--source", "hook:claude"))
    (line,) = agent.lines()
    assert line.pop("at").endswith("Z")
    assert line == {
        "v": 1,
        "run": RUN,
        "attempt": 3,
        "kind": "progress",
        "source": "hook:claude",
        "seq": 1,
        "payload": {"message": 'läuft "gut"\n', "percent": 40, "activity": "waiting", "note": "May I?"},
    }
    assert agent.spool.read_bytes().isascii()
    assert agent.spool.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("words", "payload"),
    [
        (["completed"], {"result": "success"}),
        (["completed", "--result", "user_rejected", "--reason", "no"], {"result": "user_rejected", "reason": "no"}),
        (["failed", "--error", "out of tokens"], {"error": "out of tokens"}),
    ],
)
def test_one_shot_kinds_have_no_seq(agent: Agent, words: list[str], payload: dict[str, str]) -> None:
    """PAM-SIG-002, 003, 005."""
    assert silent(agent.says(*words))
    (line,) = agent.lines()
    assert (line["kind"], line["source"], line["payload"]) == (words[0], "agent", payload)
    assert "seq" not in line


def test_seq_goes_on_where_it_was(agent: Agent) -> None:
    """The last one given out stands beside the spool."""
    for message in "abc":
        agent.says("progress", "--message", message)
    assert [line["seq"] for line in agent.lines()] == [1, 2, 3]
    assert (agent.spool.parent / "seq" / f"{RUN}-3").read_bytes().strip().lstrip(b"0") == b"3"
    assert (agent.spool.parent / "seq").stat().st_mode & 0o777 == 0o700


def test_attempts_count_apart(agent: Agent) -> None:
    """PAM-SIG-005: monotonic within run and attempt."""
    agent.says("progress", "--message", "a")
    agent.env["PAM_ATTEMPT"] = "4"
    agent.says("progress", "--message", "b")
    assert [(line["attempt"], line["seq"]) for line in agent.lines()] == [(3, 1), (4, 1)]


@pytest.mark.parametrize("damaged", [b"rubbish", b"rubbish that is longer than any count would be"])
def test_damaged_count_starts_above_what_was_given_out(agent: Agent, damaged: bytes) -> None:
    (agent.spool.parent / "seq").mkdir()
    (agent.spool.parent / "seq" / f"{RUN}-3").write_bytes(damaged)
    before = int(time.time())
    agent.says("progress", "--message", "a")
    agent.says("progress", "--message", "b")
    first, second = (line["seq"] for line in agent.lines())
    assert before < first < second < 2**63


def test_helpers_in_parallel_get_distinct_seqs_in_the_order_of_the_spool(agent: Agent) -> None:
    """A reader that takes only a higher seq than the last loses none (PAM-SIG-005)."""
    with ThreadPoolExecutor(4) as pool:
        said = list(pool.map(lambda n: agent.says("progress", "--message", str(n)), range(24)))
    assert all(map(silent, said))
    assert [line["seq"] for line in agent.lines()] == list(range(1, 25))
    assert {line["payload"]["message"] for line in agent.lines()} == {str(n) for n in range(24)}


@pytest.mark.parametrize("name", ["PAM_RUN", "PAM_ATTEMPT", "PAM_SPOOL"])
@pytest.mark.parametrize("value", [None, ""])
def test_refuses_to_guess_without_its_run(agent: Agent, name: str, value: str | None) -> None:
    """FR-18: one line on standard error, exit code 0, nothing anywhere."""
    agent.env.pop(name)
    if value is not None:
        agent.env[name] = value
    said = agent.says("progress", "--message", "who am I")
    assert (said.returncode, said.stdout) == (0, b"")
    assert said.stderr == f"pam_signal: not inside a pam run ({name} not set); nothing recorded\n".encode()
    assert list(agent.spool.parent.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "value"), [("PAM_RUN", "../../etc/x"), ("PAM_ATTEMPT", "-1"), ("PAM_ATTEMPT", "x"), ("PAM_SPOOL", "rel")]
)
def test_environment_that_pam_never_sets_is_refused(agent: Agent, name: str, value: str) -> None:
    agent.env[name] = value
    said = agent.says("progress", "--message", "x")
    assert (said.returncode, said.stdout) == (0, b"")
    assert b"nothing recorded" in said.stderr
    assert list(agent.spool.parent.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([], "usage: pam_signal"),
        (["--help"], "usage: pam_signal"),
        (["started"], "'started' is no kind of signal; it is one of progress, completed, failed"),
        (["progress"], "progress says nothing"),
        (["failed"], "failed says nothing"),
        (["progress", "--percent", "101"], "--percent is a whole number from 0 to 100, not '101'"),
        (["progress", "--percent", "٣"], "--percent is a whole number"),
        (["progress", "--activity", "asleep"], "--activity is one of working, waiting, idle"),
        (["progress", "--error", "x"], "progress does not know '--error'"),
        (["progress", "loose"], "progress does not know 'loose'"),
        (["progress", "--message"], "--message needs a value"),
        (["completed", "--result", "fine"], "--result is one of success"),
        (["failed", "--error", "x", "--source", "wrapper"], "'wrapper' is no source"),
        (["failed", "--error", "x", "--source", "hook:"], "'hook:' is no source"),
    ],
)
def test_wrong_words_are_explained_and_cost_the_caller_nothing(agent: Agent, words: list[str], says: str) -> None:
    said = agent.says(*words)
    assert (said.returncode, said.stdout) == (0, b"")
    assert says in said.stderr.decode()
    assert agent.lines() == []


def test_standard_input_is_left_alone(agent: Agent) -> None:
    """A hook's caller may write to it, or never close it."""
    read_end, write_end = os.pipe()
    try:
        os.write(write_end, b"for somebody else")
        command = [*HELPER, "completed"]
        subprocess.run(command, env=agent.env, stdin=read_end, timeout=20, check=True)
        assert os.read(read_end, 100) == b"for somebody else"
    finally:
        os.close(read_end)
        os.close(write_end)
    assert len(agent.lines()) == 1


def test_text_comes_from_standard_input_when_asked(agent: Agent) -> None:
    assert silent(agent.says("failed", "--stdin", stdin="kein Speicher: größer\n".encode()))
    assert agent.lines()[0]["payload"] == {"error": "kein Speicher: größer"}


def test_standard_input_without_end_is_given_up(agent: Agent) -> None:
    read_end, write_end = os.pipe()
    try:
        os.write(write_end, b"half")
        began = time.monotonic()
        subprocess.run([*HELPER, "progress", "--stdin"], env=agent.env, stdin=read_end, timeout=20, check=True)
        assert time.monotonic() - began < 3
    finally:
        os.close(read_end)
        os.close(write_end)
    assert agent.lines()[0]["payload"] == {"message": "half"}


@pytest.mark.parametrize("locale", [{"LANG": "C"}, {"LC_ALL": "POSIX"}, {}])
def test_text_outside_ascii_survives_any_locale(agent: Agent, locale: dict[str, str]) -> None:
    agent.env |= locale
    assert silent(agent.says("progress", "--message", "grüße ∞ 🙂".encode(), "--note", b"not \xff UTF-8"))
    assert agent.lines()[0]["payload"] == {"message": "grüße ∞ 🙂", "note": "not \ufffd UTF-8"}


def test_endless_text_is_cut(agent: Agent) -> None:
    assert silent(agent.says("progress", "--message", "x" * 100_000))
    assert len(agent.lines()[0]["payload"]["message"]) == pam_signal.TEXT_MAX


def test_held_lock_costs_about_a_second_at_the_most(agent: Agent) -> None:
    with agent.spool.open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        began = time.monotonic()
        said = agent.says("completed")
        assert 0.5 < time.monotonic() - began < 3
    assert said.returncode == 0
    assert b"not recorded" in said.stderr
    assert agent.lines() == []


@pytest.mark.parametrize(("words", "most"), [(["progress", "--message", "x"], 0.9), (["completed"], 3.0)])
def test_full_disk_leaves_no_torn_line_and_little_delay(agent: Agent, words: list[str], most: float) -> None:
    """Progress gives up at once: hooks fire often, and the next one says it anew."""
    whole = b'{"kind":"before"}\n' * 10
    agent.spool.write_bytes(whole)

    def fill() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(whole) + 20, len(whole) + 20))

    began = time.monotonic()
    said = agent.says(*words, before=fill)
    assert time.monotonic() - began < most
    assert (said.returncode, said.stdout) == (0, b"")
    assert said.stderr == b"pam_signal: not recorded: File too large\n"
    assert agent.spool.read_bytes() == whole


def test_lost_spool_folder_is_said_and_not_made(agent: Agent) -> None:
    agent.env["PAM_SPOOL"] = str(agent.spool.parent / "gone" / "1.jsonl")
    said = agent.says("progress", "--message", "x")
    assert (said.returncode, said.stderr) == (0, b"pam_signal: not recorded: No such file or directory\n")


def test_torn_last_line_stays_one_bad_line(agent: Agent) -> None:
    agent.spool.write_bytes(b'{"v":1,"ru')
    agent.says("completed")
    torn, whole = agent.spool.read_bytes().splitlines()
    assert torn == b'{"v":1,"ru'
    assert json.loads(whole)["kind"] == "completed"


def test_closed_standard_streams_do_not_matter(agent: Agent) -> None:
    script = f'exec "$0" -I -S -E "{pam_signal.__file__}" completed <&- >&- 2>&-'
    ran = subprocess.run(["/bin/sh", "-c", script, sys.executable], env=agent.env, timeout=20)
    assert ran.returncode == 0
    assert [line["kind"] for line in agent.lines()] == ["completed"]


@pytest.mark.parametrize("version", ["3.8", "3.13"])
def test_runs_on_every_python_a_host_may_have(agent: Agent, version: str) -> None:
    words = [python_of(version), *HELPER[1:], "progress", "--message", "ö"]
    assert silent(subprocess.run(words, env=agent.env, capture_output=True, timeout=20))
    assert agent.lines()[0]["payload"] == {"message": "ö"}


# What an agent CLI calls


def test_a_hook_passes_its_payload_on_as_it_came(agent: Agent) -> None:
    payload = b'{"hook_event_name": "Stop",\n "text": "\xc3\xbc"}'
    assert silent(agent.says("hook", "claude", stdin=payload))
    assert silent(agent.says("hook", "copilot", "agentStop", stdin=b"{}"))
    assert silent(agent.says("hook", "codex", "notify", '{"type": "x"}'))
    lines = agent.lines()
    assert [(line["kind"], line["source"], line["seq"]) for line in lines] == [
        ("hook", "hook:claude", 1),
        ("hook", "hook:copilot", 2),
        ("hook", "hook:codex", 3),
    ]
    assert [line["payload"] for line in lines] == [
        {"event": "", "raw": payload.decode()},
        {"event": "agentStop", "raw": "{}"},
        {"event": "notify", "raw": '{"type": "x"}'},
    ]


def test_a_long_payload_keeps_its_keys_and_the_beginnings_of_its_texts(agent: Agent) -> None:
    payload = {"hook_event_name": "Stop", "text": "x" * 1_000_000, "many": ["y" * 5000] * 500, "n": 1}
    assert silent(agent.says("hook", "claude", stdin=json.dumps(payload).encode()))
    (line,) = agent.lines()
    kept = json.loads(line["payload"]["raw"])
    assert len(line["payload"]["raw"]) <= pam_signal.RAW_MAX
    assert (kept["hook_event_name"], kept["n"], kept["text"]) == ("Stop", 1, "x" * len(kept["text"]))


@pytest.mark.parametrize("stdin", [b"x" * 100_000, b"[" * 100_000, b"\xff\xfe", b""])
def test_what_is_no_payload_still_says_that_the_hook_was_called(agent: Agent, stdin: bytes) -> None:
    assert silent(agent.says("hook", "claude", stdin=stdin))
    assert len(agent.lines()) == 1


def test_outside_a_run_of_pams_a_hook_is_silent_and_does_nothing(agent: Agent) -> None:
    del agent.env["PAM_RUN"]
    assert silent(agent.says("hook", "claude", stdin=b"{}"))
    assert agent.lines() == []


@pytest.mark.parametrize("words", [["hook"], ["hook", "a/b"], ["hook", "claude", "Stop", "{}", "more"]])
def test_a_hook_that_is_called_wrongly_says_how_it_is_called(agent: Agent, words: list[str]) -> None:
    said = agent.says(*words, stdin=b"")
    assert (said.returncode, said.stdout) == (0, b"")
    assert b"pam_signal hook NAME" in said.stderr
    assert agent.lines() == []


def test_a_key_that_the_agent_was_given_is_not_spooled(agent: Agent) -> None:
    """PAM-SEC-002: by what its variable is called, or by what pam says that it is."""
    shaped, plain = 'a "quoted" \\ key', "words of no shape"
    agent.env |= {"MY_API_KEY": shaped, "LEAKY_AUTH": plain, "PAM_KEYS": "LEAKY_AUTH OTHER", "SHORT_KEY": "hook"}
    assert silent(agent.says("progress", "--note", f"{shaped} and {plain}"))
    payload = json.dumps({"hook_event_name": "Stop", "error": f"401 for {shaped}", "raw": json.dumps([shaped])})
    assert silent(agent.says("hook", "claude", stdin=payload.encode()))
    assert silent(agent.says("failed", "--stdin", stdin=plain.encode()))
    first, second, third = (line["payload"] for line in agent.lines())
    assert first == {"note": "[hidden] and [hidden]"}
    assert third == {"error": "[hidden]"}
    raw = json.loads(second["raw"])
    assert raw["hook_event_name"] == "Stop"
    assert raw["error"] == "401 for [hidden]"
    assert "quoted" not in agent.spool.read_text()
