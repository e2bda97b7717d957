"""``pam init`` and ``pam migrate``."""

from __future__ import annotations

import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.cli.conftest import Pam


def test_init_makes_a_private_home_with_a_commented_config(pam: Pam, home: Path) -> None:
    """PAM-CFG-030: directories 0700, files 0600."""
    made = pam.json("init")
    config = home / "config.toml"
    assert made == {"home": str(home), "config": str(config), "created": [str(home), str(config), str(home / "pam.db")]}
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in (config, home / "pam.db")} == {0o600}
    assert "# socket" in config.read_text()
    assert [host["name"] for host in pam.json("host", "list")["hosts"]] == ["local"]


def test_init_leaves_what_exists(pam: Pam, home: Path) -> None:
    pam("init")
    (home / "config.toml").write_text("[tmux]\nrows = 30\n")
    assert pam.json("init")["created"] == []
    assert (home / "config.toml").read_text() == "[tmux]\nrows = 30\n"


def test_migrate_is_idempotent(pam: Pam) -> None:
    """PAM-CLI-007, PAM-STORE-007."""
    first = pam.json("migrate")
    assert first["applied"]
    assert pam.json("migrate") == {"applied": [], "version": first["version"]}
    assert "version" in pam("migrate").out


def test_a_newer_database_is_refused_and_left_as_it_is(pam: Pam, home: Path, opened: Callable[[], Any]) -> None:
    """Exit 7 with the code that says it."""
    pam("init")
    with opened() as store:
        store._database.pragma("user_version", 99)
    before = (home / "pam.db").read_bytes()
    for words in (("project", "list"), ("migrate",), ("status",)):
        answer = pam(*words, "--json", code=7)
        assert answer.error["code"] == "store_newer"
        assert "update pam" in answer.err
    assert (home / "pam.db").read_bytes() == before
