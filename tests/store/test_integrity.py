"""Rows that no verb can have written are told and left alone (PAM-DATA-035)."""

from __future__ import annotations

from store import integrity
from tests.store.world import World, dump, execute, written


def test_run_on_an_epic_is_journaled_once_and_never_repaired(world: World) -> None:
    """PAM-DATA-035, PAM-EVT-024."""
    run = world.run("running")
    execute(world.store, "UPDATE work_items SET kind = 'epic'")
    rows = {name: table for name, table in dump(world.store).items() if name in ("runs", "work_items")}
    (event,) = written(world.store, lambda: integrity.sweep(world.store, actor="executor"))
    assert event.topic == "run.integrity_anomaly"
    assert event.payload == {"run_id": run.id, "attempt": 1, "task_id": world.task.id, "kind": "epic"}
    before = dump(world.store)
    assert integrity.sweep(world.store, actor="executor") == []
    assert dump(world.store) == before
    assert {name: before[name] for name in rows} == rows


def test_sound_rows_are_not_mentioned(world: World) -> None:
    world.run("running")
    before = dump(world.store)
    assert integrity.sweep(world.store, actor="executor") == []
    assert dump(world.store) == before
