"""Hooks from end to end: a program called as an agent CLI calls it, and what pam makes of it (PAM-COMP-001)."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from executor.supervision.hooks import said_by, signals_of
from executor.wrapper import pam_signal
from providers.recipes.recipe import Ask, Said
from store import deliveries, signals
from store.records import Run, Signal
from tests.support.stage import ACTOR, Stage
from tests.support.waiting import until

CATALOG = """
[fake]
title = "A CLI with claude's hooks"
bin = "{program}"
argv = ["{{bin}}", "{{hooks}}", ["--", "{{prompt}}"]]
prompt = "argv"
tui_type = "line_oriented"
completion_signals = ["native_hook", "exit_code"]
hooks = {{ recipe = "claude", proven = true }}
"""

PROGRAM = """#!/usr/bin/env python3
# Calls the hook of its settings file with each payload that is put beside it, until the file named "end" is there.
import json, pathlib, subprocess, sys, time
hooks = json.load(open(sys.argv[sys.argv.index("--settings") + 1]))["hooks"]
place = pathlib.Path(__file__).parent
done = 0
while not (place / "end").exists():
    for file in sorted(place.glob("*.json"))[done:]:
        payload = file.read_bytes()
        name = json.loads(payload)["hook_event_name"]
        group = hooks.get(name, hooks["Stop"])[0]
        ended = subprocess.run(group["hooks"][0]["command"], shell=True, input=payload, capture_output=True)
        assert (ended.returncode, ended.stdout, ended.stderr) == (0, b"", b""), ended
        done += 1
    time.sleep(0.01)
