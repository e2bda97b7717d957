"""Items: adding, editing, labels, finding, listing, deleting (PAM-DATA-017 to 020, PAM-EVT-004, 005, 008)."""

from __future__ import annotations

import pytest

from store import items, leases, moves, projects, runs
from store.database import Store
from store.errors import Ambiguous, Conflict, InvalidValue, NotFound
from store.records import Item, Kind, Project
from store.signals import ingest
from tests.store.world import World, dump, events, query, signal, written


def _add(store: Store, project: Project, title: str, parent: Item | None = None, kind: Kind | None = None) -> Item:
    return items.create(store, project.id, title, parent_id=parent.id if parent else None, kind=kind, actor="operator")


def test_new_item_is_a_task_to_do_at_the_end(store: Store, project: Project) -> None:
    """PAM-DATA-018, 019, PAM-EVT-004."""
    first = _add(store, project, "First")
    (event,) = written(store, lambda: _add(store, project, " Second\n line "))
    _, second = items.list_all(store, project.id)
    assert (second.kind, second.status, second.title) == ("task", "todo", "Second line")
    assert (second.description, second.assignee, second.parent_id, second.labels) == ("", None, None, ())
    assert second.sort_order > first.sort_order
    assert event.topic == "work_item.created"
    assert event.payload == {
        "item_id": second.id,
        "project_id": project.id,
        "parent_id": None,
        "kind": "task",
        "title": "Second line",
    }


def test_everything_given_is_kept(store: Store, project: Project) -> None:
    """PAM-DATA-017, 020: the assignee is free text."""
    made = items.create(
        store,
        project.id,
        "Title",
        kind="epic",
        description="# Why\r\n\x1b[2JBecause",
        assignee=" the blue team ",
        labels=["UI", "#blocked", "ui"],
        actor="operator",
    )
    assert (made.kind, made.assignee, made.labels) == ("epic", "the blue team", ("blocked", "ui"))
    assert made.description == "# Why\n[2JBecause"
    assert items.get(store, made.id) == made


def test_below_a_subtask_a_subtask_is_made(store: Store, project: Project) -> None:
    """PAM-DATA-018: the default is a task, where a task may stand."""
    task = _add(store, project, "Task")
    below = _add(store, project, "Below", task)
    subtask = _add(store, project, "Subtask", below, "subtask")
    assert [below.kind, subtask.kind] == ["task", "subtask"]
    assert _add(store, project, "Deeper", subtask).kind == "subtask"


def test_kind_never_stands_below_a_lower_one(store: Store, project: Project) -> None:
    """Rulings X-50: milestone, epic, task, subtask from the top down."""
    task = _add(store, project, "Task")
    before = dump(store)
    with pytest.raises(InvalidValue, match="milestone > epic > task > subtask"):
        _add(store, project, "Epic", task, "epic")
    assert dump(store) == before


def test_parent_is_in_the_same_project(store: Store, project: Project) -> None:
    """PAM-DATA-023."""
    elsewhere = _add(store, projects.add(store, "Elsewhere", actor="operator"), "There")
    before = dump(store)
    with pytest.raises(InvalidValue, match="another project"):
        _add(store, project, "Here", elsewhere)
    assert dump(store) == before


def test_unknown_project_or_parent_is_not_found(store: Store, project: Project) -> None:
    before = dump(store)
    with pytest.raises(NotFound):
        items.create(store, "no-such-project", "Title", actor="operator")
    with pytest.raises(NotFound):
        items.create(store, project.id, "Title", parent_id="no-such-item", actor="operator")
    assert dump(store) == before


@pytest.mark.parametrize("title", ["", "  \t ", "\x00\x1b", "x" * 501])
def test_bad_title_is_refused(store: Store, project: Project, task: Item, title: str) -> None:
    before = dump(store)
    with pytest.raises(InvalidValue, match="title"):
        _add(store, project, title)
    with pytest.raises(InvalidValue, match="title"):
        items.edit(store, task.id, title=title, actor="operator")
    assert dump(store) == before


