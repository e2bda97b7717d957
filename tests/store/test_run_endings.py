"""Runs: failing, stopping, the next attempt, waiting in vain (PAM-RUN-003 to 005, 009 to 012)."""

from __future__ import annotations

import pytest

from store import hosts, runs
from store.errors import Conflict, IllegalTransition
from store.records import FAILURE_REASONS, FailureReason, Run, RunStatus
from store.signals import ingest
from tests.store.world import World, dump, events, signal, topics, written


def _fail(world: World, run: Run, reason: FailureReason = "session_lost") -> Run | None:
    return runs.fail(world.store, run.id, run.attempt, reason, actor="executor")


# Failing


@pytest.mark.parametrize("status", ["spawning", "running"])
@pytest.mark.parametrize("reason", ["host_lost", "session_lost", "spawn_failed"])
def test_loss_without_a_wrapper_exit_fails_with_its_reason(
    world: World, status: RunStatus, reason: FailureReason
) -> None:
    """PAM-RUN-003, PAM-EVT-013, rulings X-04, X-08."""
    run = world.run(status)
    (event,) = written(
        world.store,
        lambda: runs.fail(world.store, run.id, 1, reason, detail="gone\x1b[2J" + "x" * 5000, actor="executor"),
    )
    failed = runs.get(world.store, run.id)
    assert (failed.status, failed.failure_reason, failed.finished_at) == ("failed", reason, world.clock.now)
    assert (event.topic, event.payload["failure_reason"]) == ("run.failed", reason)
    assert str(event.payload["detail"]).startswith("gone[2J") and len(str(event.payload["detail"])) <= 1000
    assert failed.exit_code is None


@pytest.mark.parametrize("reason", FAILURE_REASONS)
def test_pending_run_fails_only_when_it_waited_in_vain(world: World, reason: FailureReason) -> None:
    """PAM-RUN-004, rulings X-08: it has no host, so it can lose none."""
    run = world.run()
    before = dump(world.store)
    if reason in ("dispatch_timeout", "no_eligible_host"):
        assert _fail(world, run, reason) is not None
        return
    with pytest.raises(IllegalTransition, match=reason):
        _fail(world, run, reason)
    assert dump(world.store) == before


@pytest.mark.parametrize("status", ["exited", "failed", "stopped"])
def test_attempt_that_is_over_does_not_fail_again(world: World, status: RunStatus) -> None:
    """PAM-RUN-012, PAM-EVT-026."""
    run = world.run(status)
    before = dump(world.store)
    assert _fail(world, run) is None
    assert dump(world.store) == before


def test_older_attempt_does_not_fail_the_present_one(world: World) -> None:
    """PAM-RUN-016."""
    run = world.run("failed")
    runs.requeue(world.store, run.id, actor="executor")
    before = dump(world.store)
    assert runs.fail(world.store, run.id, 1, "session_lost", actor="executor") is None
    assert dump(world.store) == before


# Stopping


def test_pending_run_stops_at_once(world: World) -> None:
    """Rulings X-47, PAM-EVT-014."""
    run = world.run()
    (event,) = written(world.store, lambda: runs.request_stop(world.store, run.id, actor="operator"))
    assert (event.topic, event.actor) == ("run.stopped", "operator")
    stopped = runs.get(world.store, run.id)
    assert (stopped.status, stopped.host_id, stopped.started_at) == ("stopped", None, None)
    assert runs.claim(world.store, run.id, world.host, actor="executor") is None


@pytest.mark.parametrize("status", ["spawning", "running"])
def test_stop_of_a_live_run_is_a_request_until_it_was_carried_out(world: World, status: RunStatus) -> None:
    """PAM-RUN-009, PAM-EVT-014, rulings X-47, X-56: the request stands in the row, so it outlives the executor."""
    run = world.run(status)
    requested_at = world.clock.advance(1)
    runs.request_stop(world.store, run.id, actor="operator")
    world.clock.advance(1)
    again = runs.request_stop(world.store, run.id, actor="operator")
    assert (again.status, again.stop_requested_at) == (status, requested_at)
    assert topics(world.store)[-1:] == ["run.stop_requested"]
    assert len(events(world.store, "run.stop_requested")) == 1
    assert runs.stopped(world.store, run.id, 1, facts={"killed": True}, actor="executor") is not None
    before = dump(world.store)
    assert runs.stopped(world.store, run.id, 1, actor="executor") is None
    assert dump(world.store) == before
    (event,) = events(world.store, "run.stopped")
    assert (event.actor, event.payload["killed"], event.payload["attempt"]) == ("executor", True, 1)
    ended = runs.get(world.store, run.id)
    assert (ended.status, ended.finished_at, ended.failure_reason) == ("stopped", world.clock.now, None)


