"""Rows that no verb can have written are told and left alone (PAM-DATA-035)."""

from __future__ import annotations

import pytest

from store import integrity
from store.records import RunStatus
from tests.store.world import World, dump, execute, written


def test_run_on_an_epic_is_journaled_once_and_never_repaired(world: World) -> None:
    """PAM-DATA-035, PAM-EVT-024."""
    run = world.run("running")
    execute(world.store, "UPDATE work_items SET kind = 'epic'")
    rows = {name: table for name, table in dump(world.store).items() if name in ("runs", "work_items")}
    (event,) = written(world.store, lambda: integrity.sweep(world.store, actor="executor"))
    assert event.topic == "run.integrity_anomaly"
    told = {"run_id": run.id, "attempt": 1, "task_id": world.task.id, "kind": "epic", "anomaly": "runs_on_wrong_kind"}
    assert event.payload == {**told, "status": "running", "session_name": run.session_name}
    before = dump(world.store)
    assert integrity.sweep(world.store, actor="executor") == []
    assert dump(world.store) == before
    assert {name: before[name] for name in rows} == rows


def test_sound_rows_are_not_mentioned(world: World) -> None:
    world.run("running")
    before = dump(world.store)
    assert integrity.sweep(world.store, actor="executor") == []
    assert dump(world.store) == before


@pytest.mark.parametrize(
    ("status", "column", "value", "anomaly"),
    [
        ("running", "host_id", None, "at_work_without_host"),
        ("spawning", "host_id", None, "at_work_without_host"),
        ("running", "status", "pending", "waits_on_a_host"),
        ("exited", "session_name", "pam-00000000", "foreign_session_name"),
    ],
)
def test_a_row_no_verb_writes_is_told_once(
    world: World, status: RunStatus, column: str, value: str | None, anomaly: str
) -> None:
    """PAM-DATA-033, PAM-TMUX-002: whoever reconciles would pass such a run over in silence."""
    run = world.run(status)
    execute(world.store, f"UPDATE runs SET {column} = ?", value)
    (event,) = written(world.store, lambda: integrity.sweep(world.store, actor="executor"))
    assert (event.payload["run_id"], event.payload["anomaly"]) == (run.id, anomaly)
    before = dump(world.store)
    assert integrity.sweep(world.store, actor="executor") == []
    assert dump(world.store) == before
