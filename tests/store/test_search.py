"""Search over everything: what is found, in which order, by whatever is typed (issue 5)."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from store import items, projects, runs
from store.models import RunRow
from store.search import rebuild, search
from tests.store.world import World, execute, query


def titles(world: World, text: str) -> list[str]:
    return [hit.title for hit in search(world.store, text)]


def add(world: World, title: str, description: str = "", **more: object) -> str:
    return items.create(world.store, world.project.id, title, description=description, actor="t", **more).id  # type: ignore[arg-type]


def test_any_part_of_a_word_finds_it_and_every_word_counts(world: World) -> None:
    add(world, "Fix flaky auth tests", "They sleep instead of moving the clock.")
    add(world, "Rotate signing keys")
    assert titles(world, "fla") == titles(world, "LAKY") == titles(world, "flaky clock") == ["Fix flaky auth tests"]
    assert titles(world, "flaky keys") == []
    assert titles(world, "") == titles(world, "  ") == []


def test_words_without_spaces_are_found_by_what_is_inside_them(world: World) -> None:
    add(world, "重构支付网关并保留错误页面", "日本語のエラーページ")
    for text in ("支付网关", "错误页", "错误", "関", "エラー"):
        assert bool(titles(world, text)) == (text != "関")


def test_titles_come_before_descriptions_and_beginnings_before_the_rest(world: World) -> None:
    add(world, "Nothing of it", "cache cache cache cache")
    add(world, "The mycached thing")
    add(world, "Warm the cache")
    add(world, "Cache exchange rates")
    add(world, "cache")
    assert titles(world, "cache") == [
        "cache",
        "Cache exchange rates",
        "Warm the cache",
        "The mycached thing",
        "Nothing of it",
    ]
    (*_, last) = search(world.store, "cache")
    assert last.excerpt == "cache cache cache cache"


def test_labels_assignees_projects_and_runs_are_found(world: World) -> None:
    task = add(world, "Fix it", labels=["api-v2", "web"], assignee="mara")
    run = runs.start(world.store, task, "claude", "/", prompt="Delete the legacy importer", actor="t")
    assert titles(world, "#api") == titles(world, "api-v") == titles(world, "fix web") == ["Fix it"]
    assert titles(world, "@mara") == ["Fix it"]
    assert [hit.run.id for hit in search(world.store, run.session_name) if hit.run] == [run.id]
    (hit,) = search(world.store, "legacy importer")
    assert (hit.noun, hit.id, hit.title, hit.excerpt) == ("run", run.id, "Fix it", "Delete the legacy importer")
    (hit,) = search(world.store, world.project.slug)
    assert (hit.noun, hit.id) == ("project", world.project.id)


def test_what_an_agent_says_now_is_found_while_it_says_so(world: World) -> None:
    run = runs.start(world.store, add(world, "Fix it"), "claude", "/", actor="t")
    with world.store.write("t"):
        RunRow.update(activity_note="May I run `pytest -x`?").where(RunRow.id == run.id).execute()
    (hit,) = search(world.store, "pytest")
    assert (hit.id, hit.excerpt) == (run.id, "May I run `pytest -x`?")
    with world.store.write("t"):
        RunRow.update(activity_note=None).where(RunRow.id == run.id).execute()
    assert search(world.store, "pytest") == []


def test_the_index_follows_every_change(world: World) -> None:
    task = add(world, "Old title", labels=["one"])
    child = add(world, "Below it", parent_id=task)
    runs.request_stop(world.store, runs.start(world.store, child, "codex", "/", actor="t").id, actor="t")
    items.edit(world.store, task, title="New title", description="and words", labels=["two"], actor="t")
    assert titles(world, "old") == titles(world, "one") == []
    assert titles(world, "new") == titles(world, "words") == titles(world, "two") == ["New title"]
    projects.edit(world.store, world.project.id, name="Zeppelin", actor="t")
    assert titles(world, "zeppelin") == ["Zeppelin"]
    items.delete(world.store, task, actor="t")
    assert titles(world, "new") == titles(world, "below") == titles(world, "codex") == []
    left = query(world.store, "SELECT title FROM search_documents WHERE noun <> 'project'")
    assert left == [(world.task.title,)]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], max_examples=300)
@given(text=st.text(max_size=30) | st.text(alphabet='"*():^-+ ANDORNOT{}\x00\ud800', max_size=30))
def test_no_text_is_read_as_a_query(world: World, text: str) -> None:
    for hit in search(world.store, text):
        assert "\n" not in hit.excerpt


def test_syntax_of_the_index_is_text_like_any_other(world: World) -> None:
    add(world, 'say "hello" AND (go) NEAR title:x*')
    for text in ('"hello"', "NEAR", "(go)", "title:x*", 'say "hello'):
        assert len(titles(world, text)) == 1, text
    assert titles(world, "hello OR nothing") == []


def test_a_home_from_before_is_indexed_when_it_is_opened(world: World) -> None:
    """Whatever stood there; rebuilding gives the same."""
    for number in range(20):
        add(world, f"Task number {number}", "and more")
    before = [hit.id for hit in search(world.store, "number more")]
    execute(world.store, "DELETE FROM search_index_data")
    rebuild(world.store, actor="t")
    assert [hit.id for hit in search(world.store, "number more")] == before
    assert len(before) == 20


def test_without_the_index_titles_are_found_all_the_same(world: World) -> None:
    add(world, "Fix flaky auth tests")
    for name in ("search_added", "search_removed", "search_replaced"):
        execute(world.store, f"DROP TRIGGER {name}")
    execute(world.store, "DROP TABLE search_index")
    assert titles(world, "flaky") == ["Fix flaky auth tests"]
    add(world, "Another flaky one")
    assert len(titles(world, "flaky")) == 2


def test_the_documents_are_made_of_what_an_older_pam_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from store import migrate
    from store.database import open_store

    older = tmp_path / "migrations"
    older.mkdir()
    for file in migrate.DIRECTORY.glob("0*.py"):
        if file.name < "0006":
            (older / file.name).write_bytes(file.read_bytes())
    with monkeypatch.context() as patched:
        patched.setattr(migrate, "DIRECTORY", older)
        store = open_store(tmp_path / "pam.db")
        project = projects.add(store, "Apollo", actor="t")
        task = items.create(store, project.id, "Fix flaky auth tests", labels=["api"], actor="t")
        runs.start(store, task.id, "claude", "/", prompt="Freeze the clock", actor="t")
        store.close()
    store = open_store(tmp_path / "pam.db")
    assert [hit.noun for hit in search(store, "flaky")] == ["item"]
    assert [hit.noun for hit in search(store, "freeze clock")] == ["run"]
    assert [hit.noun for hit in search(store, "apollo")] == ["project"]
    store.close()
    assert sqlite3.sqlite_version_info >= (3, 34)
