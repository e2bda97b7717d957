"""Status along the board, with its cascade (PAM-WI)."""

from __future__ import annotations

import pytest

from store import items, moves, runs
from store.database import Store
from store.errors import IllegalTransition, NotFound
from store.records import Item, ItemStatus, Project
from store.signals import ingest
from tests.store.world import World, dump, signal, written


def _add(store: Store, project: Project, parent: Item | None, *path: ItemStatus) -> Item:
    item = items.create(store, project.id, "Item", parent_id=parent.id if parent else None, actor="operator")
    for status in path:
        item = moves.move(store, item.id, status, actor="operator")
    return item


def test_move_writes_the_status_and_one_event(world: World) -> None:
    """PAM-WI-006, 012, PAM-EVT-006: a move changes the status and nothing else."""
    world.clock.advance(5)
    (event,) = written(world.store, lambda: moves.move(world.store, world.task.id, "doing", actor="operator"))
    moved = items.get(world.store, world.task.id)
    assert (moved.status, moved.updated_at) == ("doing", world.clock.now)
    assert (moved.sort_order, moved.path, moved.title) == (world.task.sort_order, world.task.path, world.task.title)
    assert (event.topic, event.actor) == ("work_item.status_changed", "operator")
    assert event.payload == {
        "item_id": world.task.id,
        "project_id": world.project.id,
        "from": "todo",
        "to": "doing",
    }


def test_work_done_out_of_band_goes_straight_to_done(world: World) -> None:
    """PAM-WI-002."""
    assert moves.move(world.store, world.task.id, "done", actor="operator").status == "done"


def test_move_to_the_status_it_has_is_no_change(world: World) -> None:
    before = dump(world.store)
    assert moves.move(world.store, world.task.id, "todo", actor="operator") == world.task
    assert dump(world.store) == before


def test_illegal_move_names_the_legal_ones(world: World) -> None:
    """PAM-WI-001, PAM-WI-009."""
    moves.move(world.store, world.task.id, "cancelled", actor="operator")
    before = dump(world.store)
    with pytest.raises(IllegalTransition, match=r"From cancelled it can go to: todo\.") as refused:
        moves.move(world.store, world.task.id, "done", actor="operator")
    assert refused.value.details == {"from": "cancelled", "to": "done", "legal": ["todo"]}
    assert dump(world.store) == before


@pytest.mark.parametrize("status", ["blocked", "", "DONE"])
def test_status_that_does_not_exist_is_refused(world: World, status: str) -> None:
    """PAM-WI-011: nor is "blocked" one."""
    before = dump(world.store)
    with pytest.raises(IllegalTransition):
        moves.move(world.store, world.task.id, status, actor="operator")  # type: ignore[arg-type]
    assert dump(world.store) == before


def test_mark_by_hand_may_say_how_sure_it_is(world: World) -> None:
    """PAM-COMP-003: the confidence is journaled; the run is not touched."""
    run = world.run("running")
    (event,) = written(
        world.store, lambda: moves.move(world.store, world.task.id, "done", confidence="likely", actor="operator")
    )
    assert event.payload["confidence"] == "likely"
    assert runs.get(world.store, run.id) == run


def test_cancelling_cascades_to_all_below_that_are_not_done(store: Store, project: Project) -> None:
    """PAM-WI-003, PAM-EVT-006: each descendant's change is journaled and says whence it came."""
    top = _add(store, project, None)
    todo = _add(store, project, top)
    doing = _add(store, project, todo, "doing")
    done = _add(store, project, doing, "done")
    below_done = _add(store, project, done)
    cancelled = _add(store, project, top, "cancelled")
    beside = _add(store, project, None)
    made = written(store, lambda: moves.move(store, top.id, "cancelled", actor="operator"))
    statuses = {item.id: item.status for item in items.list_all(store, project.id)}
    assert statuses == {
        top.id: "cancelled",
        todo.id: "cancelled",
        doing.id: "cancelled",
        done.id: "done",
        below_done.id: "cancelled",
        cancelled.id: "cancelled",
        beside.id: "todo",
    }
    assert {event.topic for event in made} == {"work_item.status_changed"}
    assert made[0].payload["item_id"] == top.id
    assert {str(event.payload["item_id"]) for event in made} == {top.id, todo.id, doing.id, below_done.id}
    assert {event.payload.get("cascade_from") for event in made[1:]} == {top.id}
    assert {event.payload["from"] for event in made} == {"todo", "doing"}


def test_cancelled_parent_that_comes_back_leaves_the_others_cancelled(store: Store, project: Project) -> None:
    """PAM-WI-003: only cancelling cascades."""
    top = _add(store, project, None)
    below = _add(store, project, top)
    moves.move(store, top.id, "cancelled", actor="operator")
    moves.move(store, top.id, "todo", actor="operator")
    assert items.get(store, below.id).status == "cancelled"


def test_parent_never_completes_by_itself(store: Store, project: Project) -> None:
    """PAM-WI-004."""
    top = _add(store, project, None)
    for _ in range(2):
        _add(store, project, top, "done")
    assert items.get(store, top.id).status == "todo"


@pytest.mark.parametrize(("path", "expected"), [((), "done"), (("doing",), "done"), (("cancelled",), "cancelled")])
def test_auto_mark_done_follows_the_same_table(world: World, path: tuple[ItemStatus, ...], expected: str) -> None:
    """PAM-WI-005, 008: a hook's word sets done only where an operator could, and leaves the run alone."""
    for status in path:
        moves.move(world.store, world.task.id, status, actor="operator")
    run = world.run("running")
    ingest(world.store, signal(run, "completed", result="success"), auto_mark_done=True)
    assert items.get(world.store, world.task.id).status == expected
    assert runs.get(world.store, run.id).status == "running"


@pytest.mark.parametrize("kind", ["started", "failed", "progress", "finished"])
def test_only_the_word_that_work_is_complete_marks_it_done(world: World, kind: str) -> None:
    """PAM-WI-007, 008: a run may end well without its work being done."""
    run = world.run("spawning" if kind == "started" else "running")
    ingest(world.store, signal(run, kind, seq=1, exit_code=0), auto_mark_done=True)
    assert items.get(world.store, world.task.id).status == "todo"


@pytest.mark.parametrize("result", ["partial_success", "user_rejected"])
def test_auto_mark_done_takes_nothing_but_success_for_done(world: World, result: str) -> None:
    run = world.run("running")
    ingest(world.store, signal(run, "completed", result=result), auto_mark_done=True)
    assert items.get(world.store, run.task_id).status == "todo"


def test_without_auto_mark_done_a_hook_moves_nothing(world: World) -> None:
    """PAM-WI-007, 008, PAM-COMP-008: off unless told."""
    run = world.run("running")
    ingest(world.store, signal(run, "completed", result="success"))
    assert items.get(world.store, world.task.id).status == "todo"


def test_unknown_item_is_not_found(store: Store) -> None:
    with pytest.raises(NotFound):
        moves.move(store, "no-such-item", "done", actor="operator")
