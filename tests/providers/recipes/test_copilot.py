"""What copilot's hooks say: payloads as it sent them, and whatever else may come (PAM-COMP-001, 007)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from providers.recipes.copilot import EVENTS, Copilot
from providers.recipes.recipe import Ask, Setting
from tests.providers.recipes.recorded import payloads

RECIPE = Copilot()
AT = Setting("/home/mara/pam", "/home/mara", "/work/it's", ("/usr/bin/python3", "-I", "/home/mara/pam/a b.py"))
RECORDED = payloads("copilot")
OWN_CONFIG = b"// User settings belong in settings.json.\n// This file is managed automatically.\n"


def said(name: str, **changed: object) -> Any:
    return RECIPE.read(name.partition(":")[0], {**RECORDED[name], **changed})


@pytest.mark.parametrize("name", ["sessionStart", "sessionStart:resume"])
def test_a_session_that_begins_names_its_conversation(name: str) -> None:
    began = said(name)
    assert began.conversation_id == RECORDED[name]["sessionId"]
    assert began.activity is None, "the hook of its prompt may have come first"


def test_a_prompt_is_worked_on() -> None:
    taken = said("userPromptSubmitted")
    assert (taken.activity, taken.accepted) == ("working", True)


def test_a_prompt_that_the_session_gives_itself_confirms_no_delivery() -> None:
    woken = said("userPromptSubmitted:system")
    assert (woken.activity, woken.accepted) == ("working", False)
    assert said("notification:shell_completed") is None


def test_a_permission_is_asked_for_in_copilots_words() -> None:
    asked = said("notification:permission_prompt")
    assert (asked.activity, asked.ask) == ("waiting", Ask("permission", "Run command: echo hi > x.txt"))


def test_a_request_that_may_be_granted_unasked_says_nothing() -> None:
    assert said("permissionRequest") is None
    assert said("preToolUse") is None


def test_a_tool_that_ends_shows_that_it_was_allowed() -> None:
    ended = said("postToolUse")
    assert (ended.activity, ended.answered) == ("working", None)


def test_a_tool_that_reads_answers_only_the_question_about_its_path() -> None:
    asked, ended = said("notification:path"), said("postToolUse:view")
    assert (ended.activity, ended.answered) == ("working", asked.ask.line)
    assert said("postToolUseFailure").answered not in (None, asked.ask.line)


def test_a_question_of_the_agent_is_shown_in_its_words() -> None:
    asked = said("preToolUse:ask_user")
    assert (asked.activity, asked.ask) == ("waiting", Ask("question", "Which colour?"))
    reminder = said("notification:elicitation_dialog")
    assert (reminder.activity, reminder.ask) == ("waiting", None)
    assert said("postToolUse:ask_user").activity == "working"


def test_a_turn_that_ended_is_completed_and_names_its_file() -> None:
    ended = said("agentStop")
    assert (ended.activity, ended.completed) == ("idle", True)
    assert ended.transcript.endswith(f"/session-state/{RECORDED['agentStop']['sessionId']}/events.jsonl")


def test_a_turn_that_was_cut_short_is_not_completed() -> None:
    ended = said("agentStop", stopReason="max_tokens")
    assert (ended.activity, ended.completed, ended.note) == ("idle", False, "stopped: max_tokens")


def test_a_failed_turn_says_why() -> None:
    failed = said("errorOccurred")
    assert (failed.activity, failed.failed) == ("idle", "invalid_request_error: stub error 400")


def test_an_error_that_may_pass_is_tried_again() -> None:
    again = said("errorOccurred:500")
    assert (again.activity, again.failed, again.note) == ("working", None, "tries again: api_error: stub error 500")
    assert said("errorOccurred:500", recoverable=False).failed == "api_error: stub error 500"


@pytest.mark.parametrize("message", ["Connection refused", "429 Too Many Requests", '{"message": "Rate limited"}'])
def test_errors_of_the_way_there_may_pass(message: str) -> None:
    assert said("errorOccurred", error={"message": message}).activity == "working"


def test_an_error_of_a_tool_is_the_agents_to_handle() -> None:
    assert said("errorOccurred", errorContext="tool_execution") is None


@pytest.mark.parametrize("error", [None, "x", {}, {"message": 3}, {"message": ""}])
def test_an_error_without_words_is_one(error: object) -> None:
    assert said("errorOccurred", error=error).failed == "the turn failed"


@pytest.mark.parametrize("message", ["[1]", "plain words", "{}", "{"])
def test_an_error_that_is_no_answer_of_a_provider_is_said_as_it_is(message: str) -> None:
    assert said("errorOccurred", error={"message": message}).failed == message


def test_the_end_of_the_session_is_the_wrappers_to_tell() -> None:
    assert said("sessionEnd") is None


@given(st.text(), st.dictionaries(st.text(), st.recursive(st.none() | st.integers() | st.text(), st.lists)))
def test_an_unknown_event_says_nothing(event: str, payload: dict[str, object]) -> None:
    assert event in EVENTS or RECIPE.read(event, payload) is None


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


def test_hooks_come_as_a_plugin_of_pams_own_that_is_the_same_for_every_run() -> None:
    setup = RECIPE.setup(AT)
    about, hooks = setup.files
    directory = about.path.removesuffix("/plugin.json")
    assert setup.args == (f"--plugin-dir={directory}",)
    assert directory.startswith("/home/mara/pam/hooks/copilot-") and hooks.path == f"{directory}/hooks.json"
    assert RECIPE.setup(Setting(AT.home, AT.user_home, "/elsewhere", AT.signal)).files == setup.files
    assert json.loads(about.data)["hooks"] == "hooks.json"


def test_each_command_names_its_event() -> None:
    (_, file) = RECIPE.setup(AT).files
    hooks = json.loads(file.data)["hooks"]
    assert set(hooks) == set(EVENTS)
    for event, (hook,) in hooks.items():
        assert hook["bash"] == f"/usr/bin/python3 -I '/home/mara/pam/a b.py' hook copilot {event}"
    assert [event for event, (hook,) in hooks.items() if "matcher" in hook] == ["preToolUse"]


def edited(data: bytes | None, cwd: str = "/work/it's") -> bytes | None:
    """What the answer makes of copilot's own file; None when it leaves it."""
    (answer,) = RECIPE.setup(Setting(AT.home, AT.user_home, cwd, AT.signal)).answers
    assert (answer.path, answer.what) == ("/home/mara/.copilot/config.json", f"copilot trusts {cwd}")
    return answer.edit(data)


