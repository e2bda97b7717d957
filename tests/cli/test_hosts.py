"""``pam host``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from store import hosts
from tests.cli.conftest import Pam


def test_list_and_show(pam: Pam) -> None:
    """PAM-CLI-011, PAM-HOST-014."""
    (local,) = pam.json("host", "list")["hosts"]
    assert (local["name"], local["status"], local["active_runs"], local["last_seen_at"]) == (
        "local",
        "registered",
        0,
        None,
    )
    assert pam.json("host", "show", "local")["host"] == local
    assert "registered" in pam("host", "list").out
    assert "local" in pam("host", "show", "local").out
    assert pam("host", "show", "nope", "--json", code=3).error["code"] == "not_found"


def test_disable_and_enable(pam: Pam, opened: Callable[[], Any]) -> None:
    """PAM-CLI-012, PAM-CLI-013, PAM-HOST-006."""
    pam("init")
    assert pam.json("host", "disable", "local")["host"]["status"] == "disabled"
    assert pam.json("host", "enable", "local")["host"]["status"] == "offline"
    with opened() as store:
        hosts.heartbeat(store, "local", "one", actor="executor")
    pam("host", "disable", "local")
    assert pam.json("host", "enable", "local")["host"]["status"] == "online"


def test_clear_suspect_needs_a_suspect(pam: Pam, opened: Callable[[], Any]) -> None:
    """PAM-CLI-015, PAM-HOST-010."""
    pam("init")
    assert pam("host", "clear-suspect", "local", "--json", code=4).error["code"] == "conflict"
    with opened() as store:
        hosts.heartbeat(store, "local", "one", actor="executor")
        hosts.heartbeat(store, "local", "two", actor="executor")
    assert "suspect" in pam("host", "list").out
    assert "another instance" in pam("host", "show", "local").out
    cleared = pam.json("host", "clear-suspect", "local")["host"]
    assert (cleared["instance_suspect"], cleared["instance_id"]) == (False, "two")
