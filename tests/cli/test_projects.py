"""``pam project``."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Pam

FIELDS = ["id", "name", "slug", "description", "status", "cwd", "created_at", "updated_at"]


def test_add_answers_with_the_project(pam: Pam) -> None:
    """PAM-CLI-016, PAM-DATA-012: the id, and a slug made from the name."""
    project = pam.json("project", "add", "Checkout service", "--description", "Pay.")["project"]
    assert list(project) == FIELDS
    assert project["slug"] == "checkout-service"
    assert project["description"] == "Pay."
    assert len(project["id"]) == 36
    assert project["created_at"].endswith("Z")


def test_a_relative_directory_counts_from_here(pam: Pam, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert pam.project("A", "--cwd", "x/../y")["cwd"] == str(tmp_path / "y")


def test_list_filters_by_status(pam: Pam) -> None:
    """PAM-CLI-017, PAM-CLI-036: a named list."""
    pam.project("One")
    pam.project("Two")
    pam("project", "archive", "one")
    assert [each["slug"] for each in pam.json("project", "list")["projects"]] == ["one", "two"]
    assert [each["slug"] for each in pam.json("project", "list", "--status", "active")["projects"]] == ["two"]


def test_an_empty_list_says_what_to_do(pam: Pam) -> None:
    assert pam.json("project", "list") == {"projects": []}
    assert "pam project add" in pam("project", "list").out


def test_show_has_counts_and_what_happened(pam: Pam) -> None:
    """PAM-CLI-018: metadata, number of items, recent activity; by slug, id or prefix."""
    project = pam.project()
    task = pam.task()
    pam("task", "move", task["id"], "--status", "doing")
    pam.project("Another")
    for word in (project["slug"], project["id"], project["id"][:8]):
        shown = pam.json("project", "show", word)["project"]
        assert shown["id"] == project["id"]
    assert shown["items"] == {"todo": 0, "doing": 1, "done": 0, "cancelled": 0}
    assert [event["topic"] for event in shown["recent"]] == [
        "project.created",
        "work_item.created",
        "work_item.status_changed",
    ]
    page = pam("project", "show", "checkout-service").out
    assert "1 doing" in page
    assert "moved from todo to doing" in page


def test_edit_changes_what_is_given(pam: Pam) -> None:
    pam.project("Checkout service", "--cwd", "/tmp")
    changed = pam.json("project", "edit", "checkout-service", "--name", "Pay", "--slug", "pay", "--cwd", "")["project"]
    assert (changed["name"], changed["slug"], changed["cwd"]) == ("Pay", "pay", None)
    assert pam("project", "edit", "pay", "--json", code=2).error["code"] == "usage"


def test_archive_makes_the_structure_read_only_until_unarchive(pam: Pam) -> None:
    """PAM-CLI-019, PAM-DATA-013, PAM-DATA-015."""
    pam.project()
    assert pam.json("project", "archive", "checkout-service")["project"]["status"] == "archived"
    refused = pam("task", "add", "More", "--project", "checkout-service", "--json", code=4)
    assert refused.error["code"] == "project_archived"
    assert "unarchive" in refused.err
    assert pam.json("project", "unarchive", "checkout-service")["project"]["status"] == "active"
    pam.task("More")


def test_a_slug_that_is_taken_is_a_conflict(pam: Pam) -> None:
    pam.project("A", "--slug", "a")
    assert pam("project", "add", "B", "--slug", "a", "--json", code=4).error["code"] == "conflict"


def test_an_unknown_project_is_not_found_and_the_known_are_named(pam: Pam) -> None:
    pam.project()
    answer = pam("project", "show", "nope", "--json", code=3)
    assert answer.error["code"] == "not_found"
    assert "checkout-service" in answer.err
