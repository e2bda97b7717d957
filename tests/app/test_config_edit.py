"""Changing one key of a file the operator wrote."""

from __future__ import annotations

import stat
import tomllib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.config_edit import set_key
from app.config_scaffold import scaffold
from store.errors import ConfigError, InvalidValue

MINE = """\
# My settings.
[executor]   # slow machine
grace_s = 20 # they save files

[tmux]
socket = "mine"
"""


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """A file as an operator writes one."""
    path = tmp_path / "config.toml"
    path.write_text(MINE)
    path.chmod(0o640)
    return path


def test_comments_order_and_mode_stay(config: Path) -> None:
    """PAM-PROV-020's habit, for settings."""
    set_key(config, "executor.grace_s", "5")
    assert config.read_text() == MINE.replace("grace_s = 20", "grace_s = 5")
    assert stat.S_IMODE(config.stat().st_mode) == 0o640


def test_a_new_key_and_a_new_section(config: Path) -> None:
    set_key(config, "tmux.rows", "60")
    set_key(config, "ui.theme", "pam-light")
    set_key(config, "keys.help", "f2")
    text = config.read_text()
    assert text.startswith(MINE.rstrip())
    assert tomllib.loads(text) == {
        "executor": {"grace_s": 20},
        "tmux": {"socket": "mine", "rows": 60},
        "ui": {"theme": "pam-light"},
        "keys": {"help": "f2"},
    }


def test_in_the_scaffold_a_key_stands_below_its_comment(tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    config.write_text(scaffold())
    set_key(config, "tmux.rows", "60")
    set_key(config, "tmux.rows", "61")
    lines = config.read_text().splitlines()
    assert lines[lines.index("# rows = 50") + 1] == "rows = 61"
    assert len(lines) == len(scaffold().splitlines()) + 1


def test_a_new_file_is_private(tmp_path: Path) -> None:
    config = tmp_path / "new" / "config.toml"
    set_key(config, "gateway.api_key", "abcdefgh")
    assert stat.S_IMODE(config.stat().st_mode) == 0o600
    assert tomllib.loads(config.read_text()) == {"gateway": {"api_key": "abcdefgh"}}


def test_a_link_stays_a_link(config: Path, tmp_path: Path) -> None:
    link = tmp_path / "link.toml"
    link.symlink_to(config)
    set_key(link, "tmux.rows", "60")
    assert link.is_symlink()
    assert "rows = 60" in config.read_text()


@pytest.mark.parametrize(("key", "value"), [("tmux.row", "1"), ("nothing", "1"), ("keys.help", ""), ("keys.", "x")])
def test_what_is_refused_changes_nothing(config: Path, key: str, value: str) -> None:
    with pytest.raises(InvalidValue):
        set_key(config, key, value)
    assert config.read_text() == MINE


def test_a_faulty_file_is_left_alone(config: Path) -> None:
    config.write_text("[tmux]\nrow = 1\n")
    with pytest.raises(ConfigError, match=":2:"):
        set_key(config, "tmux.rows", "60")
    assert config.read_text() == "[tmux]\nrow = 1\n"


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ConfigError, match="cannot be written"):
        set_key(tmp_path / "file" / "config.toml", "tmux.rows", "60")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], max_examples=50)
@given(st.text(alphabet=st.characters(codec="utf-8"), min_size=1, max_size=20).filter(str.strip))
def test_any_text_comes_back_as_it_was(config: Path, value: str) -> None:
    set_key(config, "providers.default", value)
    assert tomllib.loads(config.read_text())["providers"]["default"] == value
