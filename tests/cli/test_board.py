"""``pam task board``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from app.cli import board_text, output
from store import runs
from tests.cli.conftest import Pam


@pytest.fixture
def tasks(pam: Pam) -> dict[str, Any]:
    """One task of each status."""
    pam.project()
    made = {}
    for status in ("todo", "doing", "done", "cancelled"):
        made[status] = pam.task(f"A {status} one with a title that is long enough to be cut", "--label", "api")
        if status != "todo":
            pam("task", "move", made[status]["id"], "--status", status)
    return made


def test_the_board_has_four_columns_with_tasks_by_status(pam: Pam, tasks: dict[str, Any]) -> None:
    """PAM-TEST-005, PAM-CLI-024."""
    board = pam.json("task", "board", "checkout-service")["board"]
    assert list(board) == ["todo", "doing", "done", "cancelled"]
    assert {status: [card["id"] for card in cards] for status, cards in board.items()} == {
        status: [task["id"]] for status, task in tasks.items()
    }
    card = board["todo"][0]
    assert card["newest_run"] is None
    assert (card["run_count"], card["children_done"], card["children_total"]) == (0, 0, 0)


def test_the_text_has_four_columns_with_counts(pam: Pam, tasks: dict[str, Any], opened: Callable[[], Any]) -> None:
    with opened() as store:
        runs.start(store, tasks["doing"]["id"], "demo", "/tmp", actor="operator")
    lines = pam("task", "board", "checkout-service").out.splitlines()
    assert lines[0].split("  ")[0] == "TODO · 1"
    assert [head in lines[0] for head in ("DOING · 1", "DONE · 1", "CANCELLED · 1")] == [True] * 3
    assert lines[2].count("…") == 4
    assert any("demo" in line and "pending" in line for line in lines)
    assert max(map(len, lines)) <= board_text.PIPED_WIDTH


def test_a_narrow_terminal_gets_the_columns_one_below_another(
    pam: Pam, tasks: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(board_text, "terminal_width", lambda: 40)
    assert output.terminal_width() is None
    lines = pam("task", "board", "checkout-service").out.splitlines()
    assert [line for line in lines if "·" in line] == ["TODO · 1", "DOING · 1", "DONE · 1", "CANCELLED · 1"]
    assert max(map(len, lines)) <= 40