@pytest.mark.parametrize("exit_code", [0, 143])
def test_exit_after_a_stop_request_is_a_stop(world: World, exit_code: int) -> None:
    """PAM-RUN-009, PAM-EVT-012, 014: whoever reports first, the run is stopped and each says its part once."""
    run = world.run("running")
    runs.request_stop(world.store, run.id, actor="operator")
    assert ingest(world.store, signal(run, "finished", exit_code=exit_code)).applied
    assert runs.get(world.store, run.id).status == "stopped"
    assert runs.stopped(world.store, run.id, 1, actor="executor") is not None
    assert topics(world.store)[-3:] == ["run.stop_requested", "run.finished", "run.stopped"]
    ended = runs.get(world.store, run.id)
    assert (ended.status, ended.exit_code) == ("stopped", exit_code)


@pytest.mark.parametrize(("status", "legal"), [("exited", []), ("failed", ["pending"]), ("stopped", [])])
def test_run_that_ended_cannot_be_stopped(world: World, status: RunStatus, legal: list[str]) -> None:
    """PAM-RUN-012."""
    run = world.run(status)
    before = dump(world.store)
    with pytest.raises(IllegalTransition) as refused:
        runs.request_stop(world.store, run.id, actor="operator")
    assert refused.value.details["legal"] == legal
    assert dump(world.store) == before


def test_stop_that_nobody_asked_for_is_not_carried_out(world: World) -> None:
    """PAM-RUN-009: ``stopped`` is the operator's word; a session that ends otherwise exited, failed or was lost."""
    run = world.run("running")
    before = dump(world.store)
    assert runs.stopped(world.store, run.id, 1, actor="executor") is None
    assert runs.stopped(world.store, run.id, 2, actor="executor") is None
    assert dump(world.store) == before


# Requeue


def test_requeue_opens_a_fresh_attempt(world: World) -> None:
    """PAM-RUN-010, PAM-DATA-028, 030, rulings X-04, X-11, X-12."""
    run = world.run("running", model="opus", prompt="Go")
    ingest(world.store, signal(run, "progress", seq=5, activity="waiting", note="May I?"))
    runs.set_pane(world.store, run.id, 1, "%7", actor="executor")
    ingest(world.store, signal(run, "finished", exit_code=3))
    now = world.clock.advance(30)
    (event,) = written(world.store, lambda: runs.requeue(world.store, run.id, actor="executor"))
    fresh = runs.get(world.store, run.id)
    assert (fresh.status, fresh.attempt, fresh.host_id, fresh.pending_since) == ("pending", 2, None, now)
    reset = (fresh.started_at, fresh.finished_at, fresh.exit_code, fresh.last_progress_seq, fresh.failure_reason)
    assert reset == (None,) * 5
    assert (fresh.pane_id, fresh.wrapper_pid, fresh.wrapper_started, fresh.stop_requested_at) == (None,) * 4
    assert (fresh.activity, fresh.activity_source, fresh.activity_at, fresh.activity_note) == (
        "unknown",
        None,
        None,
        None,
    )
    assert (fresh.model, fresh.prompt, fresh.cwd, fresh.created_at) == ("opus", "Go", "/srv/work", run.created_at)
    assert (event.topic, event.payload["attempt"]) == ("run.requeued", 2)


def test_requeue_keeps_the_reason_of_the_last_failure(world: World) -> None:
    """Rulings X-12."""
    run = world.run("spawning")
    _fail(world, run, "spawn_failed")
    assert runs.requeue(world.store, run.id, actor="executor").last_failure_reason == "spawn_failed"


def test_requeued_run_may_go_elsewhere_unless_pinned(world: World) -> None:
    """PAM-RUN-011."""
    moon = world.other_host()
    free, pinned = world.run("spawning"), world.run("spawning", pinned_host_id=world.host.id)
    for run in (free, pinned):
        _fail(world, run, "host_lost")
        runs.requeue(world.store, run.id, actor="executor")
    assert runs.claim(world.store, free.id, moon, actor="executor") is not None
    assert runs.claim(world.store, pinned.id, moon, actor="executor") is None


