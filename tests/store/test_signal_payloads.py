"""What signals carry: progress, activity, and payloads of any shape (PAM-SIG-005, 010, PAM-STORE-002)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace

import pytest

from store import journal, runs, signals
from store.database import Store
from store.records import Applied, RunStatus
from store.signals import ingest
from tests.store.world import World, dump, events, query, signal, topics

APPLIED = Applied(True, "applied")


# Progress and activity


def test_progress_is_applied_in_order_only(world: World) -> None:
    """PAM-SIG-005, 010, PAM-DATA-028."""
    run = world.run("running")
    outcomes = [ingest(world.store, signal(run, "progress", seq=seq)).reason for seq in (0, 3, 3, 2, 4, 2**63 - 1)]
    assert outcomes == ["applied", "applied", "out_of_order", "out_of_order", "applied", "applied"]
    assert runs.get(world.store, run.id).last_progress_seq == 2**63 - 1
    assert topics(world.store).count("run.signal_received") == 4


def test_progress_out_of_order_writes_nothing(world: World) -> None:
    """PAM-SIG-005, 006."""
    run = world.run("running")
    ingest(world.store, signal(run, "progress", seq=7, activity="working"))
    before = dump(world.store)
    world.clock.advance(1)
    ingest(world.store, signal(run, "progress", seq=7, activity="idle"))
    assert dump(world.store) == before


def test_count_of_progress_begins_anew_with_an_attempt(world: World) -> None:
    """PAM-SIG-010: the attempt comes first, the seq second."""
    run = world.run("running")
    ingest(world.store, signal(run, "progress", seq=900))
    runs.fail(world.store, run.id, 1, "session_lost", actor="executor")
    runs.requeue(world.store, run.id, actor="executor")
    runs.claim(world.store, run.id, world.host, actor="executor")
    again = runs.get(world.store, run.id)
    assert ingest(world.store, signal(again, "progress", attempt=1, seq=901)).reason == "stale_attempt"
    assert ingest(world.store, signal(again, "progress", seq=0)) == APPLIED


@pytest.mark.parametrize("status", ["exited", "failed", "stopped"])
def test_progress_after_the_end_writes_nothing(world: World, status: RunStatus) -> None:
    run = world.run(status)
    before = dump(world.store)
    assert ingest(world.store, signal(run, "progress", seq=1)) == Applied(False, "after_end")
    assert dump(world.store) == before


def test_activity_has_its_source_age_and_note(world: World) -> None:
    """Design §1, §5: what the agent does now, who says so, since when."""
    run = world.run("running")
    at = world.clock.advance(3)
    note = "May I run\n  `rm`?\x1b[5m" + "x" * 500
    ingest(world.store, signal(run, "progress", seq=1, activity="waiting", note=note))
    said = runs.get(world.store, run.id)
    assert (said.activity, said.activity_source, said.activity_at) == ("waiting", "hook", at)
    assert said.activity_note is not None and said.activity_note.startswith("May I run `rm`?[5mxxx")
    assert len(said.activity_note) == 300
    ingest(world.store, signal(run, "progress", seq=2, source="agent", activity="working", message="on it"))
    said = runs.get(world.store, run.id)
    assert (said.activity, said.activity_source, said.activity_note) == ("working", "agent", "on it")


def test_progress_without_an_activity_leaves_it(world: World) -> None:
    run = world.run("running")
    ingest(world.store, signal(run, "progress", seq=1, activity="working"))
    ingest(world.store, signal(run, "progress", seq=2, percent=40, activity="dancing"))
    assert runs.get(world.store, run.id).activity == "working"


@pytest.mark.parametrize("kind", ["completed", "failed"])
def test_agent_whose_turn_is_over_is_idle(world: World, kind: str) -> None:
    """Design §5."""
    run = world.run("running")
    ingest(world.store, signal(run, "progress", seq=1, activity="working", note="n"))
    ingest(world.store, signal(run, kind, error="overloaded"))
    said = runs.get(world.store, run.id)
    assert (said.activity, said.activity_note) == ("idle", "overloaded" if kind == "failed" else None)
    ingest(world.store, signal(run, "finished", exit_code=0))
    ended = runs.get(world.store, run.id)
    assert (ended.activity, ended.activity_source, ended.activity_note) == ("unknown", None, None)


# What payloads may hold


AWKWARD: list[Mapping[str, object]] = [
    {"message": "\ud800half"},
    {"percent": float("nan"), "message": "not a number"},
    {"percent": float("inf")},
    {"percent": 10**400},
    {"wrapper_pid": 10**30, "pid": "12", "wrapper_started": 1.5},
    {"\x1b[2J\udfff": "key"},
    {"deep": {"deeper": {"deepest": ["x"] * 1000}}},
    {"list": [float("nan"), {"a": {"b": {}}}] * 500},
    {"message": "x" * 1_000_000},
    {f"key {n}": "x" * 100_000 for n in range(100)},
]


@pytest.mark.parametrize("payload", AWKWARD, ids=range(len(AWKWARD)))
@pytest.mark.parametrize("kind", ["started", "progress", "completed", "failed"])
def test_awkward_payload_neither_fails_nor_spoils_the_journal(
    world: World, kind: str, payload: Mapping[str, object]
) -> None:
    """PAM-STORE-002, PAM-SIG-012: bounded and clean, and SQLite can still read every event as JSON."""
    run = world.run("spawning" if kind == "started" else "running")
    assert ingest(world.store, replace(signal(run, kind, seq=1), payload=payload)) == APPLIED
    newest = journal.of_run(world.store, run.id)[-1]
    text = json.dumps(newest.payload, ensure_ascii=False, allow_nan=False)
    assert len(text.encode()) < 130_000
    assert "\x1b" not in text
    assert _json_is_valid(world.store)


def _json_is_valid(store: Store) -> bool:
    return query(store, "SELECT min(json_valid(payload)) FROM events") == [(1,)]


def test_nothing_given_is_passed_on_by_reference(world: World) -> None:
    """An event is a fact of its moment."""
    payload: dict[str, object] = {"message": "before"}
    run = world.run("running")
    ingest(world.store, replace(signal(run, "progress", seq=1), payload=payload))
    payload["message"] = "after"
    assert events(world.store)[-1].payload["said"] == {"message": "before"}


def test_manual_and_spool_are_one_contract(world: World) -> None:
    """PAM-SIG-014: every transport ends in this one function, which alone knows how to apply a kind."""
    assert set(signals._APPLY) == {*signals.ONE_SHOT, "progress"}
    assert set(signals.ONE_SHOT) == {"started", "finished", "completed", "failed"}, "rulings X-05"


def test_a_key_that_an_agent_repeats_is_in_no_row_and_no_event(world: World) -> None:
    """PAM-SEC-002."""
    key = "sk-ant-api03-0123456789abcdef"
    run = world.run("running")
    ingest(world.store, signal(run, "progress", seq=1, activity="waiting", note=f"Bash: export K={key}"))
    ingest(world.store, signal(run, "failed", error=f"401 for {key}", details={"headers": [f"x-api-key {key}"]}))
    assert key not in repr(dump(world.store))
    assert runs.get(world.store, run.id).activity_note == "401 for [hidden]"
