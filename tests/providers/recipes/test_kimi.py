"""What kimi's hooks say, and what is written into its own files for them (PAM-COMP-001, 007)."""

from __future__ import annotations

import json
import os
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import tomlkit
from hypothesis import given
from hypothesis import strategies as st

from providers.recipes.kimi import COMMAND, EVENTS, Kimi
from providers.recipes.kimi_workspace import workspace_key
from providers.recipes.recipe import Answer, Ask, Setting
from tests.providers.recipes.recorded import payloads

RECIPE = Kimi()
AT = Setting("/home/mara/pam", "/home/mara", "/work/it's", ("/usr/bin/python3", "/home/mara/pam/a b.py"))
RECORDED = payloads("kimi")

OPERATORS = """\
# mine
default_model = "k2"   # the fast one
[providers."managed:kimi-code"]
type = "kimi"
[[hooks]]
event = "Stop"
command = "say done"
[models.k2]
provider = "managed:kimi-code"
"""


def said(name: str, **changed: object) -> Any:
    return RECIPE.read("", {**RECORDED[name], **changed})


# -- what its hooks say


def test_a_session_that_begins_has_its_prompt_already_and_one_that_goes_on_waits_for_it() -> None:
    began, resumed = said("SessionStart:startup"), said("SessionStart:resume")
    assert (began.activity, began.model) == (None, "stub")
    assert began.conversation_id == RECORDED["SessionStart:startup"]["session_id"]
    assert resumed.activity == "idle"


def test_a_prompt_is_worked_on() -> None:
    taken = said("UserPromptSubmit")
    assert (taken.activity, taken.accepted) == ("working", True)


@pytest.mark.parametrize(
    ("name", "ask", "line"),
    [
        (
            "PermissionRequest",
            Ask("permission", "/home/dev/work/kimi/h.txt", "Write"),
            "Write: /home/dev/work/kimi/h.txt",
        ),
        ("PermissionRequest:Bash", Ask("permission", "touch made.txt", "Bash"), "Bash: touch made.txt"),
        ("PreToolUse:AskUserQuestion", Ask("question", "Which?"), "Which?"),
    ],
)
def test_what_it_asks_is_shown(name: str, ask: Ask, line: str) -> None:
    asked = said(name)
    assert (asked.activity, asked.ask, asked.ask.line) == ("waiting", ask, line)


def test_a_plan_waits_for_the_operator() -> None:
    asked = said("PermissionRequest", tool_name="ExitPlanMode", tool_input={"plan": "First\nthis"})
    assert asked.ask == Ask("plan", "First this")


@pytest.mark.parametrize(
    ("asks", "answers"),
    [
        ("PermissionRequest:Bash", "PermissionResult"),
        ("PermissionRequest:Bash", "PostToolUse:Bash"),
        ("PreToolUse:AskUserQuestion", "PostToolUse:AskUserQuestion"),
    ],
)
def test_what_was_asked_for_is_answered_and_nothing_else(asks: str, answers: str) -> None:
    went_on = said(answers)
    assert (went_on.activity, went_on.answered) == ("working", said(asks).ask.line)
    assert said("PostToolUse").answered != went_on.answered


def test_a_refused_tool_goes_on() -> None:
    assert said("PostToolUseFailure").activity == "working"


def test_a_turn_that_failed_says_why() -> None:
    failed = said("StopFailure")
    assert (failed.activity, failed.failed) == ("idle", "400 stub error 400")
    assert said("StopFailure", error_message="").failed == "APIStatusError"
    assert said("StopFailure", error_message=None, error_type=7).failed == "the turn failed"


def test_an_interrupt_leaves_it_idle() -> None:
    assert (said("Interrupt").activity, said("Interrupt").interrupted) == ("idle", True)


@pytest.mark.parametrize("name", ["Stop", "Notification:task.completed", "PreToolUse", "SessionEnd:exit"])
def test_what_a_subagent_may_have_said_says_nothing(name: str) -> None:
    assert said(name) is None


@given(
    st.sampled_from(["", *EVENTS, "NewEvent"]),
    st.dictionaries(
        st.sampled_from(["hook_event_name", "tool_name", "tool_input", "session_id", "error_message", "source", "x"]),
        st.recursive(
            st.none()
            | st.booleans()
            | st.integers()
            | st.sampled_from([*EVENTS, "AskUserQuestion"])
            | st.text(max_size=9),
            lambda inner: (
                st.lists(inner, max_size=3)
                | st.dictionaries(st.sampled_from(["questions", "question", "command", "plan"]), inner, max_size=3)
            ),
            max_leaves=8,
        ),
    ),
)
def test_whatever_comes_is_read_without_an_error(event: str, payload: dict[str, object]) -> None:
    read = RECIPE.read(event, payload)
    assert read is None or read.activity in (None, "working", "waiting", "idle")


# -- its own files


def answers(env: dict[str, str] | None = None, cwd: str = AT.cwd) -> tuple[Answer, Answer]:
    config, trust = RECIPE.setup(Setting(AT.home, AT.user_home, cwd, AT.signal, env or {})).answers
    return config, trust


