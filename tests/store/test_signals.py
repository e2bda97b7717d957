"""The ingest edge: guard, status, journal (PAM-SIG, PAM-EVT-011 to 015, PAM-COMP)."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from store import items, runs
from store.errors import InvalidAttempt, InvalidValue, MissingAttempt, NotFound, ProtocolError
from store.records import Applied, Run, Signal
from store.signals import ingest
from tests.store.world import World, dump, events, signal, written

APPLIED = Applied(True, "applied")


def _requeued(world: World) -> Run:
    """A run in its second attempt, at work; the first was lost."""
    run = world.run("running")
    runs.fail(world.store, run.id, 1, "session_lost", actor="executor")
    runs.requeue(world.store, run.id, actor="executor")
    runs.claim(world.store, run.id, world.host, actor="executor")
    ingest(world.store, signal(runs.get(world.store, run.id), "started"))
    return runs.get(world.store, run.id)


# What moves a run


def test_started_makes_it_running(world: World) -> None:
    """PAM-RUN-002, PAM-EVT-011, 028."""
    run = world.run("spawning")
    started = signal(run, "started", pid=12, pid_started=3, wrapper_pid=11, wrapper_started=2, pane="%1", boot="b")
    (event,) = written(world.store, lambda: ingest(world.store, started))
    running = runs.get(world.store, run.id)
    assert (running.status, running.started_at) == ("running", world.clock.now)
    assert (running.wrapper_pid, running.wrapper_started) == (11, 2)
    assert (event.topic, event.actor, event.payload["pid"]) == ("run.started", "wrapper", 12)
    assert {"run_id", "attempt", "task_id", "provider", "session_name"} <= set(event.payload)


@pytest.mark.parametrize(
    ("said", "status", "exit_code"),
    [
        ({"exit_code": 0}, "exited", 0),
        ({"exit_code": 1}, "failed", 1),
        ({"exit_code": 255}, "failed", 255),
        ({"exit_code": None, "signal": 9}, "failed", -9),
    ],
)
def test_exit_decides_between_exited_and_failed(
    world: World, said: dict[str, Any], status: str, exit_code: int
) -> None:
    """PAM-RUN-007, 008, PAM-EVT-012, 025: run.finished for every code, and no run.failed beside it."""
    run = world.run("running")
    world.clock.advance(9)
    (event,) = written(world.store, lambda: ingest(world.store, signal(run, "finished", **said)))
    ended = runs.get(world.store, run.id)
    assert (ended.status, ended.exit_code, ended.finished_at) == (status, exit_code, world.clock.now)
    assert (ended.failure_reason, ended.activity) == (None, "unknown")
    assert (event.topic, event.payload["exit_code"], event.payload["status"]) == ("run.finished", exit_code, status)
    assert event.payload["source"] == "wrapper"


def test_program_that_could_not_be_started(world: World) -> None:
    """PAM-RUN-003, PAM-DATA-029: spawn_failed, in one run.finished that says why."""
    run = world.run("spawning")
    said = signal(run, "finished", exit_code=127, spawn_error="No such file: 'claud\x1b[1me'")
    (event,) = written(world.store, lambda: ingest(world.store, said))
    ended = runs.get(world.store, run.id)
    assert (ended.status, ended.failure_reason, ended.exit_code, ended.started_at) == (
        "failed",
        "spawn_failed",
        127,
        None,
    )
    assert (event.topic, event.payload["failure_reason"]) == ("run.finished", "spawn_failed")
    assert event.payload["spawn_error"] == "No such file: 'claud[1me'"


def test_end_whose_start_was_torn_implies_it(world: World) -> None:
    """PAM-RUN-002, 013: no edge leads from spawning to exited, so both are journaled, in order."""
    run = world.run("spawning")
    made = written(world.store, lambda: ingest(world.store, signal(run, "finished", exit_code=0)))
    assert [event.topic for event in made] == ["run.started", "run.finished"]
    assert runs.get(world.store, run.id).status == "exited"


# The guard


@pytest.mark.parametrize("kind", ["started", "finished", "completed", "failed"])
def test_one_shot_said_twice_counts_once(world: World, kind: str) -> None:
    """PAM-SIG-004, PAM-TEST-009: one transition, one event; the second leaves rows and journal byte-equal."""
    run = world.run("spawning" if kind == "started" else "running")
    said = signal(run, kind, exit_code=0)
    assert len(written(world.store, lambda: ingest(world.store, said))) == 1
    before = dump(world.store)
    world.clock.advance(1)
    assert ingest(world.store, said) == Applied(False, "duplicate")
    assert ingest(world.store, replace(said, payload={"exit_code": 9})) == Applied(False, "duplicate")
    assert dump(world.store) == before


@pytest.mark.parametrize("kind", ["started", "finished", "completed", "failed", "progress"])
def test_signal_of_an_older_attempt_changes_nothing(world: World, kind: str) -> None:
    """PAM-SIG-007, 011, PAM-TEST-010: no status, no event, rows and journal byte-equal."""
    run = _requeued(world)
    before = dump(world.store)
    world.clock.advance(1)
    said = signal(run, kind, attempt=1, seq=99, exit_code=0, activity="idle")
    assert ingest(world.store, said, auto_mark_done=True) == Applied(False, "stale_attempt")
    assert dump(world.store) == before


@pytest.mark.parametrize("kind", ["started", "finished", "completed", "failed", "progress"])
def test_attempt_that_was_never_given_out_is_an_error(world: World, kind: str) -> None:
    """PAM-SIG-008, PAM-RUN-016."""
    run = world.run("running")
    before = dump(world.store)
    with pytest.raises(InvalidAttempt) as refused:
        ingest(world.store, signal(run, kind, attempt=2, seq=1, exit_code=0))
    assert refused.value.code == "invalid_attempt"
    assert refused.value.details == {"signal_attempt": 2, "current_attempt": 1}
    assert dump(world.store) == before


@pytest.mark.parametrize("kind", ["started", "finished", "completed", "failed", "progress"])
def test_signal_without_an_attempt_is_an_error(world: World, kind: str) -> None:
    """PAM-SIG-009, PAM-SIG-001."""
    run = world.run("running")
    before = dump(world.store)
    with pytest.raises(MissingAttempt) as refused:
        ingest(world.store, signal(run, kind, attempt=None, seq=1, exit_code=0))
    assert refused.value.code == "missing_attempt"
    assert dump(world.store) == before


@pytest.mark.parametrize("kind", ["started", "finished", "completed", "failed", "progress"])
def test_nobody_speaks_for_an_attempt_that_still_waits(world: World, kind: str) -> None:
    """Else an early word would use up the wrapper's own, and the run would spawn forever."""
    run = world.run()
    before = dump(world.store)
    with pytest.raises(ProtocolError, match="waits for a host"):
        ingest(world.store, signal(run, kind, seq=1, exit_code=0))
    assert dump(world.store) == before