"""


class FakeCli:
    """The program of the provider ``fake``."""

    def __init__(self, stage: Stage, place: Path) -> None:
        self.stage = stage
        self.place = place
        self._said = 0
        place.mkdir()
        program = place / "fake"
        program.write_text(PROGRAM)
        program.chmod(0o755)
        (stage.home.path / "providers.toml").write_text(CATALOG.format(program=program))

    def says(self, event: str, **facts: object) -> None:
        """Let it call its hook."""
        self._said += 1
        draft = self.place / "draft"
        draft.write_text(json.dumps({"hook_event_name": event, **facts}))
        draft.rename(self.place / f"{self._said:03}.json")

    def end(self) -> None:
        """Let it exit."""
        (self.place / "end").touch()

    def until(self, run: Run, activity: str, note: str | None = None) -> Run:
        """The run once this is its activity, with exactly this note."""

        def there() -> bool:
            now = self.stage.run(run)
            return (now.activity, now.activity_note) == (activity, note)

        until(there, 20, lambda: (self.stage.run(run), self.stage.pane(run)))
        return self.stage.run(run)


@pytest.fixture
def cli(stage: Stage, tmp_path: Path) -> FakeCli:
    """The provider ``fake``, ready to be started."""
    return FakeCli(stage, tmp_path / "fake")


def test_what_the_hooks_say_is_the_activity_and_never_the_status(stage: Stage, cli: FakeCli) -> None:
    with stage.executor():
        run = stage.until_status(stage.start("fake"), "running")
        cli.says("SessionStart", session_id="s-1", transcript_path="/home/mara/.claude/s-1.jsonl", source="startup")
        began = cli.until(run, "idle")
        assert (began.conversation_id, began.transcript) == ("s-1", "/home/mara/.claude/s-1.jsonl")
        assert began.activity_source == "hook"
        cli.says("UserPromptSubmit", prompt="go")
        cli.until(run, "working")
        cli.says("PermissionRequest", tool_name="Bash", tool_input={"command": "rm -r build"})
        cli.until(run, "waiting", "Bash: rm -r build")
        cli.says("Notification", notification_type="permission_prompt", message="Claude needs your permission")
        cli.says("PostToolUse", tool_name="Read", tool_input={"file_path": "/x"})
        cli.says("PostToolUse", tool_name="Bash", tool_input={"command": "rm -r build"})
        cli.until(run, "working")
        cli.says("Stop", background_tasks=[])
        cli.until(run, "idle")
        assert stage.run(run).status == "running"
        cli.end()
        assert stage.until_ended(run).exit_code == 0
    said = [event.payload for event in stage.events(run) if event.topic == "run.signal_received"]
    assert [one["said"].get("activity") for one in said if one["kind"] == "progress"] == [  # type: ignore[attr-defined]
        *("idle", "working", "waiting", "working", "idle")
    ], "neither the reminder nor the other tool says anything new"
    assert [one["kind"] for one in said if one["kind"] != "progress"] == ["completed"]


def test_only_the_first_clean_end_completes_and_every_failure_is_shown(stage: Stage, cli: FakeCli) -> None:
    with stage.executor():
        run = stage.until_status(stage.start("fake"), "running")
        for answer in ("one", "two"):
            cli.says("UserPromptSubmit", prompt=answer)
            cli.says("Stop", background_tasks=[])
        for error in ("overloaded", "no credit"):
            cli.says("UserPromptSubmit", prompt="again")
            cli.says("StopFailure", error="x", last_assistant_message=error)
            cli.until(run, "idle", error)
    kinds = [event.payload["kind"] for event in stage.events(run) if event.topic == "run.signal_received"]
    assert (kinds.count("completed"), kinds.count("failed")) == (1, 1)
    assert stage.run(run).status == "running"


def test_a_prompt_that_was_taken_up_confirms_the_delivery_that_waits_for_it(stage: Stage, cli: FakeCli) -> None:
    with stage.executor():
        run = stage.until_status(stage.start("fake"), "running")
        cli.says("SessionStart", session_id="s", source="startup")
        cli.until(run, "idle")
        sent = deliveries.queue_prompt(stage.store, run.id, "and the docs", actor=ACTOR)
        until(lambda: deliveries.get(stage.store, sent.id).status == "typed", 20)
        assert "and the docs" in stage.pane(run)
        cli.says("UserPromptSubmit", prompt="and the docs")
        until(lambda: deliveries.get(stage.store, sent.id).status == "confirmed", 20)


def test_damaged_and_unknown_payloads_are_passed_over(stage: Stage, cli: FakeCli) -> None:
    with stage.executor():
        run = stage.until_status(stage.start("fake"), "running")
        cli.says("NobodyKnowsThis", prompt="?")
        cli.says("Stop", background_tasks="?", last_assistant_message=["x" * 60_000] * 30)
        cli.until(run, "idle")
        spool = (stage.home.path / "spool" / "1.jsonl").read_text()
        assert max(map(len, spool.splitlines())) < 100_000
        cli.says("UserPromptSubmit", prompt="\ud83d\ude80 \x00" * 2)
        cli.until(run, "working")


def test_a_hook_after_the_end_changes_nothing(stage: Stage) -> None:
    ended = Signal("r", 1, "hook", "hook:claude", seq=9, payload={"event": "", "raw": '{"hook_event_name": "Stop"}'})
    said = said_by(ended)
    assert said is not None
    with stage.executor():
        run = stage.until_ended(stage.shell("true"))
    before = (stage.run(run), len(stage.events(run)))
    for signal in signals_of(Signal(run.id, 1, "hook", "hook:claude", seq=9), said, stage.run(run)):
        signals.ingest(stage.store, signal)
    now = stage.run(run)
    assert (now.status, now.activity) == (before[0].status, before[0].activity)


@pytest.mark.parametrize("raw", ["", "null", "[]", "{", '{"a":' * 5000, "\ud800"])
def test_what_is_no_payload_says_nothing(raw: str) -> None:
    line = Signal("r", 1, "hook", "hook:claude", seq=1, payload={"event": "", "raw": raw})
    assert said_by(line) is None


def test_a_hook_of_no_known_cli_says_nothing() -> None:
    assert said_by(Signal("r", 1, "hook", "hook:nobody", seq=1, payload={"raw": "{}"})) is None


def test_an_open_question_is_not_answered_by_another_tool(stage: Stage) -> None:
    asked = Ask("permission", "make", "Bash").line
    line = Signal("r", 1, "hook", "hook:claude", seq=1)
    run = stage.shell("true")

    waiting = replace(run, activity="waiting", activity_note=asked)
    assert signals_of(line, Said(activity="working", answered="Read: /x"), waiting) == []
    (signal,) = signals_of(line, Said(activity="working", answered=asked), waiting)
    assert signal.payload == {"activity": "working"}
    assert signals_of(line, Said(activity="working", answered="Read: /x"), replace(run, activity="working")) == []


def test_a_cli_that_an_agent_starts_does_not_speak_for_it(stage: Stage, cli: FakeCli) -> None:
    """It inherits the environment of the run, and its own hooks may be pam's as well."""
    with stage.executor():
        run = stage.until_status(stage.start("fake"), "running")
        spool = stage.home.path / "spool" / "1.jsonl"
        line = {"v": 1, "run": run.id, "attempt": 1, "source": "hook:codex", "kind": "hook", "seq": 1}
        payload = {"event": "", "raw": json.dumps({"hook_event_name": "UserPromptSubmit", "prompt": "go"})}
        pam_signal.append(os.fsencode(spool), lambda: json.dumps(line | {"payload": payload}).encode() + b"\n")
        cli.says("Stop", background_tasks=[])
        cli.until(run, "idle")
    said = [event.payload for event in stage.events(run) if event.topic == "run.signal_received"]
    assert {one["source"] for one in said} == {"hook:claude"}