def test_nothing_but_two_files_of_kimis_is_changed() -> None:
    setup = RECIPE.setup(AT)
    assert (setup.args, dict(setup.env), setup.files) == ((), {}, ())
    config, trust = answers()
    assert config.path == "/home/mara/.kimi-code/config.toml"
    assert trust.path.startswith("/home/mara/.kimi-code/workspace-trust/wd_it-s_")
    assert "/work/it's" in trust.what
    moved, _ = answers({"KIMI_CODE_HOME": "/srv/kimi"})
    assert moved.path == "/srv/kimi/config.toml"


def test_hooks_are_added_to_the_operators_and_nothing_else_changes() -> None:
    config, _ = answers()
    edited = config.edit(OPERATORS.encode())
    assert edited is not None
    before, after = tomllib.loads(OPERATORS), tomllib.loads(edited.decode())
    assert {key: value for key, value in after.items() if key != "hooks"} == {
        key: value for key, value in before.items() if key != "hooks"
    }
    assert after["hooks"][0] == {"event": "Stop", "command": "say done"}
    assert [hook["event"] for hook in after["hooks"][1:]] == list(EVENTS)
    assert all("# mine" in text and "# the fast one" in text for text in (edited.decode(),))
    assert config.edit(edited) is None, "the same for every run"


@pytest.mark.parametrize(
    "data", [None, b"", b"# empty\n", b"hooks = []\n", b'hooks = [{event = "Stop", command = "x"}]\n']
)
def test_hooks_are_given_to_a_file_that_has_none(data: bytes | None) -> None:
    config, _ = answers()
    edited = config.edit(data)
    assert edited is not None
    hooks = tomllib.loads(edited.decode())["hooks"]
    assert [hook["event"] for hook in hooks if "PAM_SIGNAL" in hook["command"]] == list(EVENTS)
    assert config.edit(edited) is None


def test_hooks_of_an_older_pam_are_replaced() -> None:
    older = OPERATORS + '[[hooks]]\nevent = "Old"\ncommand = "eval $PAM_SIGNAL"\n[loop]\nmax = 3 # few\n'
    config, _ = answers()
    edited = config.edit(older.encode())
    assert edited is not None
    after = tomllib.loads(edited.decode())
    assert [hook["event"] for hook in after["hooks"]] == ["Stop", *EVENTS]
    assert after["loop"] == {"max": 3}


@pytest.mark.parametrize("data", [b"hooks = 3", b"not toml", b"hooks = [1]", b"\xff", b"[hooks]\nx = 1"])
def test_a_file_that_is_not_understood_is_not_touched(data: bytes) -> None:
    config, _ = answers()
    with pytest.raises(ValueError):
        config.edit(data)


@given(
    st.dictionaries(
        st.text(max_size=5),
        st.integers()
        | st.text(max_size=5)
        | st.lists(st.integers(), max_size=2)
        | st.dictionaries(st.text(max_size=3), st.booleans()),
        max_size=5,
    ),
    st.lists(
        st.fixed_dictionaries({"event": st.sampled_from(["Stop", "X"]), "command": st.text(max_size=5)}), max_size=3
    ),
)
def test_any_config_keeps_what_it_has(settings: dict[str, object], hooks: list[dict[str, str]]) -> None:
    settings.pop("hooks", None)
    text = tomlkit.dumps({**settings, **({"hooks": hooks} if hooks else {})})
    edited = answers()[0].edit(text.encode())
    assert edited is not None
    after = tomllib.loads(edited.decode())
    assert after.pop("hooks")[: len(hooks)] == hooks
    assert after == tomllib.loads(tomlkit.dumps(settings))


def test_a_directory_is_trusted_once() -> None:
    _, trust = answers(cwd="/home/dev/work/kimi/")
    data = trust.edit(None)
    assert data is not None
    assert json.loads(data) == {"root": "/home/dev/work/kimi", "trustedAt": 0}
    assert trust.edit(b"whatever kimi wrote") is None


@pytest.mark.parametrize(
    ("directory", "key"),
    [
        ("/srv/work/kimi", "wd_kimi_44dddd61a1bc"),
        ("/srv/work/kimi/", "wd_kimi_44dddd61a1bc"),
        ("/srv/My Project (2)", "wd_my-project-2_"),
        ("/srv/日本", "wd_workspace_"),
        ("/srv/-x-", "wd_x_"),
        ("/", "wd_workspace_"),
    ],
)
def test_a_directory_is_called_as_kimi_calls_it(directory: str, key: str) -> None:
    assert workspace_key(directory).startswith(key)


# -- the command, as a shell runs it


def run_command(**env: str) -> subprocess.CompletedProcess[str]:
    words = ["/bin/sh", "-c", COMMAND]
    return subprocess.run(
        words, env={"PATH": os.environ["PATH"], **env}, input="{}", capture_output=True, text=True, check=False
    )


def test_outside_a_run_the_command_does_nothing() -> None:
    done = run_command()
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_in_a_run_the_command_calls_pam_with_the_providers_name(tmp_path: Path) -> None:
    program = tmp_path / "a program"
    program.write_text(f'#!/bin/sh\nprintf "%s|" "$@" > "{tmp_path}/words"\ncat > "{tmp_path}/payload"\nexit 2\n')
    program.chmod(0o755)
    done = run_command(PAM_SIGNAL=f"'{program}' -I")
    assert done.returncode == 0, "2 would be a veto"
    assert (tmp_path / "words").read_text() == "-I|hook|kimi|"
    assert (tmp_path / "payload").read_text() == "{}"
