"""Projects: slugs, edits, archive rules, look-up, cards (PAM-DATA-010 to 016)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from store import items, moves, projects, runs
from store.database import Store
from store.errors import Ambiguous, ArchivedProject, Conflict, InvalidValue, NotFound
from store.records import ITEM_STATUSES
from store.signals import ingest
from tests.store.world import World, dump, events, signal, written


def test_new_project_is_active_and_journaled(store: Store) -> None:
    """PAM-EVT-001, PAM-DATA-010."""
    (event,) = written(store, lambda: projects.add(store, "  Apollo  11 ", description="a\r\nb", actor="operator"))
    (project,) = projects.list_all(store)
    assert (project.name, project.slug, project.status) == ("Apollo 11", "apollo-11", "active")
    assert (project.description, project.cwd) == ("a\nb", None)
    assert event.topic == "project.created"
    assert event.payload == {"project_id": project.id, "name": "Apollo 11", "slug": "apollo-11"}


def test_slug_made_from_a_taken_name_is_numbered(store: Store) -> None:
    """PAM-DATA-012."""
    made = [projects.add(store, name, actor="operator").slug for name in ("Apollo", "apollo!", "APOLLO", "Apollo 2")]
    assert made == ["apollo", "apollo-2", "apollo-3", "apollo-2-2"]


def test_name_without_ascii_letters_still_gets_a_slug(store: Store) -> None:
    """PAM-DATA-012."""
    assert [projects.add(store, "家", actor="operator").slug for _ in range(2)] == ["project", "project-2"]


def test_slug_that_is_taken_is_refused(store: Store) -> None:
    """PAM-DATA-010: a slug the operator chose is never changed behind his back."""
    projects.add(store, "Apollo", actor="operator")
    other = projects.add(store, "Gemini", actor="operator")
    before = dump(store)
    with pytest.raises(Conflict, match="taken"):
        projects.add(store, "Another", slug="apollo", actor="operator")
    with pytest.raises(Conflict, match="taken"):
        projects.edit(store, other.id, slug="apollo", actor="operator")
    assert dump(store) == before


@pytest.mark.parametrize(
    "bad", [{"name": " "}, {"name": "x" * 501}, {"slug": "Not A Slug"}, {"cwd": "relative/path"}, {"cwd": "~nobody0/x"}]
)
def test_bad_value_is_refused_and_nothing_written(store: Store, bad: dict[str, str]) -> None:
    before = dump(store)
    with pytest.raises(InvalidValue):
        projects.add(store, **{"name": "Apollo", **bad}, actor="operator")
    assert dump(store) == before


def test_directory_is_absolute_with_the_home_put_in(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/neil")
    assert projects.add(store, "Apollo", cwd="~/moon", actor="operator").cwd == str(Path("/home/neil/moon"))
    assert projects.add(store, "Gemini", cwd="  ", actor="operator").cwd is None


def test_edit_changes_what_is_given_and_says_so(world: World) -> None:
    """PAM-EVT-002."""
    id_ = world.project.id
    (event,) = written(
        world.store, lambda: projects.edit(world.store, id_, name="Artemis", cwd="/srv", actor="operator")
    )
    project = projects.get(world.store, id_)
    assert (project.name, project.cwd, project.slug) == ("Artemis", "/srv", "apollo")
    assert (event.topic, event.payload) == ("project.updated", {"project_id": id_, "fields": ["cwd", "name"]})
    assert projects.edit(world.store, id_, cwd=None, actor="operator").cwd is None


def test_edit_that_changes_nothing_writes_nothing(world: World) -> None:
    before = dump(world.store)
    world.clock.advance(1)
    projects.edit(world.store, world.project.id, name="Apollo", slug="apollo", actor="operator")
    projects.edit(world.store, world.project.id, actor="operator")
    assert dump(world.store) == before


def test_archive_is_soft_and_can_be_undone(world: World) -> None:
    """PAM-DATA-015, 016, PAM-EVT-003: twice is as good as once."""
    store, id_ = world.store, world.project.id
    world.run()
    before = dump(store)
    made = written(store, lambda: [projects.archive(store, id_, actor="operator") for _ in range(2)])
    assert [event.topic for event in made] == ["project.archived"]
    assert projects.get(store, id_).status == "archived"
    after = dump(store)
    assert {name: after[name] for name in ("work_items", "runs")} == {
        name: before[name] for name in ("work_items", "runs")
    }
    made = written(store, lambda: [projects.unarchive(store, id_, actor="operator") for _ in range(2)])
    assert [event.topic for event in made] == ["project.updated"]
    assert projects.get(store, id_).status == "active"
    assert items.create(store, id_, "Mutable again", actor="operator")
    assert world.run()


def test_archived_project_is_read_only_for_structure(world: World) -> None:
    """PAM-DATA-013."""
    store, project, task = world.store, world.project, world.task
    other = items.create(store, project.id, "Other", actor="operator")
    projects.archive(store, project.id, actor="operator")
    before = dump(store)
    refused: list[Callable[[], object]] = [
        lambda: items.create(store, project.id, "New", actor="operator"),
        lambda: items.create(store, project.id, "New", parent_id=task.id, actor="operator"),
        lambda: items.delete(store, task.id, actor="operator"),
        lambda: moves.reparent(store, task.id, other.id, actor="operator"),
        lambda: moves.reorder(store, task.id, after=other.id, actor="operator"),
        lambda: runs.start(store, task.id, "demo", "/srv", actor="operator"),
    ]
    for act in refused:
        with pytest.raises(ArchivedProject, match=r"pam project unarchive apollo"):
            act()
    assert dump(store) == before


def test_runs_in_flight_go_on_when_their_project_is_archived(world: World) -> None:
    """PAM-DATA-014."""
    run = world.run("spawning")
    projects.archive(world.store, world.project.id, actor="operator")
    after = events(world.store)[-1].seq
    ingest(world.store, signal(run, "started"))
    ingest(world.store, signal(run, "finished", exit_code=0))
    assert runs.get(world.store, run.id).status == "exited"
    assert [event.topic for event in events(world.store, after=after)] == ["run.started", "run.finished"]


def test_project_is_found_by_slug_id_and_prefix(world: World) -> None:
    project = world.project
    for wanted in ("apollo", " apollo ", project.id, project.id[:8], project.id.replace("-", "")[:12].upper()):
        assert projects.find(world.store, wanted) == project


def test_slug_wins_over_a_prefix_that_looks_the_same(world: World) -> None:
    other = projects.add(world.store, "Other", slug=world.project.id[:8], actor="operator")
    assert projects.find(world.store, world.project.id[:8]) == other


@pytest.mark.parametrize("wanted", ["nothing-such", "12", "0000", ""])
def test_unknown_project_names_the_known(world: World, wanted: str) -> None:
    with pytest.raises(NotFound, match="apollo"):
        projects.find(world.store, wanted)


def test_look_up_of_what_is_no_text_is_refused(world: World) -> None:
    with pytest.raises(InvalidValue, match="not valid Unicode"):
        projects.find(world.store, "\udcff")


def test_unknown_project_in_an_empty_home_says_how_to_add_one(store: Store) -> None:
    with pytest.raises(NotFound, match="pam project add NAME"):
        projects.find(store, "apollo")


def test_prefix_of_two_projects_is_ambiguous(store: Store) -> None:
    ids = iter(["abcd0000-0000-4000-8000-000000000001", "abcd0000-0000-4000-8000-000000000002"])
    store.new_id = lambda: next(ids)
    for name in ("One", "Two"):
        projects.add(store, name, actor="operator")
    with pytest.raises(Ambiguous) as refused:
        projects.find(store, "abcd")
    assert refused.value.details["matches"] == [project.id for project in projects.list_all(store)]


def test_projects_are_listed_by_name_and_status(store: Store) -> None:
    for name in ("beta", "Alpha", "gamma"):
        projects.add(store, name, actor="operator")
    projects.archive(store, projects.find(store, "beta").id, actor="operator")
    assert [project.name for project in projects.list_all(store)] == ["Alpha", "beta", "gamma"]
    assert [project.name for project in projects.list_all(store, status="active")] == ["Alpha", "gamma"]
    assert [project.name for project in projects.list_all(store, status="archived")] == ["beta"]


def test_overviews_count_items_and_put_the_latest_activity_first(world: World) -> None:
    """PAM-UI-002."""
    store = world.store
    world.clock.advance(60)
    quiet = projects.add(store, "Quiet", actor="operator")
    moment = world.clock.advance(60)
    moves.move(store, world.task.id, "doing", actor="operator")
    items.create(store, world.project.id, "Second", actor="operator")
    first, second = projects.overviews(store)
    assert (first.project.id, second.project.id) == (world.project.id, quiet.id)
    assert first.counts == {"todo": 1, "doing": 1, "done": 0, "cancelled": 0}
    assert second.counts == dict.fromkeys(ITEM_STATUSES, 0)
    assert (first.last_activity, second.last_activity) == (moment, quiet.created_at)


def test_unknown_id_is_not_found(store: Store) -> None:
    with pytest.raises(NotFound):
        projects.get(store, "no-such-id")
    with pytest.raises(NotFound):
        projects.archive(store, "no-such-id", actor="operator")
