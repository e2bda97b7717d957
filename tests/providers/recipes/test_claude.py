"""What claude's hooks say: payloads as it sent them, and whatever else may come (PAM-COMP-001, 007)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from providers.recipes.claude import EVENTS, Claude
from providers.recipes.recipe import Ask, Setting
from tests.providers.recipes.recorded import payloads

RECIPE = Claude()
AT = Setting("/home/mara/pam", "/home/mara", "/work/it's", ("/usr/bin/python3", "-I", "/home/mara/pam/a b.py"))
RECORDED = payloads("claude")


def said(name: str, **changed: object) -> Any:
    return RECIPE.read("", {**RECORDED[name], **changed})


def test_a_session_that_begins_is_ready_and_names_its_conversation() -> None:
    began = said("SessionStart:startup")
    assert began.activity == "idle"
    assert began.conversation_id == RECORDED["SessionStart:startup"]["session_id"]
    assert began.transcript.endswith(f"{began.conversation_id}.jsonl")


def test_compaction_within_a_turn_does_not_look_idle() -> None:
    assert said("SessionStart:startup", source="compact").activity is None


def test_a_prompt_is_worked_on() -> None:
    taken = said("UserPromptSubmit")
    assert (taken.activity, taken.accepted) == ("working", True)


def test_a_prompt_that_the_session_gives_itself_confirms_no_delivery() -> None:
    woken = said("UserPromptSubmit", prompt="<task-notification>\n<task-id>b403sy97x</task-id>")
    assert (woken.activity, woken.accepted) == ("working", False)


def test_a_permission_is_asked_for_with_tool_and_file() -> None:
    asked = said("PermissionRequest")
    assert asked.activity == "waiting"
    assert asked.ask == Ask("permission", "/home/dev/work/cl3/hello.txt", "Write")
    assert asked.ask.line == "Write: /home/dev/work/cl3/hello.txt"


def test_the_tool_that_was_asked_for_answers_the_question_and_no_other_one_does() -> None:
    asked, ended = said("PermissionRequest"), said("PostToolUse")
    assert (ended.activity, ended.answered) == ("working", asked.ask.line)
    other = said("PostToolUse", tool_name="Bash", tool_input={"command": "ls"})
    assert other.answered != asked.ask.line


def test_a_question_of_the_agent_is_shown_in_its_words() -> None:
    asked = {"questions": [{"question": "Which database?", "options": []}, {"question": "And\nthe cache?"}]}
    shown = said("PreToolUse", tool_name="AskUserQuestion", tool_input=asked)
    assert shown.activity == "waiting"
    assert shown.ask == Ask("question", "Which database? · And the cache?")
    assert said("PreToolUse") is None


def test_a_plan_waits_for_approval() -> None:
    assert said("PermissionRequest", tool_name="ExitPlanMode", tool_input={"plan": "1. Look"}).ask == Ask(
        "plan", "1. Look"
    )


def test_a_turn_that_ended_is_completed() -> None:
    ended = said("Stop")
    assert (ended.activity, ended.completed) == ("idle", True)


def test_work_in_the_background_is_not_the_end() -> None:
    ended = said("Stop:bg")
    assert (ended.activity, ended.completed, ended.note) == ("working", False, "in the background: bg")


def test_a_failed_turn_says_why() -> None:
    failed = said("StopFailure")
    assert (failed.activity, failed.failed, failed.completed) == ("idle", "API Error: 400 stub error 400", False)


def test_the_reminder_of_a_question_knows_less_than_the_question() -> None:
    assert said("Notification:permission_prompt").activity == "waiting"
    assert said("Notification:permission_prompt").ask is None
    assert said("Notification:idle_prompt").activity == "idle"


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


# -- how it is given them


def test_hooks_come_in_a_file_of_pams_own_that_is_the_same_for_every_run() -> None:
    setup = RECIPE.setup(AT)
    (file,) = setup.files
    assert setup.args == ("--settings", file.path)
    assert file.path.startswith("/home/mara/pam/hooks/claude-")
    assert RECIPE.setup(Setting(AT.home, AT.user_home, "/elsewhere", AT.signal)).files == setup.files
    hooks = json.loads(file.data)["hooks"]
    assert set(hooks) == set(EVENTS)
    (command,) = {one["hooks"][0]["command"] for group in hooks.values() for one in group}
    assert command == "/usr/bin/python3 -I '/home/mara/pam/a b.py' hook claude"


def edited(what: str, data: object, env: dict[str, str] | None = None) -> Any:
    """What the answer whose sentence has this in it makes of a file; None when it leaves it."""
    setup = RECIPE.setup(Setting(AT.home, AT.user_home, AT.cwd, AT.signal, env or {}))
    (answer,) = (one for one in setup.answers if what in one.what)
    new = answer.edit(None if data is None else json.dumps(data).encode())
    return None if new is None else json.loads(new)


def test_a_directory_is_trusted_and_nothing_else_changes() -> None:
    before = {"numStartups": 4, "projects": {"/else": {"history": ["ü"]}}}
    after = edited("trusts", before)
    assert after["projects"].pop("/work/it's") == {"hasTrustDialogAccepted": True}
    assert after == before


@pytest.mark.parametrize("directory", ["/work/it's", "/work", "/"])
def test_what_is_trusted_already_is_left(directory: str) -> None:
    assert edited("trusts", {"projects": {directory: {"hasTrustDialogAccepted": True}}}) is None


def test_where_claude_never_ran_nothing_is_made() -> None:
    assert edited("trusts", None) is None


@pytest.mark.parametrize("data", [[], {"projects": 3}, {"projects": {"/work/it's": "?"}}])
def test_a_file_that_is_not_understood_is_refused(data: object) -> None:
    with pytest.raises(ValueError, match="object"):
        edited("trusts", data)


def test_a_key_of_the_environment_is_approved_once() -> None:
    env = {"ANTHROPIC_API_KEY": "sk-ant-" + "0123456789" * 4}
    tail = env["ANTHROPIC_API_KEY"][-20:]
    assert edited("ANTHROPIC_API_KEY", {}, env)["customApiKeyResponses"] == {"approved": [tail], "rejected": []}
    for answered in ({"approved": [tail], "rejected": []}, {"approved": [], "rejected": [tail]}):
        assert edited("ANTHROPIC_API_KEY", {"customApiKeyResponses": answered}, env) is None


def test_another_configuration_directory_is_used() -> None:
    setup = RECIPE.setup(Setting(AT.home, AT.user_home, AT.cwd, AT.signal, {"CLAUDE_CONFIG_DIR": "/etc/claude"}))
    assert setup.answers[0].path == "/etc/claude/.claude.json"