def test_unknown_run_is_not_found(world: World) -> None:
    """PAM-SIG-017."""
    before = dump(world.store)
    for run_id in ("no-such-run", "", "\ud800"):
        with pytest.raises((NotFound, InvalidValue)):
            ingest(world.store, Signal(run_id, 1, "started", "wrapper"))
    assert dump(world.store) == before


@pytest.mark.parametrize(
    "fault",
    [
        {"kind": "exploded"},
        {"kind": ""},
        {"kind": ["started"]},
        {"attempt": 0},
        {"attempt": -1},
        {"attempt": "1"},
        {"attempt": True},
        {"attempt": 1.0},
        {"kind": "progress", "seq": None},
        {"kind": "progress", "seq": -1},
        {"kind": "progress", "seq": 2**63},
        {"kind": "progress", "seq": "7"},
        {"kind": "progress", "seq": True},
        {"kind": "finished", "source": "wrapper", "payload": {}},
        {"kind": "finished", "source": "wrapper", "payload": {"exit_code": "0"}},
        {"kind": "finished", "source": "wrapper", "payload": {"exit_code": True}},
        {"kind": "finished", "source": "wrapper", "payload": {"exit_code": 256}},
        {"kind": "finished", "source": "wrapper", "payload": {"exit_code": -1}},
        {"kind": "finished", "source": "wrapper", "payload": {"exit_code": 10**30}},
        {"kind": "finished", "source": "wrapper", "payload": {"exit_code": None, "signal": 0}},
        {"kind": "completed", "payload": [1]},
        {"kind": "completed", "payload": None},
        {"source": "somebody"},
        {"source": ""},
        {"source": "hook:\x1b[2J"},
        {"source": None},
    ],
    ids=str,
)
def test_malformed_signal_is_an_error_and_nothing_is_written(world: World, fault: dict[str, Any]) -> None:
    """PAM-SIG-017: typed, with a code; never a traceback that would stop the reading of a spool."""
    run = world.run("running")
    before = dump(world.store)
    with pytest.raises(ProtocolError) as refused:
        ingest(world.store, replace(signal(run, "completed"), **fault))
    json.dumps(refused.value.as_json())
    assert refused.value.code == "malformed_signal"
    assert dump(world.store) == before


