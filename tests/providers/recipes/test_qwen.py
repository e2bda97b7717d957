"""What qwen's hooks say: payloads as it sent them, and whatever else may come (PAM-COMP-001, 007)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from providers.recipes.qwen import EVENTS, PLACES, Qwen
from providers.recipes.recipe import Ask, HookSetup, Setting, Usage
from tests.providers.recipes.recorded import payloads

RECIPE = Qwen()
AT = Setting("/home/mara/pam", "/home/mara", "/work/it's", ("/usr/bin/python3", "-I", "/home/mara/pam/a b.py"))
RECORDED = payloads("qwen")


def said(name: str, **changed: object) -> Any:
    return RECIPE.read("", {**RECORDED[name], **changed})


@pytest.mark.parametrize("name", ["SessionStart:startup", "SessionStart:resume"])
def test_a_session_that_begins_is_ready_and_names_its_conversation(name: str) -> None:
    began = said(name)
    assert (began.activity, began.model) == ("idle", "stub-model")
    assert began.conversation_id == RECORDED[name]["session_id"]
    assert began.transcript.endswith(f"/chats/{began.conversation_id}.jsonl")


def test_compaction_within_a_turn_does_not_look_idle() -> None:
    assert said("SessionStart:startup", source="compact").activity is None


def test_a_prompt_is_worked_on() -> None:
    taken = said("UserPromptSubmit")
    assert (taken.activity, taken.accepted) == ("working", True)


@pytest.mark.parametrize("prompt", ["", "<task-notification>\n<task-id>bg_c18a0c1e</task-id>"])
def test_what_nobody_typed_confirms_no_delivery(prompt: str) -> None:
    taken = said("UserPromptSubmit:tool-result", prompt=prompt)
    assert (taken.activity, taken.accepted) == ("working", False)


def test_a_permission_is_asked_for_with_tool_and_file() -> None:
    asked = said("PermissionRequest")
    assert asked.activity == "waiting"
    assert asked.ask == Ask("permission", "/home/dev/work/qw-c/hello.txt", "write_file")


def test_the_tool_that_was_asked_for_answers_the_question_and_no_other_one_does() -> None:
    asked, began = said("PermissionRequest"), said("PreToolUse")
    assert (began.activity, began.answered) == ("working", asked.ask.line)
    other = said("PreToolUse", tool_name="run_shell_command", tool_input={"command": "ls"})
    assert other.answered == "run_shell_command: ls"


def test_a_question_of_the_agent_is_shown_in_its_words_until_it_is_answered() -> None:
    asked = said("PermissionRequest:question")
    assert (asked.activity, asked.ask) == ("waiting", Ask("question", "Which colour?"))
    assert said("PreToolUse:question").answered == asked.ask.line
    assert said("PermissionRequest:question", tool_input={"questions": "?"}).ask == Ask("question", "a question")


def test_a_plan_waits_for_approval() -> None:
    asked = said("PermissionRequest", tool_name="exit_plan_mode", tool_input={"plan": "1. Look\n2. Leap"})
    assert asked.ask == Ask("plan", "1. Look 2. Leap")


def test_a_turn_that_ended_is_completed_and_says_how_full_the_context_is() -> None:
    ended = said("Stop")
    assert (ended.activity, ended.completed) == ("idle", True)
    assert ended.usage == Usage(context_tokens=21404, context_limit=200000)
    assert said("Stop", input_tokens=None, context_limit="many").usage is None


def test_work_in_the_background_is_not_the_end() -> None:
    ended = said("Stop", background_tasks=[{"description": "napping"}, {"command": "make"}, 3])
    assert (ended.activity, ended.completed, ended.note) == ("working", False, "in the background: napping, make")
    assert said("Stop", background_tasks=["x", "y"]).note == "in the background: 2 tasks"


def test_a_failed_turn_says_why() -> None:
    failed = said("StopFailure")
    assert (failed.activity, failed.failed, failed.completed) == ("idle", "400 stub error 400", False)
    assert said("StopFailure", error_details=7, last_assistant_message="", error=None).failed == "the turn failed"


def test_the_reminder_of_a_question_knows_less_than_the_question() -> None:
    assert said("Notification:permission_prompt").activity == "waiting"
    assert said("Notification:permission_prompt").ask is None
    assert said("Notification:permission_prompt", notification_type="auth_success") is None


def test_an_interrupted_turn_looks_idle_and_like_nothing_else() -> None:
    idle = said("Notification:idle_prompt")
    assert (idle.activity, idle.completed, idle.interrupted, idle.failed) == ("idle", False, False, None)


def test_the_end_of_the_session_is_the_wrappers_to_tell() -> None:
    assert said("SessionEnd:prompt_input_exit") is None


def test_every_recorded_payload_is_read() -> None:
    for name, payload in RECORDED.items():
        RECIPE.read("", payload)
        assert name.partition(":")[0] == payload["hook_event_name"]


@given(st.text(), st.dictionaries(st.text(), st.recursive(st.none() | st.integers() | st.text(), st.lists)))
def test_an_unknown_event_says_nothing(event: str, payload: dict[str, object]) -> None:
    assert event in EVENTS or RECIPE.read(event, payload) is None or "hook_event_name" in payload


_ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
_KEYS = sorted({key for payload in RECORDED.values() for key in payload})


@given(st.sampled_from(sorted(EVENTS)), st.dictionaries(st.sampled_from(_KEYS), _ANY))
def test_a_damaged_payload_never_raises(event: str, payload: dict[str, object]) -> None:
    RECIPE.read(event, payload)


@given(st.sampled_from(sorted(RECORDED)), st.data())
def test_a_payload_with_a_field_of_another_type_never_raises(name: str, data: st.DataObject) -> None:
    key = data.draw(st.sampled_from(sorted(RECORDED[name])))
    RECIPE.read(name.partition(":")[0], {**RECORDED[name], key: data.draw(_ANY)})


# -- how it is given them


def placed(**env: str) -> HookSetup:
    return RECIPE.setup(Setting(AT.home, AT.user_home, AT.cwd, AT.signal, env))


def test_hooks_come_in_a_file_of_pams_own_that_is_the_same_for_every_run() -> None:
    setup = RECIPE.setup(AT)
    (file,) = setup.files
    assert (setup.args, setup.answers) == ((), ())
    assert file.path.startswith("/home/mara/pam/hooks/qwen-")
    assert RECIPE.setup(Setting(AT.home, AT.user_home, "/elsewhere", AT.signal)).files == setup.files
    settings = json.loads(file.data)
    assert set(settings["hooks"]) == set(EVENTS)
    (command,) = {one["hooks"][0]["command"] for group in settings["hooks"].values() for one in group}
    assert command == "/usr/bin/python3 -I '/home/mara/pam/a b.py' hook qwen"
    assert settings["general"] == {"enableAutoUpdate": False}
    assert settings["ui"] == {"enableFollowupSuggestions": False}


def test_the_file_is_put_below_the_operators_own() -> None:
    (file,) = RECIPE.setup(AT).files
    assert RECIPE.setup(AT).env == {"QWEN_CODE_SYSTEM_DEFAULTS_PATH": file.path}


def test_a_place_that_the_operator_uses_stays_theirs() -> None:
    setup = placed(QWEN_CODE_SYSTEM_DEFAULTS_PATH="/etc/q.json")
    assert setup.env == {"QWEN_CODE_SYSTEM_SETTINGS_PATH": setup.files[0].path}
    assert placed(**dict.fromkeys(PLACES, "/etc/q.json")) == HookSetup()
