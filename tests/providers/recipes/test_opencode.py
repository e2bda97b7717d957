"""What opencode is given, and what the plugin of ours says: payloads as it sent them, and whatever else may come."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from providers.recipes.opencode import CONFIG, PERMISSION, Opencode
from providers.recipes.recipe import Ask, Setting, Usage
from tests.providers.recipes.recorded import payloads

RECIPE = Opencode()
SIGNAL = ("/usr/bin/python3", "-I", '/home/mara/pam/a "b".py')
RECORDED = payloads("opencode")


def said(name: str, **changed: object) -> Any:
    return RECIPE.read("", {**RECORDED[name], **changed})


# -- what the plugin says


def test_it_takes_input_when_its_screen_stands() -> None:
    assert said("pam.ready:idle").activity == "idle"
    assert said("pam.ready:busy").activity is None


def test_a_conversation_is_learned_when_it_is_made_and_with_every_prompt() -> None:
    assert said("session.created").conversation_id == RECORDED["session.created"]["sessionID"]
    assert said("chat.message").conversation_id == RECORDED["chat.message"]["sessionID"]


def test_a_prompt_is_worked_on() -> None:
    taken = said("chat.message")
    assert (taken.activity, taken.accepted) == ("working", True)


def test_work_that_goes_on_confirms_no_delivery() -> None:
    busy = said("session.status:busy")
    assert (busy.activity, busy.accepted) == ("working", False)


def test_a_request_that_is_tried_again_is_work_with_a_note() -> None:
    again = said("session.status:retry")
    assert (again.activity, again.note) == ("working", "tries again (1): stub error 529")


@pytest.mark.parametrize(
    ("name", "ask"),
    [
        ("permission.asked:bash", Ask("permission", "touch aa && ls", "bash")),
        ("permission.asked:edit", Ask("permission", "/home/dev/oc/wd/h2.txt", "edit")),
        ("question.asked", Ask("question", "Which one?")),
    ],
)
def test_it_waits_with_what_it_waits_for(name: str, ask: Ask) -> None:
    asked = said(name)
    assert (asked.activity, asked.ask) == ("waiting", ask)


def test_a_permission_without_a_command_names_its_patterns() -> None:
    asked = said("permission.asked:bash", permission="external_directory", patterns=["/etc/*", 3, "/opt"], metadata={})
    assert asked.ask == Ask("permission", "/etc/*, /opt", "external_directory")


@pytest.mark.parametrize("name", ["permission.replied", "question.replied", "question.rejected"])
def test_an_answer_is_worked_on(name: str) -> None:
    assert (said(name).activity, said(name).ask) == ("working", None)


def test_a_turn_that_ended_well_is_completed() -> None:
    ended = said("session.idle:well")
    assert (ended.activity, ended.completed, ended.interrupted) == ("idle", True, False)


def test_a_turn_that_was_denied_its_tool_is_interrupted() -> None:
    ended = said("session.idle:denied")
    assert (ended.activity, ended.completed, ended.interrupted) == ("idle", False, True)


def test_the_end_of_a_turn_that_failed_is_no_completion() -> None:
    ended = said("session.idle:badly")
    assert (ended.activity, ended.completed, ended.interrupted) == ("idle", False, False)


def test_a_turn_that_failed_says_why() -> None:
    ended = said("session.error:APIError")
    assert (ended.activity, ended.failed) == ("idle", "stub error 400")


@pytest.mark.parametrize(
    ("error", "why"),
    [({"name": "ProviderAuthError"}, "ProviderAuthError"), ({}, "the turn failed"), (7, "the turn failed")],
)
def test_a_turn_that_failed_without_a_word_failed_all_the_same(error: object, why: str) -> None:
    assert said("session.error:APIError", error=error).failed == why


def test_an_interrupted_turn_did_not_fail() -> None:
    ended = said("session.error:MessageAbortedError")
    assert (ended.interrupted, ended.failed, ended.completed) == (True, None, False)


def test_tokens_and_money_are_those_of_the_conversation() -> None:
    usage = RECORDED["pam.usage"]["usage"]
    assert isinstance(usage, dict)
    totals = {"input": 9, "output": 2, "reasoning": 3, "read": 4, "write": 5, "cost": 0.25}
    context = {"input": 1, "output": 2, "reasoning": 3, "cache": {"read": 4, "write": 5}}
    counted = said("pam.usage", usage={**usage, "totals": totals, "context": context})
    assert counted.usage == Usage(9, 5, 4, 5, 3, 0.25, 15, 200000, "stub/stub-model")
    assert counted.model == "stub/stub-model"


def test_what_is_not_counted_yet_is_unknown() -> None:
    early = said("pam.usage:early").usage
    assert (early.input_tokens, early.output_tokens, early.cost_usd) == (None, None, None)
    assert early.context_tokens == 8056


def test_an_unknown_event_says_nothing() -> None:
    assert RECIPE.read("", {"type": "file.edited"}) is None
    assert RECIPE.read("", {"type": "session.status", "status": {"type": "idle"}}) is None
    assert RECIPE.read("", {}) is None


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=12,
)
FIELDS = ("sessionID", "status", "error", "ended", "usage", "patterns", "metadata", "permission", "questions", "busy")


@given(
    event=st.sampled_from(sorted({str(payload["type"]) for payload in RECORDED.values()})),
    payload=st.dictionaries(st.sampled_from(FIELDS), json_values),
    totals=st.dictionaries(st.sampled_from(["input", "output", "cost", "read"]), json_values),
)
def test_no_payload_is_too_odd(event: str, payload: dict[str, object], totals: dict[str, object]) -> None:
    RECIPE.read(event, payload)
    RECIPE.read(event, {"usage": {"totals": totals, "context": totals, "limit": totals.get("input")}, **payload})


# -- what it is given


def config(own: str | None) -> dict[str, Any] | None:
    at = Setting("/home/mara/pam", "/home/mara", "/work", SIGNAL, {} if own is None else {CONFIG: own})
    given_ = RECIPE.setup(at).env.get(CONFIG)
    return None if given_ is None else json.loads(given_)


def test_the_plugin_is_pams_own_file_and_runs_the_hook_command() -> None:
    setup = RECIPE.setup(Setting("/home/mara/pam", "/home/mara", "/work", SIGNAL))
    [file] = setup.files
    assert file.path.startswith("/home/mara/pam/hooks/opencode-")
    assert f"const COMMAND = {json.dumps([*SIGNAL, 'hook', 'opencode'])}\n".encode() in file.data
    assert json.loads(setup.env[CONFIG]) == {"plugin": [f"file://{file.path}"]}


@pytest.mark.parametrize("own", ["", " ", "{}"])
def test_an_empty_configuration_gets_the_plugin(own: str) -> None:
    assert config(own) == config(None)


def test_the_operators_own_configuration_is_kept() -> None:
    got = config('{"share": "disabled", "plugin": ["mine"]}')
    assert got is not None
    assert got["share"] == "disabled"
    assert got["plugin"][0] == "mine"
    assert got["plugin"][1].startswith("file:///home/mara/pam/hooks/")


@pytest.mark.parametrize("own", ['{"a": 1, // mine\n}', "[]", '{"plugin": "x"}', "{", "[" * 100_000])
def test_a_configuration_that_is_not_understood_stays_and_the_run_has_no_hooks(own: str) -> None:
    assert config(own) is None


@pytest.mark.parametrize(
    ("approvals", "own", "permissions"),
    [
        ("ask", None, {"edit": "ask", "bash": "ask"}),
        ("ask", '{"edit": "allow", "webfetch": "deny"}', {"edit": "ask", "bash": "ask", "webfetch": "deny"}),
        ("edits", "no JSON", {"edit": "allow", "bash": "ask"}),
        ("auto", None, None),
        (None, '{"edit": "deny"}', None),
    ],
)
def test_the_approval_modes_without_a_flag_are_permissions(
    approvals: str | None, own: str | None, permissions: object
) -> None:
    env = {} if own is None else {PERMISSION: own}
    given_ = RECIPE.setup(Setting("/p", "/home/mara", "/work", SIGNAL, env, approvals=approvals)).env.get(PERMISSION)
    assert (None if given_ is None else json.loads(given_)) == permissions
