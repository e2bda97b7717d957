"""``pam task``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from store import runs
from tests.cli.conftest import Pam

FIELDS = [
    *("id", "project_id", "parent_id", "kind", "title", "description", "status", "assignee", "path", "sort_order"),
    *("labels", "created_at", "updated_at"),
]


@pytest.fixture(autouse=True)
def project(pam: Pam) -> Any:
    """A project for the tasks."""
    return pam.project()


def test_add_list_move_done_round_trip(pam: Pam) -> None:
    """PAM-TEST-003: and show reflects each transition."""
    task = pam.task("Fix the flaky auth tests")
    assert list(task) == FIELDS
    assert (task["kind"], task["status"], task["path"]) == ("task", "todo", task["id"][:8])
    assert pam.json("task", "list", "--project", "checkout-service") == {"tasks": [task]}
    seen = [pam.json("task", "show", task["id"])["task"]["status"]]
    for words in (("move", task["id"], "--status", "doing"), ("done", task["id"], "--confidence", "certain")):
        answered = pam.json("task", *words)["task"]["status"]
        seen.append(pam.json("task", "show", task["id"])["task"]["status"])
        assert answered == seen[-1]
    assert seen == ["todo", "doing", "done"]
    changes = pam.json("events", "list", "--topic", "work_item.status_changed")["events"]
    assert [change["payload"]["to"] for change in changes] == ["doing", "done"]
    assert changes[-1]["payload"]["confidence"] == "certain"


def test_add_takes_everything(pam: Pam) -> None:
    """PAM-CLI-020."""
    epic = pam.task("Sessions", "--kind", "epic")
    words = (
        "--parent",
        epic["id"][:8],
        "--description",
        "# How",
        "--assignee",
        "codex",
        "--label",
        "b",
        "--label",
        "#A",
    )
    task = pam.task("Write the adapter", *words)
    assert task["parent_id"] == epic["id"]
    assert task["path"] == f"{epic['path']}/{task['id'][:8]}"
    assert (task["description"], task["assignee"], task["labels"]) == ("# How", "codex", ["a", "b"])


def test_an_illegal_move_names_the_legal_ones_and_writes_nothing(pam: Pam) -> None:
    """PAM-CLI-023, PAM-WI-001: exit 4, details, the sentence on stderr."""
    task = pam.task()
    pam("task", "done", task["id"])
    before = pam.json("events", "list")
    answer = pam("task", "move", task["id"], "--status", "todo", "--json", code=4)
    assert answer.error["code"] == "illegal_transition"
    assert answer.error["details"] == {"from": "done", "to": "todo", "legal": ["doing", "cancelled"]}
    assert answer.err.strip() == answer.error["message"]
    assert pam.json("events", "list") == before


def test_list_is_a_tree_or_flat_with_paths(pam: Pam) -> None:
    """PAM-CLI-021: children stand below their parents, in both the text and the JSON."""
    epic = pam.task("Sessions", "--kind", "epic")
    pam.task("Élan — 別の")
    child = pam.task("Write the ädapter", "--parent", epic["id"])
    listed = pam.json("task", "list", "--project", "checkout-service")["tasks"]
    assert [task["title"] for task in listed] == ["Sessions", "Write the ädapter", "Élan — 別の"]
    flat = pam.json("task", "list", "--project", "checkout-service", "--flat")["tasks"]
    assert [task["title"] for task in flat] == ["Sessions", "Élan — 別の", "Write the ädapter"]
    assert "  Write the ädapter" in pam("task", "list", "--project", "checkout-service").out
    assert child["path"] in pam("task", "list", "--project", "checkout-service", "--flat").out


def test_list_filters(pam: Pam) -> None:
    pam.task("A", "--kind", "epic", "--label", "api")
    pam.task("B", "--assignee", "Codex")
    pam("task", "move", pam.task("C")["id"], "--status", "doing")
    for words, titles in (
        (("--kind", "epic"), ["A"]),
        (("--label", "api"), ["A"]),
        (("--assignee", "codex"), ["B"]),
        (("--status", "doing"), ["C"]),
        ((), ["A", "B", "C"]),
    ):
        listed = pam.json("task", "list", "--project", "checkout-service", *words)["tasks"]
        assert [task["title"] for task in listed] == titles


def test_list_wants_a_project_or_all(pam: Pam) -> None:
    pam.project("Other")
    pam.task("A")
    pam.task("B", project="other")
    assert [task["title"] for task in pam.json("task", "list", "--all")["tasks"]] == ["A", "B"]
    assert "other" in pam("task", "list", "--all").out
    assert pam("task", "list", "--json", code=2).error["code"] == "usage"
    pam("task", "list", "--all", "--project", "other", code=2)


def test_show_has_children_and_runs(pam: Pam, opened: Callable[[], Any]) -> None:
    """PAM-CLI-022."""
    epic = pam.task("Sessions", "--kind", "epic", "--description", "line one\nline two")
    task = pam.task("Write the adapter", "--parent", epic["id"])
    with opened() as store:
        run = runs.start(store, task["id"], "demo", "/tmp", actor="operator")
    assert [child["id"] for child in pam.json("task", "show", epic["id"])["task"]["children"]] == [task["id"]]
    shown = pam.json("task", "show", task["id"])["task"]
    assert [each["id"] for each in shown["runs"]] == [run.id]
    page = pam("task", "show", task["id"]).out
    assert "Sessions" in page
    assert run.session_name in page
    assert "line two" in pam("task", "show", epic["id"]).out


def test_edit_changes_what_is_given(pam: Pam) -> None:
    task = pam.task("Old", "--label", "a", "--label", "b", "--assignee", "me")
    words = ("--title", "New", "--assignee", "", "--label", "c", "--unlabel", "a", "--kind", "subtask")
    changed = pam.json("task", "edit", task["id"], *words)["task"]
    assert (changed["title"], changed["assignee"], changed["labels"], changed["kind"]) == (
        "New",
        None,
        ["b", "c"],
        "subtask",
    )
    pam("task", "edit", task["id"], code=2)


def test_reparent_reorder_and_delete(pam: Pam) -> None:
    epic, a, b = pam.task("Epic", "--kind", "epic"), pam.task("A"), pam.task("B")
    assert pam.json("task", "reparent", a["id"], "--parent", epic["id"])["task"]["parent_id"] == epic["id"]
    assert pam.json("task", "reparent", a["id"], "--root")["task"]["parent_id"] is None
    pam("task", "reparent", a["id"], code=2)
    assert (
        pam("task", "reparent", epic["id"], "--parent", epic["id"], "--json", code=2).error["code"] == "invalid_value"
    )
    pam("task", "reorder", b["id"], "--before", epic["id"])
    titles = [task["title"] for task in pam.json("task", "list", "--project", "checkout-service")["tasks"]]
    assert titles == ["B", "Epic", "A"]
    pam("task", "reorder", b["id"], "--after", a["id"])
    pam("task", "reorder", b["id"], "--after", a["id"], "--before", epic["id"], code=2)
    pam("task", "delete", a["id"], code=2)
    gone = pam.json("task", "delete", a["id"], "--yes")
    assert (gone["task"]["id"], gone["deleted"]) == (a["id"], [a["id"]])
    assert pam("task", "show", a["id"], "--json", code=3).error["code"] == "not_found"


def test_deleting_below_a_live_run_is_a_conflict(pam: Pam, opened: Callable[[], Any]) -> None:
    task = pam.task()
    with opened() as store:
        runs.start(store, task["id"], "demo", "/tmp", actor="operator")
    assert pam("task", "delete", task["id"], "--yes", "--json", code=4).error["code"] == "conflict"


def test_a_prefix_of_four_digits_names_a_task_unless_two_share_it(pam: Pam, opened: Callable[[], Any]) -> None:
    """Exit 6 with the candidates; fewer than 4 digits are refused."""
    task = pam.task()
    assert pam.json("task", "show", task["id"][:4])["task"]["id"] == task["id"]
    assert pam("task", "show", task["id"][:3], "--json", code=2).error["code"] == "invalid_value"
    made = iter(
        [task["id"][:4] + "0000-0000-4000-8000-000000000000", task["id"][:4] + "1111-0000-4000-8000-000000000000"]
    )
    from store import items
    from store.database import open_store

    with opened() as store:
        twin = open_store(store.path, new_id=lambda: next(made))
        items.create(twin, task["project_id"], "Twin", actor="operator")
        twin.close()
    answer = pam("task", "show", task["id"][:4], "--json", code=6)
    assert answer.error["code"] == "ambiguous_id"
    assert task["id"] in answer.error["details"]["matches"]


def test_no_control_character_of_a_title_reaches_the_terminal(pam: Pam, opened: Callable[[], Any]) -> None:
    """The store cleans what it takes; what got in otherwise is cleaned on its way out."""
    task = pam.task("Plain")
    with opened() as store, store.write("operator"):
        store._database.execute_sql("UPDATE work_items SET title = ?", ("\x1b[2Jevil\x07\u202etxt",))
    for words in (
        ("task", "list", "--all"),
        ("task", "show", task["id"]),
        ("task", "board", "checkout-service"),
    ):
        out = pam(*words).out
        assert "evil" in out
        assert not {"\x1b", "\x07", "\u202e"} & set(out)
