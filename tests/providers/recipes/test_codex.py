"""What codex is started with, and what its hooks say: payloads as it sent them, and whatever else may come."""

from __future__ import annotations

import json
import shlex
import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from providers.recipes.codex import EVENTS, HOOK_TIMEOUT_S, Codex, toml_string, trusted_hash
from providers.recipes.recipe import Ask, Setting
from tests.providers.recipes.recorded import payloads

RECIPE = Codex()
SIGNAL = ("/usr/bin/python3", "-I", "/home/mara/pam/a b.py")
CWD = '/work/it\'s "new" \\ ü'
AT = Setting("/home/mara/pam", "/home/mara", CWD, SIGNAL)
RECORDED = payloads("codex")


def said(name: str, **changed: object) -> Any:
    return RECIPE.read("", {**RECORDED[name], **changed})


# -- what its hooks say


@pytest.mark.parametrize("source", ["startup", "resume"])
def test_a_session_that_begins_names_its_conversation_and_its_rollout(source: str) -> None:
    began = said(f"SessionStart:{source}")
    assert (began.activity, began.model) == (None, "gpt-5.1")
    assert began.conversation_id == RECORDED[f"SessionStart:{source}"]["session_id"]
    assert began.transcript.endswith(f"{began.conversation_id}.jsonl")


def test_a_session_goes_on_after_its_compaction() -> None:
    assert said("SessionStart:startup", source="compact").activity is None


def test_a_session_without_a_rollout_names_none() -> None:
    assert said("SessionStart:startup", transcript_path=None).transcript is None


def test_a_prompt_is_worked_on() -> None:
    taken = said("UserPromptSubmit")
    assert (taken.activity, taken.accepted) == ("working", True)


def test_the_prompt_of_a_subagent_confirms_no_delivery_and_names_no_conversation() -> None:
    assert said("UserPromptSubmit:subagent") is None


@pytest.mark.parametrize(
    ("name", "ask"),
    [
        ("PermissionRequest", Ask("permission", "touch /home/dev/work/esc-file", "Bash")),
        ("PermissionRequest:patch", Ask("permission", "/opt/outside one.txt, in.txt", "apply_patch")),
        ("PermissionRequest:mcp", Ask("permission", "all of it", "mcp__box__wipe")),
        ("PermissionRequest:subagent", Ask("permission", "sleep 2; ls /", "Bash")),
    ],
)
def test_a_permission_is_asked_for_with_what_it_is_about(name: str, ask: Ask) -> None:
    asked = said(name)
    assert (asked.activity, asked.ask) == ("waiting", ask)


def test_a_question_of_the_agent_is_shown_in_its_words() -> None:
    asked = said("PreToolUse:question")
    assert (asked.activity, asked.ask) == ("waiting", Ask("question", "Which color?"))


def test_a_tool_that_begins_says_nothing() -> None:
    assert said("PreToolUse") is None


@pytest.mark.parametrize("name", ["PostToolUse", "PostToolUse:question"])
def test_a_tool_that_ended_shows_that_every_question_is_answered(name: str) -> None:
    ended = said(name)
    assert (ended.activity, ended.answered) == ("working", None)


def test_a_tool_of_a_subagent_answers_its_own_question_only() -> None:
    assert said("PostToolUse:subagent").answered == said("PermissionRequest:subagent").ask.line


def test_a_turn_that_ended_is_completed() -> None:
    ended = said("Stop")
    assert (ended.activity, ended.completed) == ("idle", True)


def test_a_subagent_that_ended_is_not_the_end() -> None:
    assert said("Stop", hook_event_name="SubagentStop", agent_id="01a22cbd") is None


def test_an_interrupted_turn_is_not_completed() -> None:
    ended = said("Interrupt")
    assert (ended.activity, ended.interrupted, ended.completed) == ("idle", True, False)


@pytest.mark.parametrize("name", ["SessionEnd:other"])
def test_the_end_of_a_session_is_told_by_its_process(name: str) -> None:
    assert said(name) is None


def test_an_unknown_event_says_nothing() -> None:
    assert RECIPE.read("", {"hook_event_name": "PreModelRequest"}) is None
    assert RECIPE.read("", {}) is None


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=12,
)
FIELDS = ("tool_name", "tool_input", "source", "session_id", "transcript_path", "model", "agent_id")


@given(
    event=st.sampled_from([*EVENTS, "SubagentStop"]),
    payload=st.dictionaries(st.sampled_from(FIELDS), json_values),
    given_=st.dictionaries(st.sampled_from(["command", "questions", "description", "x"]), json_values),
    tool=st.sampled_from(["Bash", "apply_patch", "request_user_input"]),
)
def test_no_payload_is_too_odd(event: str, payload: dict[str, object], given_: object, tool: str) -> None:
    RECIPE.read(event, payload)
    RECIPE.read(event, {"tool_name": tool, "tool_input": given_, **payload})


