"""From provider and run to command line and environment."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from providers.catalog import load
from providers.launch import ARGUMENT_LIMIT, LaunchPlan, clean_prompt, plan
from store.errors import InvalidValue, ProviderUnavailable

KEY = "sk-ant-api03-0123456789abcdef"
CONVERSATION = "6f0d3b52-9a0e-4d5e-8f7a-0d5b2f6f1c11"


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """A directory with programs named as the catalog names them."""
    directory = tmp_path / "bin"
    directory.mkdir()
    for name in ("claude", "codex", "tool"):
        (directory / name).write_text("#!/bin/sh\n")
        (directory / name).chmod(0o755)
    return directory


def planned(
    home: Path,
    name: str,
    environ: Mapping[str, str],
    prompt: str | None = "fix it",
    model: str | None = None,
    args: Sequence[str] = (),
    conversation_id: str | None = None,
    approvals: str | None = None,
    resume: bool = False,
) -> LaunchPlan:
    return plan(
        load(home).get(name),
        run_id="0d5b2f6f-0000-4000-8000-000000000000",
        prompt=prompt,
        model=model,
        args=args,
        cwd=home,
        conversation_id=conversation_id,
        environ=environ,
        approvals=approvals,
        resume=resume,
    )


def test_claude_gets_model_conversation_approvals_arguments_and_prompt(tmp_path: Path, programs: Path) -> None:
    got = planned(
        tmp_path,
        "claude",
        {"PATH": str(programs)},
        model="claude-opus-5-5",
        args=["--add-dir", "/x"],
        conversation_id=CONVERSATION,
        approvals="plan",
    )
    assert got.argv == (
        *(str(programs / "claude"), "--session-id", CONVERSATION, "--model", "claude-opus-5-5"),
        *("--permission-mode", "plan", "--add-dir", "/x", "--", "fix it"),
    )
    assert (got.prompt_route, got.prompt) == ("argv", "fix it")


def test_a_flag_goes_with_the_value_it_lacks(tmp_path: Path, programs: Path) -> None:
    assert planned(tmp_path, "claude", {"PATH": str(programs)}, prompt=None).argv == (str(programs / "claude"),)


def test_a_conversation_is_gone_on_with(tmp_path: Path, programs: Path) -> None:
    environ = {"PATH": str(programs)}
    got = planned(tmp_path, "claude", environ, conversation_id=CONVERSATION, resume=True)
    assert got.argv[1:] == ("--resume", CONVERSATION, "--", "fix it")
    got = planned(tmp_path, "codex", environ, prompt=None, conversation_id="0199-x", resume=True)
    assert got.argv[1:3] == ("resume", "--no-daemon")
    assert got.argv[-1] == "0199-x"
    with pytest.raises(InvalidValue, match="no conversation of it is known"):
        planned(tmp_path, "codex", environ, resume=True)


def test_the_demo_agent_runs_on_pams_own_python(tmp_path: Path) -> None:
    got = planned(tmp_path, "demo", {})
    assert got.argv[:2] == (sys.executable, "-I")
    assert Path(got.argv[2]).is_file()
    assert got.argv[3:] == ("--", "fix it")


def test_shell_runs_the_command_after_the_dashes(tmp_path: Path, programs: Path) -> None:
    got = planned(tmp_path, "shell", {"PATH": str(programs)}, args=["tool", "-x", "a b"])
    assert got.argv == (str(programs / "tool"), "-x", "a b")
    assert got.prompt_route == "none"


def test_shell_without_a_command_says_how_to_give_one(tmp_path: Path) -> None:
    with pytest.raises(InvalidValue, match=r"the command after `--` and there is none: .* -- make test"):
        planned(tmp_path, "shell", {})


def test_a_relative_program_counts_from_the_runs_directory(tmp_path: Path, programs: Path) -> None:
    assert planned(tmp_path, "shell", {"PATH": ""}, args=["./bin/tool"]).argv == (str(programs / "tool"),)
    assert planned(tmp_path, "shell", {"PATH": "bin"}, args=["tool"]).argv == (str(programs / "tool"),)


def test_a_missing_program_says_what_to_install_and_where_to_look(tmp_path: Path) -> None:
    """PAM-PROV-003, PAM-PROV-012."""
    with pytest.raises(ProviderUnavailable) as caught:
        planned(tmp_path, "claude", {"PATH": str(tmp_path)})
    assert "no program 'claude' on the executor's PATH" in str(caught.value)
    assert "npm install --global @anthropic-ai/claude-code" in str(caught.value)
    assert "`pam provider doctor claude`" in str(caught.value)
    with pytest.raises(ProviderUnavailable, match="no program 'absent' on the executor's PATH"):
        planned(tmp_path, "shell", {"PATH": str(tmp_path)}, args=["absent"])


def test_what_a_provider_does_not_take_is_refused(tmp_path: Path, programs: Path) -> None:
    environ = {"PATH": str(programs)}
    with pytest.raises(InvalidValue, match="takes no model"):
        planned(tmp_path, "shell", environ, args=["tool"], model="gpt")
    with pytest.raises(InvalidValue, match="no approval mode 'yolo'; it has ask, edits, auto, plan"):
        planned(tmp_path, "claude", environ, approvals="yolo")
    with pytest.raises(InvalidValue, match="NUL"):
        planned(tmp_path, "shell", environ, args=["tool", "a\0b"])


def test_a_prompt_that_looks_like_a_flag_stays_a_prompt(tmp_path: Path, programs: Path) -> None:
    for name in ("demo", "claude", "codex"):
        got = planned(tmp_path, name, {"PATH": str(programs)}, prompt="--help me", args=["--allowedTools", "Bash"])
        assert got.argv[-2:] == ("--", "--help me")


def test_the_longest_argument_that_a_program_takes_is_let_through_and_no_longer_one(tmp_path: Path) -> None:
    longest = "é" * (ARGUMENT_LIMIT // 2) + "x"
    argv = planned(tmp_path, "shell", {"PATH": "/bin:/usr/bin"}, args=["true", longest]).argv
    assert subprocess.run(argv, check=False).returncode == 0
    with pytest.raises(InvalidValue, match="131,072 bytes long and a program takes 131,071") as caught:
        planned(tmp_path, "demo", {}, prompt=longest + "x")
    assert caught.value.details == {"bytes": ARGUMENT_LIMIT + 1, "limit": ARGUMENT_LIMIT}


def test_a_prompt_loses_control_characters_but_keeps_its_lines(tmp_path: Path) -> None:
    got = planned(tmp_path, "demo", {}, prompt="a\x1b[2Jb\r\nc\td\0\x07\x9b\ud800é👩‍🔧\r")
    assert got.argv[-1] == got.prompt == "a[2Jb\nc\tdé👩‍🔧\n"


@given(st.text())
def test_a_clean_prompt_can_always_be_an_argument(text: str) -> None:
    cleaned = clean_prompt(text) or ""
    assert "\0" not in cleaned and "\x1b" not in cleaned and "\r" not in cleaned
    assert cleaned.encode().decode() == cleaned
    assert clean_prompt(cleaned) in (cleaned, None)


def test_an_agent_inherits_the_operators_environment(tmp_path: Path, programs: Path) -> None:
    operator = {
        "PATH": str(programs),
        "HOME": "/h",
        "LANG": "de_DE.UTF-8",
        "SSH_AUTH_SOCK": "/s",
        "ANTHROPIC_API_KEY": KEY,
    }
    got = planned(tmp_path, "claude", {**operator, "HTTPS_PROXY": "http://p"})
    assert got.env == {**operator, "HTTPS_PROXY": "http://p", "COLORTERM": "truecolor", "DISABLE_AUTOUPDATER": "1"}


def test_what_is_untrue_in_the_agents_pane_is_not_inherited(tmp_path: Path, programs: Path) -> None:
    around = dict.fromkeys(
        (
            *("TMUX", "TMUX_PANE", "TMUX_TMPDIR", "PAM_HOME", "PAM_RUN", "PAM_GATEWAY_API_KEY"),
            *("TERM", "TERM_PROGRAM", "COLUMNS", "MAKEFLAGS", "SHLVL", "PWD", "CLAUDECODE"),
        ),
        "x",
    )
    got = planned(tmp_path, "claude", {**around, "PATH": str(programs), "LANG": "C.UTF-8"})
    assert set(got.env) == {"PATH", "LANG", "COLORTERM", "DISABLE_AUTOUPDATER"}
    assert "CLAUDECODE" in got.unset


@pytest.mark.parametrize(
    ("environ", "given"),
    [
        ({}, True),
        ({"LANG": "C"}, True),
        ({"LC_ALL": "", "LANG": "POSIX"}, True),
        ({"LANG": "fr_FR.UTF-8"}, False),
        ({"LC_CTYPE": "de_DE"}, False),
        ({"LC_ALL": "C"}, False),
    ],
)
def test_an_agent_has_utf8_where_no_locale_was_chosen(tmp_path: Path, environ: dict[str, str], given: bool) -> None:
    """FR-15."""
    env = planned(tmp_path, "demo", environ).env
    assert ("UTF-8" in env.get("LC_CTYPE", "")) is given


def test_the_environment_map_is_filled_and_leaves_out_what_has_no_value(tmp_path: Path, programs: Path) -> None:
    (tmp_path / "providers.toml").write_text(
        '[claude]\nunset = ["SECRET"]\n[claude.env]\n'
        'ANTHROPIC_BASE_URL = "{env:GATEWAY}/a"\nOTHER = "{env:ABSENT}"\nTAG = "{run_id}@{cwd}"\nSECRET = "x"\n'
    )
    env = planned(tmp_path, "claude", {"PATH": str(programs), "GATEWAY": "http://g", "SECRET": "y"}).env
    assert env["ANTHROPIC_BASE_URL"] == "http://g/a"
    assert env["TAG"] == f"0d5b2f6f-0000-4000-8000-000000000000@{tmp_path}"
    assert "OTHER" not in env and "SECRET" not in env


@pytest.mark.parametrize("name", ["claude", "codex"])
def test_a_key_never_stands_in_a_command_line_or_a_repr(tmp_path: Path, programs: Path, name: str) -> None:
    """PAM-SEC-002, PAM-SEC-003, X-38: whoever lists processes or reads a log sees no key."""
    environ = {"PATH": str(programs), **dict.fromkeys(load(tmp_path).get(name).keys, KEY)}
    got = planned(tmp_path, name, environ, model="m", conversation_id=CONVERSATION)
    assert KEY not in " ".join(got.argv)
    assert KEY not in repr(got)
    assert KEY in got.env.values()
    for asked in ({"prompt": f"use {KEY}"}, {"args": [f"--api-key={KEY}"]}):
        with pytest.raises(InvalidValue, match="can read it") as caught:
            planned(tmp_path, name, environ, **asked)
        assert KEY not in str(caught.value)
