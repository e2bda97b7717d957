"""Making a home."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.first_start import make_home
from store import hosts
from store.errors import StoreUnavailable
from store.home import Home


def test_a_new_home_is_told_in_full_and_an_old_one_not_at_all(tmp_path: Path) -> None:
    """Design §3: host `local` exists from the first start."""
    home = Home(tmp_path / "deep" / "home")
    store, made = make_home(home, actor="operator")
    assert [host.name for host in hosts.list_all(store)] == ["local"]
    store.close()
    assert made == [home.path, home.config, home.database]
    home.database.unlink()
    home.config.write_text("[tmux]\n")
    store, made = make_home(home, actor="operator")
    store.close()
    assert made == [home.database]
    assert home.config.read_text() == "[tmux]\n"


def test_a_home_that_cannot_be_made_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreUnavailable, match="cannot be made"):
        make_home(Home(tmp_path / "file" / "home"), actor="operator")


def test_a_config_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    home.make()
    (tmp_path / "home" / "config.toml").symlink_to(tmp_path / "nowhere" / "config.toml")
    store, _ = make_home(home, actor="operator")
    store.close()
    assert not home.config.exists()
