"""What gemini is given, and what its hooks say: payloads as it sent them, and whatever else may come."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from providers.recipes.gemini import AT_END, COMMAND, EVENTS, Gemini
from providers.recipes.recipe import Answer, Ask, Setting
from tests.providers.recipes.recorded import payloads

RECIPE = Gemini()
SIGNAL = ("/usr/bin/python3", "-I", "/home/mara/pam/a b.py")
AT = Setting("/home/mara/pam", "/home/mara", "/work", SIGNAL, {"GEMINI_API_KEY": "dummy"})
RECORDED = payloads("gemini")


def said(name: str, **changed: object) -> Any:
    return RECIPE.read("", {**RECORDED[name], **changed})


# -- what its hooks say


def test_a_session_that_begins_takes_input_and_names_its_conversation_and_chat() -> None:
    began = said("SessionStart:startup")
    assert began.activity == "idle"
    assert began.conversation_id == RECORDED["SessionStart:startup"]["session_id"]
    assert began.transcript == RECORDED["SessionStart:startup"]["transcript_path"]


def test_a_resumed_session_names_its_chat_with_the_first_prompt() -> None:
    began = said("SessionStart:resume")
    assert (began.activity, began.transcript) == ("idle", None)
    assert said("BeforeAgent").transcript == RECORDED["BeforeAgent"]["transcript_path"]


def test_a_prompt_is_worked_on() -> None:
    taken = said("BeforeAgent")
    assert (taken.activity, taken.accepted) == ("working", True)


@pytest.mark.parametrize(
    ("name", "ask"),
    [
        ("Notification:exec", Ask("permission", "touch zz && echo hi", "Shell")),
        ("Notification:edit", Ask("permission", "/home/dev/gm/wd/a.txt", "Edit")),
        ("Notification:info", Ask("permission", "read http://127.0.0.1:1/x please")),
        ("BeforeTool:ask_user", Ask("question", "Which one?")),
    ],
)
def test_it_waits_with_what_it_waits_for(name: str, ask: Ask) -> None:
    asked = said(name)
    assert (asked.activity, asked.ask) == ("waiting", ask)


@pytest.mark.parametrize(
    ("details", "ask"),
    [
        ({"type": "mcp", "serverName": "box", "toolName": "wipe"}, Ask("permission", "wipe", "box")),
        ({"type": "exit_plan_mode", "title": "Plan"}, Ask("plan", "Plan")),
        ({"type": "sandbox_expansion", "title": "More room"}, Ask("permission", "More room")),
        ({"type": "exec", "title": "Shell Command"}, Ask("permission", "Shell Command", "Shell")),
        (None, Ask("permission", "Tool Confirm Shell Command requires execution")),
    ],
)
def test_other_questions_are_shown_with_what_is_known(details: object, ask: Ask) -> None:
    assert said("Notification:exec", details=details).ask == ask


def test_the_question_of_the_agent_is_not_put_twice() -> None:
    asked = said("Notification:ask_user")
    assert (asked.activity, asked.ask) == ("waiting", None)


def test_a_notification_of_another_kind_says_nothing() -> None:
    assert said("Notification:exec", notification_type="Weather") is None


@pytest.mark.parametrize(("ended", "asked"), [("AfterTool:write_file", "Notification:edit")])
def test_a_tool_that_ended_answers_its_own_question(ended: str, asked: str) -> None:
    answer = said(ended)
    assert (answer.activity, answer.answered) == ("working", said(asked).ask.line)


def test_a_command_that_ended_answers_its_own_question() -> None:
    given_ = RECORDED["BeforeTool:run_shell_command"]["tool_input"]
    answered = said("AfterTool:run_shell_command", tool_input=given_).answered
    assert answered == said("Notification:exec").ask.line


def test_a_tool_of_a_server_answers_its_own_question() -> None:
    context = {"server_name": "box", "tool_name": "wipe"}
    details = {"type": "mcp", "serverName": "box", "toolName": "wipe"}
    answered = said("AfterTool:write_file", tool_name="mcp_box_wipe", mcp_context=context).answered
    assert answered == said("Notification:exec", details=details).ask.line


@pytest.mark.parametrize("name", ["AfterTool:ask_user", "AfterTool:web_fetch"])
def test_a_tool_that_asks_in_its_own_words_answers_any_question(name: str) -> None:
    assert said(name).answered is None


def test_a_tool_that_never_asks_answers_no_question() -> None:
    assert said("AfterTool:write_file", tool_name="read_file").answered == "read_file"


@pytest.mark.parametrize("name", ["BeforeTool:write_file", "SessionEnd"])
def test_what_tells_nothing_says_nothing(name: str) -> None:
    assert said(name) is None


def test_a_turn_that_ended_is_completed() -> None:
    ended = said("AfterAgent")
    assert (ended.activity, ended.completed, ended.failed) == ("idle", True, None)


@pytest.mark.parametrize("answer", ["[no response text]", "", None, 3])
def test_a_turn_without_an_answer_failed(answer: object) -> None:
    ended = said("AfterAgent:nothing", prompt_response=answer)
    assert (ended.activity, ended.completed) == ("idle", False)
    assert ended.failed


def test_a_turn_whose_chat_ends_with_an_error_failed() -> None:
    line = {"type": "error", "content": '[API Error: {"error":{"code":400,"message":"stub error 400"}}]'}
    ended = RECIPE.read("Failed", line)
    assert ended is not None
    assert (ended.activity, ended.failed) == ("idle", "stub error 400")


def test_a_turn_whose_chat_ends_with_a_cancelled_request_was_interrupted() -> None:
    ended = RECIPE.read("Cancelled", RECORDED["AfterAgent:partial"])
    assert ended is not None
    assert (ended.activity, ended.interrupted, ended.completed) == ("idle", True, False)


def test_an_unknown_event_says_nothing() -> None:
    assert RECIPE.read("", {"hook_event_name": "BeforeModel"}) is None
    assert RECIPE.read("", {}) is None


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=12,
)
FIELDS = (
    "tool_name",
    "tool_input",
    "source",
    "session_id",
    "transcript_path",
    "cwd",
    "prompt_response",
    "mcp_context",
    "content",
)
DETAILS = ("title", "command", "filePath", "fileName", "serverName", "toolName", "prompt")
TYPES = ("exec", "edit", "mcp", "info", "ask_user", "exit_plan_mode")
TOOLS = ("write_file", "run_shell_command", "ask_user", "x")


@given(
    event=st.sampled_from([*EVENTS, "Failed", "Cancelled"]),
    payload=st.dictionaries(st.sampled_from(FIELDS), json_values),
    details=st.dictionaries(st.sampled_from(DETAILS), json_values),
    kind=st.sampled_from(TYPES),
    tool=st.sampled_from(TOOLS),
    given_=st.dictionaries(st.sampled_from(["command", "file_path", "questions"]), json_values),
)
def test_no_payload_is_too_odd(
    event: str, payload: dict[str, object], details: dict[str, object], kind: str, tool: str, given_: object
) -> None:
    RECIPE.read(event, payload)
    RECIPE.read(event, {"tool_name": tool, "tool_input": given_, **payload})
    RECIPE.read(event, {"notification_type": "ToolPermission", "details": {**details, "type": kind}, **payload})


# -- what it is given


def answers(at: Setting = AT) -> dict[str, Answer]:
    return {answer.path: answer for answer in RECIPE.setup(at).answers}


EXTENSION = "/home/mara/.gemini/extensions/pam"


def test_every_event_runs_pams_command() -> None:
    data = answers()[f"{EXTENSION}/hooks/hooks.json"].edit(None)
    assert data is not None
    hooks = json.loads(data)["hooks"]
    assert set(hooks) == set(EVENTS)
    for event, [group] in hooks.items():
        [hook] = group["hooks"]
        assert hook["command"] == (AT_END if event == "AfterAgent" else COMMAND)


def test_the_extension_is_the_same_for_every_home_of_pams() -> None:
    other = Setting("/srv/pam", "/home/mara", "/elsewhere", ("/usr/bin/python3.12", "x.py"))
    for path, answer in answers(other).items():
        assert answer.edit(answers()[path].edit(None)) is None


def test_an_extension_of_an_older_pam_is_replaced_and_one_of_somebody_else_is_not() -> None:
    manifest = answers()[f"{EXTENSION}/gemini-extension.json"]
    ours = manifest.edit(None)
    assert ours is not None
    assert manifest.edit(json.dumps({**json.loads(ours), "version": "0.9.0"}).encode()) == ours
    for other in (b'{"name": "pam", "version": "1.0.0"}', b"[]", b"{", b"\xff"):
        with pytest.raises(ValueError):
            manifest.edit(other)


def test_gemini_is_told_how_to_sign_in_when_the_key_says_it() -> None:
    settings = answers()["/home/mara/.gemini/settings.json"]
    made = settings.edit(None)
    assert made is not None
    assert json.loads(made) == {"security": {"auth": {"selectedType": "gemini-api-key"}}}
    added = settings.edit(b'{"ui": {"theme": "Dark"}, "security": {"folderTrust": {}}}')
    assert added is not None
    assert json.loads(added) == {
        "ui": {"theme": "Dark"},
        "security": {"folderTrust": {}, "auth": {"selectedType": "gemini-api-key"}},
    }


@pytest.mark.parametrize("auth", [{"selectedType": "oauth-personal"}, {"useExternal": True}])
def test_the_operators_own_way_to_sign_in_stays(auth: dict[str, object]) -> None:
    settings = answers()["/home/mara/.gemini/settings.json"]
    assert settings.edit(json.dumps({"security": {"auth": auth}}).encode()) is None


@pytest.mark.parametrize(
    "data", [b'{"a": 1, // mine\n}', b"[]", b'{"security": 1}', b'{"security": {"auth": []}}', b"\xff"]
)
def test_settings_that_cannot_be_kept_whole_are_not_touched(data: bytes) -> None:
    with pytest.raises(ValueError):
        answers()["/home/mara/.gemini/settings.json"].edit(data)


def test_without_a_key_the_settings_are_the_operators() -> None:
    assert "/home/mara/.gemini/settings.json" not in answers(Setting("/p", "/home/mara", "/work", SIGNAL))


def test_its_files_stand_where_the_agent_looks_for_them() -> None:
    at = Setting("/p", "/home/mara", "/work", SIGNAL, {"GEMINI_CLI_HOME": "/srv/gm"})
    assert all(path.startswith("/srv/gm/.gemini/extensions/pam/") for path in answers(at))


ERROR = '{"id":"3","type":"error","content":"[API Error: no]"}'
CANCELLED = '{"id":"4","type":"info","content":"Request cancelled."}'
MORE = '{"id":"5","type":"info","content":"This request failed."}'
PROMPT = '{"id":"1","type":"user","content":[{"text":"say \\"content\\":\\"Request cancelled.\\""}]}'
ANSWER = '{"id":"2","type":"gemini","content":"ok","tokens":{"input":1}}'
SET = '{"$set":{"lastUpdated":"2026-11-30T14:12:47.288Z"}}'
MESSAGES = '{"$set":{"messages":[{"id":"4","type":"info","content":"Request cancelled."}]}}'


def heard(directory: Path, command: str, payload: str, env: dict[str, str]) -> str | None:
    """What the signal command is called with, and its input; the shell command itself never fails and never speaks."""
    script, file = directory / "a b.sh", directory / "heard"
    script.write_text(f'#!/bin/sh\necho "$@" > {file}\ncat >> {file}\n')
    script.chmod(0o755)
    filled = {name: value.replace("{script}", str(script)) for name, value in env.items()}
    filled["PATH"] = "/usr/bin:/bin"
    done = subprocess.run(
        ["/bin/bash", "-c", command], env=filled, input=payload.encode(), capture_output=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    return file.read_text() if file.exists() else None


@pytest.mark.parametrize("command", [COMMAND, AT_END])
@pytest.mark.parametrize(
    ("env", "called"),
    [
        ({"PAM_SIGNAL": "'{script}' --for us"}, "--for us hook gemini\n{}"),
        ({}, None),
        ({"PAM_SIGNAL": ""}, None),
        ({"PAM_SIGNAL": "'{script}'", "GEMINI_CLI": "1"}, None),
    ],
)
def test_the_command_speaks_for_the_run_itself_only(
    tmp_path: Path, command: str, env: dict[str, str], called: str | None
) -> None:
    assert heard(tmp_path, command, "{}", env) == called


@pytest.mark.parametrize(
    ("chat", "how"),
    [
        ([PROMPT, SET, ANSWER, SET], ""),
        ([PROMPT, SET, CANCELLED, SET], "Cancelled"),
        ([PROMPT, SET, CANCELLED, SET, MESSAGES], "Cancelled"),
        ([CANCELLED, SET, MESSAGES, PROMPT, SET, ANSWER, SET], ""),
        ([CANCELLED, SET, MESSAGES, PROMPT, SET], ""),
        ([PROMPT, SET, ERROR, SET], "Failed"),
        ([PROMPT, SET, ERROR, SET, MORE, SET], "Failed"),
        ([ERROR, SET, MORE, SET, PROMPT, SET, ANSWER, SET], ""),
        ([ERROR, SET, MORE, SET, PROMPT, SET, CANCELLED, SET], "Cancelled"),
        ([], ""),
        (None, ""),
    ],
)
def test_the_end_of_the_chat_says_how_a_turn_ended(tmp_path: Path, chat: list[str] | None, how: str) -> None:
    file = tmp_path / "a chat.jsonl"
    if chat is not None:
        file.write_text("".join(f"{line}\n" for line in chat))
    given_ = {"prompt": 'a "transcript_path":"/etc/passwd" %s \\ $(id)', "transcript_path": str(file), "z": "'"}
    payload = json.dumps(given_, separators=(",", ":"))
    called, _, said_ = (heard(tmp_path, AT_END, payload, {"PAM_SIGNAL": "'{script}'"}) or "").partition("\n")
    assert called == f"hook gemini {how}".rstrip()
    assert said_ == (ERROR if how == "Failed" else payload)
