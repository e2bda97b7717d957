"""Paths as the operator names them."""

from __future__ import annotations

from pathlib import Path

import pytest

from store.errors import InvalidValue
from store.home import find_home
from store.paths import absolute


def test_a_path_counts_from_the_home_and_from_where_one_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "neil"))
    monkeypatch.chdir(tmp_path)
    assert absolute("~/moon", "cwd") == tmp_path / "neil" / "moon"
    assert absolute("moon", "cwd") == tmp_path / "moon"
    assert absolute("/moon", "cwd") == Path("/moon")


def test_the_home_of_nobody_is_refused() -> None:
    """A sentence and a code, whatever the path was for."""
    with pytest.raises(InvalidValue, match="nobody's home") as raised:
        absolute("~nobody0/x", "cwd")
    assert raised.value.details == {"field": "cwd"}
    with pytest.raises(InvalidValue, match="nobody's home"):
        find_home("~nobody0/x")


def test_a_relative_path_where_the_directory_is_gone_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Agents delete the directories that shells stand in; an absolute path needs none."""
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    with pytest.raises(InvalidValue, match="directory, which is gone"):
        absolute("moon", "home")
    assert find_home(str(tmp_path)).path == tmp_path