@pytest.mark.parametrize("kind", ["started", "finished"])
@pytest.mark.parametrize("source", ["agent", "hook:claude", "manual"])
def test_only_the_wrapper_says_that_a_run_started_or_finished(world: World, kind: str, source: str) -> None:
    """PAM-SIG-003, rulings X-01, X-02: an agent cannot talk itself into an ending."""
    run = world.run("spawning")
    before = dump(world.store)
    with pytest.raises(ProtocolError, match="Only the wrapper"):
        ingest(world.store, signal(run, kind, source=source, exit_code=0))
    assert dump(world.store) == before


# Words that move nothing


@pytest.mark.parametrize("kind", ["completed", "failed", "progress"])
@pytest.mark.parametrize("source", ["hook:claude", "agent", "manual"])
def test_word_of_a_hook_is_noted_and_moves_no_run(world: World, kind: str, source: str) -> None:
    """PAM-EVT-015, PAM-COMP-001, 007, PAM-SIG-018, rulings X-02, X-03: one event, with its source."""
    run = world.run("running")
    said = signal(run, kind, seq=1, source=source, result="success", error="overloaded")
    (event,) = written(world.store, lambda: ingest(world.store, said))
    assert (event.topic, event.payload["kind"], event.payload["source"]) == ("run.signal_received", kind, source)
    assert event.payload["said"] == {"result": "success", "error": "overloaded"}
    assert runs.get(world.store, run.id).status == "running"
    assert items.get(world.store, world.task.id).status == "todo"


@pytest.mark.parametrize(
    "said",
    [{"result": "success"}, {"result": "partial_success", "reason": "one test left"}, {"result": "user_rejected"}],
)
def test_result_of_a_task_is_kept_as_it_was_said(world: World, said: dict[str, Any]) -> None:
    """PAM-SIG-001, 002."""
    run = world.run("running")
    (event,) = written(world.store, lambda: ingest(world.store, signal(run, "completed", **said)))
    assert event.payload["said"] == said


@pytest.mark.parametrize(
    ("source", "actor"),
    [("hook:claude", "hook:claude"), ("manual", "operator"), ("agent", "agent:{run}"), ("wrapper", "wrapper")],
)
def test_event_names_who_spoke(world: World, source: str, actor: str) -> None:
    """Design §3, PAM-SIG-016: what the operator says is his, with source manual."""
    run = world.run("running")
    ingest(world.store, signal(run, "completed", source=source))
    assert events(world.store)[-1].actor == actor.format(run=run.id[:8])


@pytest.mark.parametrize("reason", ["host_lost", "session_lost", "spawn_failed"])
@pytest.mark.parametrize("exit_code", [0, 1])
def test_late_end_does_not_resurrect_a_lost_run(world: World, reason: Any, exit_code: int) -> None:
    """PAM-SIG-019, PAM-EVT-026: journaled, but the run stays lost, and run.finished never follows run.failed."""
    run = world.run("running")
    runs.fail(world.store, run.id, 1, reason, actor="executor")
    lost = runs.get(world.store, run.id)
    world.clock.advance(60)
    (event,) = written(world.store, lambda: ingest(world.store, signal(run, "finished", exit_code=exit_code)))
    assert (event.topic, event.payload["kind"]) == ("run.signal_received", "finished")
    assert runs.get(world.store, run.id) == lost


def test_late_start_does_not_resurrect_a_lost_run(world: World) -> None:
    """PAM-SIG-019."""
    run = world.run("spawning")
    runs.fail(world.store, run.id, 1, "spawn_failed", actor="executor")
    (event,) = written(world.store, lambda: ingest(world.store, signal(run, "started")))
    assert event.topic == "run.signal_received"
    assert runs.get(world.store, run.id).status == "failed"


def test_end_that_comes_after_the_stop_is_journaled(world: World) -> None:
    """PAM-EVT-012: run.finished on every wrapper exit without exception; the status stays stopped."""
    run = world.run("running")
    runs.request_stop(world.store, run.id, actor="operator")
    runs.stopped(world.store, run.id, 1, actor="executor")
    ended_at = runs.get(world.store, run.id).finished_at
    world.clock.advance(60)
    (event,) = written(world.store, lambda: ingest(world.store, signal(run, "finished", exit_code=143)))
    assert (event.topic, event.payload["exit_code"], event.payload["status"]) == ("run.finished", 143, "stopped")
    ended = runs.get(world.store, run.id)
    assert (ended.status, ended.exit_code, ended.finished_at) == ("stopped", 143, ended_at)