def test_a_directory_is_trusted_and_nothing_else_changes() -> None:
    state = {"firstLaunchAt": "2026-03-11T00:00:00.000Z", "trustedFolders": ["/else"], "name": "ü"}
    new = edited(OWN_CONFIG + json.dumps(state).encode())
    assert new is not None
    assert new.startswith(OWN_CONFIG)
    assert json.loads(new.removeprefix(OWN_CONFIG)) == {**state, "trustedFolders": ["/else", "/work/it's"]}


def test_where_copilot_never_ran_the_file_is_made() -> None:
    assert json.loads(edited(None) or b"") == {"trustedFolders": ["/work/it's"]}


@pytest.mark.parametrize("directory", ["/work/it's", "/work", "/"])
def test_what_is_trusted_already_is_left(directory: str) -> None:
    assert edited(OWN_CONFIG + json.dumps({"trustedFolders": [directory]}).encode()) is None


@pytest.mark.parametrize("data", [b"[]", b'{"trustedFolders": 3}', b'{"a": 1} // b', b"\xff"])
def test_a_file_that_is_not_understood_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError):
        edited(data)


def test_another_home_of_copilot_is_used() -> None:
    at = Setting(AT.home, AT.user_home, AT.cwd, AT.signal, {"COPILOT_HOME": "/srv/copilot"})
    assert RECIPE.setup(at).answers[0].path == "/srv/copilot/config.json"