@pytest.mark.parametrize("status", ["pending", "spawning", "running", "exited", "stopped"])
def test_only_a_failed_run_is_requeued(world: World, status: RunStatus) -> None:
    """PAM-RUN-010, 012."""
    run = world.run(status)
    before = dump(world.store)
    with pytest.raises(IllegalTransition):
        runs.requeue(world.store, run.id, actor="operator")
    assert dump(world.store) == before


def test_executor_keeps_to_the_number_of_attempts_and_the_operator_need_not(world: World) -> None:
    """PAM-RST-002, 006."""
    run = world.run("failed", max_attempts=1)
    before = dump(world.store)
    with pytest.raises(Conflict, match="All 1 attempts"):
        runs.requeue(world.store, run.id, actor="executor")
    assert dump(world.store) == before
    assert runs.requeue(world.store, run.id, actor="operator").attempt == 2


def test_second_attempt_lives_a_whole_life(world: World) -> None:
    """PAM-SIG-004: what was said once in the first attempt may be said once in the second."""
    run = world.run("spawning")
    _fail(world, run)
    again = runs.requeue(world.store, run.id, actor="executor")
    runs.claim(world.store, run.id, world.host, actor="executor")
    assert ingest(world.store, signal(again, "started")).applied
    assert ingest(world.store, signal(again, "finished", exit_code=0)).applied
    assert runs.get(world.store, run.id).status == "exited"


# Expiry


def test_wait_ends_after_the_timeout_and_not_before(world: World) -> None:
    """PAM-RUN-004, 015: measured from pending_since."""
    run = world.run()
    world.clock.advance(300)
    assert runs.expire_pending(world.store, 300, actor="executor") == []
    world.clock.advance(0.001)
    (expired,) = runs.expire_pending(world.store, 300, actor="executor")
    assert (expired.id, expired.status, expired.failure_reason) == (run.id, "failed", "dispatch_timeout")
    assert topics(world.store)[-1] == "run.failed"
    assert runs.expire_pending(world.store, 300, actor="executor") == []


def test_wait_starts_anew_with_a_requeue(world: World) -> None:
    """PAM-DATA-030."""
    run = world.run("failed")
    world.clock.advance(299)
    runs.requeue(world.store, run.id, actor="executor")
    world.clock.advance(299)
    assert runs.expire_pending(world.store, 300, actor="executor") == []


def test_only_waiting_runs_expire(world: World) -> None:
    """PAM-RUN-004."""
    for status in ("spawning", "running", "exited", "failed", "stopped"):
        world.run(status)
    world.clock.advance(10_000)
    before = dump(world.store)
    assert runs.expire_pending(world.store, 300, actor="executor") == []
    assert dump(world.store) == before


@pytest.mark.parametrize(
    ("case", "reason"),
    [
        ("online all along", "dispatch_timeout"),
        ("came up while it waited", "dispatch_timeout"),
        ("went silent just before, not yet known as offline", "dispatch_timeout"),
        ("offline all along", "no_eligible_host"),
        ("disabled", "no_eligible_host"),
        ("suspect", "no_eligible_host"),
        ("pinned to one that never came", "no_eligible_host"),
        ("pinned to one that was there", "dispatch_timeout"),
    ],
)
def test_reason_of_a_wait_in_vain(world: World, case: str, reason: str) -> None:
    """PAM-RUN-005, PAM-RUN-006: was there ever a host that could have taken it?"""
    store, clock = world.store, world.clock
    moon = world.other_host(online=False)
    clock.advance(60 if "just before" in case else 1000)
    pin = {"pinned_host_id": moon.id if "never came" in case else world.host.id} if "pinned" in case else {}
    run = world.run("pending", **pin)
    clock.advance(10)
    if case in ("online all along", "came up while it waited", "disabled", "suspect") or "pinned" in case:
        hosts.heartbeat(store, "local", "instance-1", actor="executor")
    if case == "disabled":
        hosts.disable(store, "local", actor="operator")
    if case == "suspect":
        hosts.heartbeat(store, "local", "an impostor", actor="executor")
    clock.advance(291)
    (expired,) = runs.expire_pending(store, 300, actor="executor")
    assert (expired.id, expired.failure_reason) == (run.id, reason)
