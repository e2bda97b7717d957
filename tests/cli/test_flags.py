"""Global flags: they stand anywhere, and what is wrong with a call is said in the way it was asked for."""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path

import pytest

from tests.cli.conftest import Pam


@pytest.mark.parametrize(
    "words",
    [
        ("--json", "project", "list"),
        ("project", "--json", "list"),
        ("project", "list", "--json"),
        ("project", "list", "--json", "--json"),
    ],
)
def test_json_before_or_after_the_verb(pam: Pam, words: tuple[str, ...]) -> None:
    """PAM-CLI-001."""
    assert pam(*words).json == {"projects": []}


def test_home_before_or_after_the_verb(pam: Pam, tmp_path: Path) -> None:
    other = str(tmp_path / "other")
    pam("--home", other, "project", "add", "There")
    assert [each["name"] for each in pam.json("project", "list", "--home", other)["projects"]] == ["There"]
    assert pam.json("project", "list") == {"projects": []}


def test_config_before_or_after_the_verb(pam: Pam, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """PAM-CLI-002, PAM-CFG-007: the flag counts before PAM_CONFIG."""
    config = tmp_path / "mine.toml"
    config.write_text("[tmux]\nrows = 33\n")
    monkeypatch.setenv("PAM_CONFIG", str(tmp_path / "nothing.toml"))
    for words in (("--config", str(config), "config", "show"), ("config", "show", "--config", str(config))):
        shown = pam.json(*words)["config"]
        assert shown["path"] == str(config)
        assert {"key": "tmux.rows", "value": 33, "source": "file"} in shown["settings"]
    assert pam("config", "show", "--json", code=2).error["code"] == "config_invalid"


@pytest.mark.parametrize("words", [("-V",), ("--version",), ("task", "-V"), ("task", "list", "--version")])
def test_version_anywhere(pam: Pam, words: tuple[str, ...]) -> None:
    """PAM-CLI-005."""
    assert pam(*words).out == f"pam {version('project-agent-manager')}\n"


@pytest.mark.parametrize("words", [("-h",), ("task", "--help"), ("task", "list", "-h"), ("run", "start", "--help")])
def test_help_anywhere(pam: Pam, words: tuple[str, ...]) -> None:
    """PAM-CLI-005."""
    out = pam(*words).out
    assert out.startswith("Usage: pam")
    assert "--json" in out


def test_a_noun_alone_shows_its_help_and_is_a_usage_error(pam: Pam) -> None:
    assert "Usage: pam task" in pam("task", code=2).err


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("tsk",), "'task'"),
        (("task", "lst"), "'list'"),
        (("task", "list", "--projct", "x"), "--project"),
        (("task", "move", "1234"), "--status"),
        (("task", "move", "1234", "--status", "finished"), "todo"),
    ],
)
def test_a_wrong_word_is_told_with_the_right_one(pam: Pam, words: tuple[str, ...], hint: str) -> None:
    """Exit 2; with --json one object, even when the flag stands behind the wrong word."""
    answer = pam(*words, "--json", code=2)
    assert answer.error["code"] == "usage"
    assert hint in answer.error["message"]
    assert "-h` shows how" in answer.err
    assert pam(*words, code=2).out == ""


def test_json_behind_two_dashes_is_not_ours(pam: Pam) -> None:
    pam.project()
    task = pam.task()
    answer = pam("run", "start", "--task", task["id"], "--provider", "nope", "--", "x", "--json", code=10)
    assert answer.out == ""
    assert "nope" in answer.err


def test_pam_alone_needs_a_terminal(pam: Pam) -> None:
    """PAM-CLI-006."""
    answer = pam(code=2)
    assert "terminal" in answer.err
    assert answer.out == ""


def test_an_unexpected_error_is_logged_and_told_in_a_sentence(
    pam: Pam, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The traceback goes to the log, with no key in it; the operator gets one line."""

    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("api_key=abcdefghijkl")

    monkeypatch.setattr("store.projects.list_all", broken)
    answer = pam("project", "list", "--json", code=1)
    assert answer.error["code"] == "internal"
    assert str(home / "logs" / "pam.log") in answer.err
    assert "Traceback" not in answer.err
    logged = (home / "logs" / "pam.log").read_text()
    assert "Traceback" in logged
    assert "RuntimeError" in logged
    assert "abcdefghijkl" not in logged


def test_ctrl_c_ends_with_130(pam: Pam, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    pam("init")
    monkeypatch.setattr("store.projects.list_all", interrupted)
    assert pam("project", "list", code=130).err == ""


def test_text_that_is_not_unicode_is_refused(pam: Pam) -> None:
    answer = pam("project", "add", "bad \udcff", "--json", code=2)
    assert "UTF-8" in answer.error["message"]
    assert json.dumps(answer.error).isascii()


def test_every_home_that_does_not_exist_is_made_and_told(pam: Pam, home: Path) -> None:
    answer = pam("project", "list")
    assert str(home) in answer.err
    assert (home / "config.toml").exists()
    assert pam("project", "list").err == ""
