"""Where a home is, and that it is its owner's alone (PAM-SCOPE-015, 016, PAM-CFG-030)."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

import pytest

from store.errors import StoreUnavailable
from store.home import Home, find_home


def test_home_is_the_one_named_first(tmp_path: Path) -> None:
    """Design §3: ``--home``, then ``PAM_HOME``, then the platform's directory."""
    environ = {"PAM_HOME": str(tmp_path / "by environment")}
    assert find_home(str(tmp_path / "by flag"), environ).path == tmp_path / "by flag"
    assert find_home(None, environ).path == tmp_path / "by environment"
    assert find_home("", {"PAM_HOME": "relative"}).path == Path.cwd() / "relative"


def test_home_may_be_named_from_the_users_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/neil")
    assert find_home("~/moon", {}).path == Path("/home/neil/moon")


def test_home_nobody_named_is_the_platforms(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """PAM-SCOPE-015."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    below = "Library/Application Support/pam" if sys.platform == "darwin" else ".local/share/pam"
    assert find_home(None, {}).path == tmp_path / below


def test_everything_lies_below_the_home(tmp_path: Path) -> None:
    """PAM-CFG-030."""
    home = Home(tmp_path / "home")
    for path in (home.database, home.config, home.providers, home.executor_lock, home.log):
        assert path.is_relative_to(home.path)


def test_home_is_made_for_its_owner_alone(tmp_path: Path) -> None:
    """Design §3."""
    before = os.umask(0)
    try:
        home = Home(tmp_path / "a" / "home")
        home.make()
        home.make()
    finally:
        os.umask(before)
    assert stat.S_IMODE(home.path.stat().st_mode) == 0o700


def test_home_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreUnavailable, match="Choose another with --home or PAM_HOME"):
        Home(tmp_path / "file" / "home").make()