# -- what it is started with


def overrides(at: Setting) -> dict[str, Any]:
    flag, hooks = RECIPE.setup(at).args
    assert flag == "-c"
    name, _, value = hooks.partition("=")
    return {name: tomllib.loads(f"{name}={value}")[name]}


def test_every_event_runs_the_same_command() -> None:
    hooks = overrides(AT)["hooks"]
    assert set(hooks) == {*EVENTS, "state"}
    for event in EVENTS:
        [group] = hooks[event]
        [hook] = group["hooks"]
        assert hook == {"type": "command", "command": shlex.join((*SIGNAL, "hook", "codex")), "timeout": HOOK_TIMEOUT_S}
        assert group.get("matcher", "") == EVENTS[event]


def test_exactly_these_hooks_are_trusted() -> None:
    command = shlex.join((*SIGNAL, "hook", "codex"))
    state = overrides(AT)["hooks"]["state"]
    assert len(state) == len(EVENTS)
    for label, tools in (("session_start", ""), ("pre_tool_use", "request_user_input"), ("stop", "")):
        key = f"/<session-flags>/config.toml:{label}:0:0"
        assert state[key] == {"trusted_hash": trusted_hash(label, tools, command)}


@pytest.mark.parametrize(
    ("event", "tools", "command", "hashed"),
    [
        ("stop", "", 'echo "ü\\\\"', "4ab844b9da3cf707fab482b9276a1c7a5084c1861b810bfe69a69cd9f46cc996"),
        ("interrupt", "", "echo x", "1901db38889e19e7d20c5834434ad724e132467b0026efc48ab448d8b6d0b072"),
        (
            "pre_tool_use",
            "request_user_input",
            "echo x",
            "9c16cf383db57f1091039ec68d1ad1b1372aba3fb19df6ffa5e02df03e078ec6",
        ),
    ],
)
def test_a_hook_is_hashed_as_codex_does(event: str, tools: str, command: str, hashed: str) -> None:
    assert trusted_hash(event, tools, command) == f"sha256:{hashed}"


def test_no_hook_of_anybody_else_is_trusted() -> None:
    assert "--dangerously-bypass-hook-trust" not in RECIPE.setup(AT).args


@given(st.text())
def test_any_text_becomes_a_string_of_toml(text: str) -> None:
    assert tomllib.loads(f"x={toml_string(text)}") == {"x": text}


def test_the_directory_is_trusted_for_this_run() -> None:
    [answer] = RECIPE.setup(AT).answers
    assert answer.path == "/home/mara/.codex/config.toml"
    flag, override = answer.args
    assert flag == "-c"
    assert tomllib.loads(override) == {"projects": {CWD: {"trust_level": "trusted"}}}


def test_the_config_stands_where_the_agent_looks_for_it() -> None:
    at = Setting("/home/mara/pam", "/home/mara", "/work", SIGNAL, {"CODEX_HOME": "/srv/codex"})
    assert RECIPE.setup(at).answers[0].path == "/srv/codex/config.toml"


def _config(**levels: str) -> bytes:
    places = {"own": "/work/a/b", "above": "/work/a", "top": "/work", "other": "/home"}
    return "\n".join(
        f"[projects.{json.dumps(places[name])}]\ntrust_level = {json.dumps(level)}" for name, level in levels.items()
    ).encode()


@pytest.mark.parametrize(
    ("config", "due"),
    [
        (None, True),
        (b"", True),
        (b'model = "gpt-5.1"\n', True),
        (b"[projects]\n", True),
        (_config(other="untrusted"), True),
        (_config(above="trusted"), True),
        (_config(own="trusted"), False),
        (_config(own="untrusted"), False),
        (_config(above="untrusted"), False),
        (_config(above="trusted", top="untrusted"), True),
        (b"projects = 1\n", True),
    ],
)
def test_the_operators_own_word_on_a_directory_counts(config: bytes | None, due: bool) -> None:
    at = Setting("/home/mara/pam", "/home/mara", "/work/a/b", SIGNAL)
    assert (RECIPE.setup(at).answers[0].edit(config) is not None) is due


@pytest.mark.parametrize("config", [b"model =", b"\xff", b"a = 1\na = 2\n", b"a = " + b"[" * 5000])
def test_a_config_that_codex_would_not_read_is_no_reason_to_trust(config: bytes) -> None:
    with pytest.raises(ValueError):
        RECIPE.setup(AT).answers[0].edit(config)


def test_bytes_that_are_no_text_get_no_override() -> None:
    odd = "/work/\udcff"
    assert RECIPE.setup(Setting("/home/mara/pam", "/home/mara", odd, SIGNAL)).answers == ()
    assert RECIPE.setup(Setting("/home/mara/pam", "/home/mara", "/work", (odd,))).args == ()
