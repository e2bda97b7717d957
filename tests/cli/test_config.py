"""``pam config``."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.config_keys import KEYS
from tests.cli.conftest import Pam


def test_show_has_every_key_with_its_source_and_no_secret(
    pam: Pam, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PAM-CFG-006, PAM-SEC-002."""
    pam("init")
    (home / "config.toml").write_text('[tmux]\nrows = 40\n[keys]\nhelp = "f2"\n')
    monkeypatch.setenv("PAM_GATEWAY_API_KEY", "very-secret-value")
    answer = pam("config", "show", "--json")
    shown = answer.json["config"]
    assert (shown["home"], shown["path"]) == (str(home), str(home / "config.toml"))
    by_key = {each["key"]: each for each in shown["settings"]}
    assert list(by_key) == [*(key.dotted for key in KEYS), "keys.help"]
    assert by_key["tmux.rows"] == {"key": "tmux.rows", "value": 40, "source": "file"}
    assert by_key["tmux.columns"] == {"key": "tmux.columns", "value": 220, "source": "default"}
    assert by_key["gateway.api_key"] == {"key": "gateway.api_key", "value": "[hidden]", "source": "environment"}
    assert by_key["keys.help"]["value"] == "f2"
    page = pam("config", "show").out
    assert "very-secret-value" not in answer.out + page
    assert "hold_open_s" in page


def test_path_works_while_the_file_is_faulty(pam: Pam, home: Path) -> None:
    home.mkdir()
    (home / "config.toml").write_text("[[[")
    assert pam.json("config", "path") == {"path": str(home / "config.toml"), "exists": True}


def test_set_changes_one_key_and_keeps_the_rest(pam: Pam, home: Path) -> None:
    pam("init")
    before = (home / "config.toml").read_text()
    told = pam.json("config", "set", "tmux.rows", "60")["config"]
    assert told == {"path": str(home / "config.toml"), "key": "tmux.rows", "value": 60, "source": "file"}
    after = (home / "config.toml").read_text()
    assert [line for line in after.splitlines() if line not in before.splitlines()] == ["rows = 60"]


@pytest.mark.parametrize(
    ("key", "value", "hint"),
    [
        ("tmux.row", "60", "rows"),
        ("tmux.rows", "many", "whole number"),
        ("tmux.rows", "1", "from 5 to 500"),
        ("tmux.socket", "default", "your own tmux server"),
        ("tmux.socket", "/tmp/x", "slash"),
        ("work.auto_mark_done", "maybe", "true or false"),
    ],
)
def test_set_refuses_what_cannot_be_and_writes_nothing(pam: Pam, home: Path, key: str, value: str, hint: str) -> None:
    pam("init")
    before = (home / "config.toml").read_bytes()
    answer = pam("config", "set", key, value, "--json", code=2)
    assert answer.error["code"] == "invalid_value"
    assert hint in answer.err
    assert (home / "config.toml").read_bytes() == before


def test_a_typo_is_told_with_its_line_where_settings_matter(pam: Pam, home: Path) -> None:
    """The board can be read all the same: listing needs no settings."""
    pam.project()
    (home / "config.toml").write_text("# mine\n[tmux]\nsoket = 'x'\n")
    answer = pam("config", "show", "--json", code=2)
    assert answer.error["code"] == "config_invalid"
    assert answer.error["details"] == {"path": str(home / "config.toml"), "line": 3}
    assert "config.toml:3:" in answer.err
    assert "did you mean 'socket'?" in answer.err
    pam("project", "list")


def test_a_secret_is_taken_from_standard_input_only(pam: Pam, home: Path) -> None:
    """PAM-SEC-003: a command line is seen by every user of the machine."""
    pam("init")
    answer = pam("config", "set", "gateway.api_key", "very-secret-value", "--json", code=2)
    assert "very-secret-value" not in answer.out + answer.err
    assert "`pam config set gateway.api_key -`" in answer.err
    told = pam("config", "set", "gateway.api_key", "-", "--json", stdin="very-secret-value\n")
    assert told.json["config"]["value"] == "[hidden]"
    assert 'api_key = "very-secret-value"' in (home / "config.toml").read_text()
