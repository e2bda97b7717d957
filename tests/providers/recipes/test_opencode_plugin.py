"""The plugin itself, run by Node with the events that opencode gives its plugins; skipped where there is no Node."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from providers.recipes.opencode_plugin import plugin

NODE = shutil.which("node")
pytestmark = pytest.mark.skipif(NODE is None, reason="Node is not installed")

OPENCODE = """
import { Pam } from %(plugin)s
const sessions = { main: {}, sub: { parentID: "main" } }
const models = { m: { limit: { context: 1000 } } }
const client = {
  session: { get: async ({ path: { id } }) => ({ data: { id, ...sessions[id] } }) },
  config: { providers: async () => ({ data: { providers: [{ id: "p", models }] } }) },
}
const pam = await Pam({ client })
for (const { type, ...properties } of %(events)s)
  if (type === "chat.message") await pam[type]?.(properties, {})
  else await pam.event?.({ event: { type, properties } })
await pam.dispose?.()
process.exit(0)
"""
RECORDER = "import sys; open(sys.argv[1], 'a').write(sys.stdin.read() + '\\n')"
RUN = {"PAM_RUN": "run-1", "PAM_ATTEMPT": "1"}

PROMPT = {"type": "chat.message", "sessionID": "main"}
BUSY = {"type": "session.status", "sessionID": "main", "status": {"type": "busy"}}
IDLE = {"type": "session.idle", "sessionID": "main"}
ERROR = {"type": "session.error", "sessionID": "main", "error": {"name": "APIError", "data": {"message": "no"}}}
ASKED = {"type": "permission.asked", "sessionID": "main", "id": "per_1", "permission": "bash"}
ALSO_ASKED = {**ASKED, "sessionID": "sub", "id": "per_2"}


def answer(finish: str, **tokens: int) -> dict[str, object]:
    info = {"sessionID": "main", "role": "assistant", "finish": finish, "time": {"completed": 1}}
    return {"type": "message.updated", "info": {**info, "providerID": "p", "modelID": "m", "tokens": tokens}}


def replied(question: str) -> dict[str, object]:
    return {"type": "permission.replied", "sessionID": "main", "requestID": question, "reply": "once"}


def heard(directory: Path, events: Sequence[object], **env: str) -> list[dict[str, object]]:
    """What the hook command was given, in order."""
    file, module, driver = directory / "heard", directory / "plugin.mjs", directory / "driver.mjs"
    module.write_bytes(plugin([sys.executable, "-S", "-c", RECORDER, str(file)]))
    driver.write_text(OPENCODE % {"plugin": json.dumps(module.as_uri()), "events": json.dumps(events)})
    assert NODE is not None
    environ = {"PATH": os.defpath, **RUN, **env}
    done = subprocess.run([NODE, str(driver)], env=environ, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def briefly(said: list[dict[str, object]]) -> list[str]:
    """Type by type, with how a turn ended."""
    return [f"{one['type']}:{one['ended']}" if "ended" in one else str(one["type"]) for one in said]


def test_a_turn_is_a_prompt_and_an_end(tmp_path: Path) -> None:
    said = heard(tmp_path, [PROMPT, BUSY, BUSY, answer("stop", input=5), BUSY, IDLE, IDLE])
    assert briefly(said) == ["chat.message", "session.idle:well"]


def test_what_it_does_by_itself_is_work(tmp_path: Path) -> None:
    assert briefly(heard(tmp_path, [BUSY, IDLE])) == ["session.status", "session.idle:well"]


def test_an_end_after_an_error_is_not_a_good_one(tmp_path: Path) -> None:
    events = [PROMPT, BUSY, ERROR, IDLE, ERROR, IDLE, PROMPT, answer("stop"), IDLE]
    good = ["chat.message", "session.idle:well"]
    assert briefly(heard(tmp_path, events)) == ["chat.message", "session.error", "session.idle:badly", *good]


def test_a_turn_that_stops_with_the_tool_it_asked_for_was_denied_it(tmp_path: Path) -> None:
    events = [PROMPT, ASKED, replied("per_1"), answer("tool-calls"), IDLE]
    asked = ["chat.message", "permission.asked", "permission.replied"]
    assert briefly(heard(tmp_path, events)) == [*asked, "session.idle:denied"]


def test_of_two_questions_the_open_one_is_asked_again(tmp_path: Path) -> None:
    said = heard(tmp_path, [PROMPT, ASKED, ALSO_ASKED, replied("per_1"), replied("per_2")])
    assert [one.get("id") for one in said] == [None, "per_1", "per_2", "per_2", None]
    assert briefly(said)[-1] == "permission.replied"


def test_a_subagent_is_not_the_run(tmp_path: Path) -> None:
    sub = [{**event, "sessionID": "sub"} for event in (PROMPT, BUSY, ERROR, IDLE)]
    created = {"type": "session.created", "sessionID": "sub", "info": {"id": "sub", "parentID": "main"}}
    assert heard(tmp_path, [created, *sub]) == []


def test_a_request_that_is_tried_again_is_told_and_that_it_goes_on(tmp_path: Path) -> None:
    retry = {**BUSY, "status": {"type": "retry", "attempt": 1, "message": "no"}}
    said = heard(tmp_path, [PROMPT, BUSY, retry, BUSY, BUSY, IDLE])
    assert briefly(said) == ["chat.message", "session.status", "session.status", "session.idle:well"]


def test_what_a_turn_used_is_counted_with_its_subagents_when_it_has_ended(tmp_path: Path) -> None:
    def updated(session: str, cost: float, **tokens: object) -> dict[str, object]:
        parent = {"parentID": "main"} if session == "sub" else {}
        return {"type": "session.updated", "info": {"id": session, "cost": cost, "tokens": tokens, **parent}}

    events = [PROMPT, updated("main", 0, input=0), answer("stop", input=7), IDLE]
    events += [updated("sub", 0.5, input=3, cache={"read": 2}), updated("main", 0.25, input=5, output=1)]
    counted = heard(tmp_path, events)[-1]
    assert counted["type"] == "pam.usage"
    assert counted["usage"] == {
        "totals": {"input": 8, "output": 1, "reasoning": 0, "read": 2, "write": 0, "cost": 0.75},
        "model": "p/m",
        "limit": 1000,
        "context": {"input": 7},
    }


@pytest.mark.parametrize("env", [{"PAM_RUN": ""}, {"PAM_HEARD": "run-1/1/1"}])
def test_it_is_silent_outside_a_run_and_in_an_opencode_that_the_agent_started(
    tmp_path: Path, env: dict[str, str]
) -> None:
    assert heard(tmp_path, [PROMPT, IDLE], **env) == []


def test_another_runs_plugin_around_it_does_not_silence_it(tmp_path: Path) -> None:
    assert briefly(heard(tmp_path, [PROMPT], PAM_HEARD="run-1/0/1")) == ["chat.message"]


def test_events_that_are_not_as_expected_are_passed_over(tmp_path: Path) -> None:
    odd = [{"type": kind} for kind in ("session.created", "session.updated", "message.updated", "session.error", "x")]
    said = heard(tmp_path, [*odd, {"type": "session.updated", "info": 3}, PROMPT])
    assert briefly(said)[-1] == "chat.message"