def test_edit_changes_what_is_given_and_names_the_fields(world: World) -> None:
    """PAM-EVT-005."""
    store, id_ = world.store, world.task.id
    world.clock.advance(5)
    (event,) = written(
        store,
        lambda: items.edit(
            store, id_, title="Renamed", assignee="me", kind="subtask", labels=["b", "a"], actor="operator"
        ),
    )
    changed = items.get(store, id_)
    assert (changed.title, changed.assignee, changed.kind, changed.labels) == ("Renamed", "me", "subtask", ("a", "b"))
    assert (changed.description, changed.status, changed.path) == ("", "todo", world.task.path)
    assert changed.updated_at == world.clock.now
    assert event.topic == "work_item.updated"
    assert event.payload["fields"] == ["assignee", "kind", "title", "labels"]
    cleared = items.edit(store, id_, assignee=None, labels=[], description="New", actor="operator")
    assert (cleared.assignee, cleared.labels, cleared.description) == (None, (), "New")


def test_edit_that_changes_nothing_writes_nothing(world: World) -> None:
    items.edit(world.store, world.task.id, labels=["a"], actor="operator")
    before = dump(world.store)
    world.clock.advance(1)
    items.edit(world.store, world.task.id, title=world.task.title, labels=["#A"], assignee=" ", actor="operator")
    items.edit(world.store, world.task.id, actor="operator")
    assert dump(world.store) == before


def test_kind_fits_parent_and_children_when_edited(store: Store, project: Project) -> None:
    """Rulings X-50."""
    epic = _add(store, project, "Epic", kind="epic")
    task = _add(store, project, "Task", epic)
    _add(store, project, "Child", task)
    for kind, told in (
        ("milestone", "milestone cannot stand below one of kind epic"),
        ("subtask", "It has an item of kind task below it"),
    ):
        before = dump(store)
        with pytest.raises(InvalidValue, match=told):
            items.edit(store, task.id, kind=kind, actor="operator")  # type: ignore[arg-type]
        assert dump(store) == before
    assert items.edit(store, epic.id, kind="milestone", actor="operator").kind == "milestone"


def test_item_with_runs_stays_one_that_may_have_runs(world: World) -> None:
    """PAM-DATA-034."""
    world.run("exited")
    with pytest.raises(Conflict, match="has runs"):
        items.edit(world.store, world.task.id, kind="epic", actor="operator")
    assert items.edit(world.store, world.task.id, kind="subtask", actor="operator").kind == "subtask"


def test_blocked_is_a_label_and_no_status(world: World) -> None:
    """PAM-WI-011."""
    items.edit(world.store, world.task.id, labels=["blocked"], actor="operator")
    assert items.get(world.store, world.task.id).status == "todo"
    assert [item.id for item in items.list_all(world.store, None, label="#Blocked")] == [world.task.id]


def test_item_is_found_by_any_unique_prefix(world: World) -> None:
    """Design §3: 4 digits or more, with and without dashes, in either case."""
    id_ = world.task.id
    plain = id_.replace("-", "")
    for wanted in (id_, plain, id_[:8], id_[:9], id_[:11], plain[:10], plain[:20], id_.upper(), f" {id_[:6]} "):
        assert items.find(world.store, wanted).id == id_


def test_prefix_that_names_two_is_ambiguous_and_lists_them(store: Store, project: Project) -> None:
    ids = ["abcd1000-0000-4000-8000-000000000000", "abcd2000-0000-4000-8000-000000000000"]
    source = iter(ids)
    store.new_id = lambda: next(source)
    for _ in ids:
        _add(store, project, "Item")
    with pytest.raises(Ambiguous, match="Give more digits") as refused:
        items.find(store, "abcd")
    assert refused.value.details["matches"] == ids
    assert items.find(store, "abcd2").id == ids[1]


@pytest.mark.parametrize(
    ("wanted", "error"),
    [
        ("abc", InvalidValue),
        ("a-b-c", InvalidValue),
        ("ffff", NotFound),
        ("title", NotFound),
        ("", NotFound),
        ("%%%%", NotFound),
    ],
)
def test_what_names_nothing_is_told(store: Store, project: Project, wanted: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        items.find(store, wanted)


def test_first_eight_digits_are_never_shared(store: Store, project: Project) -> None:
    """PAM-PATH-006, rulings X-48: on a collision the id is drawn again."""
    ids = iter(
        [
            "abcd0000-0000-4000-8000-000000000001",
            "abcd0000-0000-4000-8000-000000000002",
            "abcd0000-1111-4000-8000-000000000003",
            "abcd0001-0000-4000-8000-000000000004",
        ]
    )
    store.new_id = lambda: next(ids)
    assert [_add(store, project, "Item").path for _ in range(2)] == ["abcd0000", "abcd0001"]


def test_list_filters_narrow(store: Store, project: Project) -> None:
    other = _add(store, projects.add(store, "Other", actor="operator"), "Elsewhere")
    epic = _add(store, project, "Epic", kind="epic")
    mine = items.create(store, project.id, "Mine", assignee="Neil", labels=["ui"], actor="operator")
    moves.move(store, mine.id, "doing", actor="operator")

    def listed(**filters: str) -> list[str]:
        return [item.id for item in items.list_all(store, project.id, **filters)]  # type: ignore[arg-type]

    assert listed() == [epic.id, mine.id]
    assert listed(kind="epic") == [epic.id]
    assert listed(status="doing") == [mine.id]
    assert listed(assignee="neil") == listed(label="ui") == [mine.id]
    assert listed(status="doing", kind="epic") == []
    assert {item.id for item in items.list_all(store, None)} == {other.id, epic.id, mine.id}


def test_children_and_ancestors(store: Store, project: Project) -> None:
    top = _add(store, project, "Top")
    first, second = _add(store, project, "First", top), _add(store, project, "Second", top)
    deep = _add(store, project, "Deep", first)
    moves.reorder(store, second.id, before=first.id, actor="operator")
    assert [item.id for item in items.children(store, top.id)] == [second.id, first.id]
    assert [item.id for item in items.ancestors(store, deep.id)] == [top.id, first.id]
    assert items.ancestors(store, top.id) == []


def test_delete_takes_descendants_and_all_they_had(world: World) -> None:
    """PAM-EVT-008, PAM-DATA-021, 034, 037: one event, for the item deleted."""
    store, project = world.store, world.project
    items.edit(store, world.task.id, labels=["ui"], actor="operator")
    child = _add(store, project, "Child", world.task)
    grandchild = _add(store, project, "Grandchild", child)
    kept = _add(store, project, "Kept")
    run = runs.start(store, grandchild.id, "demo", "/srv", actor="operator")
    runs.claim(store, run.id, world.host, actor="executor")
    ingest(store, signal(run, "started"))
    leases.acquire(store, run.id, "me", actor="operator")
    ingest(store, signal(run, "finished", exit_code=0))
    gone: list[str] = []
    (event,) = written(store, lambda: gone.extend(items.delete(store, world.task.id, actor="operator")))
    assert gone[0] == world.task.id
    assert set(gone) == {world.task.id, child.id, grandchild.id}
    assert (event.topic, event.payload["item_id"], event.payload["ids"]) == ("work_item.deleted", world.task.id, gone)
    assert [item.id for item in items.list_all(store, project.id)] == [kept.id]
    for table in ("runs", "labels", "processed_signals", "attach_leases"):
        assert query(store, f"SELECT count(*) FROM {table}") == [(0,)]


@pytest.mark.parametrize("status", ["pending", "spawning", "running"])
def test_delete_is_refused_while_a_run_below_lives(world: World, status: str) -> None:
    """An agent is never left without a card."""
    parent = _add(world.store, world.project, "Parent")
    moves.reparent(world.store, world.task.id, parent.id, actor="operator")
    world.run(status)  # type: ignore[arg-type]
    before = dump(world.store)
    for id_ in (world.task.id, parent.id):
        with pytest.raises(Conflict, match="pam run stop") as refused:
            items.delete(world.store, id_, actor="operator")
        assert refused.value.details["live_runs"] == 1
    assert dump(world.store) == before


def test_start_and_end_of_a_run_move_no_item(world: World) -> None:
    """PAM-WI-007, PAM-RUN-018."""
    world.run("exited")
    failed = world.run("running")
    ingest(world.store, signal(failed, "finished", exit_code=1))
    world.run("stopped")
    assert items.get(world.store, world.task.id) == world.task
    assert not events(world.store, "work_item.status_changed")
