"""What follows a failure, when, and how often; hosts that are lost (PAM-RST, PAM-FLEET, rulings X-12 to X-15)."""

from __future__ import annotations

import contextlib
import threading
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from store import host_loss, hosts, items, projects, restarts, runs
from store.database import Store, open_store
from store.errors import Conflict, IllegalTransition
from store.records import RESTART_POLICIES, FailureReason, RestartPolicy, Run
from store.restart_rules import RESTARTED_AFTER, Backoff, outcome
from store.signals import ingest
from tests.store.world import TurnedClock, World, dump, events, signal, topics, written

TERMINAL = {"run.finished", "run.failed"}


def _lose(world: World, run: Run, reason: FailureReason = "session_lost", *, hold: bool = False) -> Run:
    failed = runs.fail(world.store, run.id, run.attempt, reason, hold=hold, actor="executor")
    assert failed is not None
    return failed


def _again(world: World, run: Run) -> Run:
    """The next attempt of a run whose pause is over, brought to life."""
    (requeued,) = restarts.requeue_due(world.store, actor="executor")
    assert requeued.id == run.id
    assert runs.claim(world.store, run.id, world.host, actor="executor") is not None
    assert ingest(world.store, signal(requeued, "started")).applied
    return runs.get(world.store, run.id)


# What follows


@pytest.mark.parametrize(
    ("policy", "covered"),
    [
        ("never", set()),
        ("infrastructure", {"spawn_failed", "session_lost", "host_lost"}),
        ("on-failure", {"spawn_failed", "session_lost", "host_lost", "exit"}),
        ("always", {"spawn_failed", "session_lost", "host_lost", "exit", "dispatch_timeout", "no_eligible_host"}),
    ],
)
def test_policy_says_what_is_restarted(policy: RestartPolicy, covered: set[str]) -> None:
    """PAM-RST-001, rulings X-12, X-15; restart_exhausted is a cause of nothing."""
    causes = (
        "spawn_failed",
        "session_lost",
        "host_lost",
        "dispatch_timeout",
        "no_eligible_host",
        "restart_exhausted",
        "exit",
    )
    for cause in causes:
        expected = "restart" if cause in covered else "final"
        assert outcome(policy, cause, attempt=1, max_attempts=3) == expected  # type: ignore[arg-type]
    assert set(RESTARTED_AFTER) == set(RESTART_POLICIES)


@pytest.mark.parametrize("policy", RESTART_POLICIES)
@pytest.mark.parametrize("exit_code", [0, 3])
def test_bad_exit_is_restarted_where_it_was_opted_into_and_a_good_one_never(
    world: World, policy: RestartPolicy, exit_code: int
) -> None:
    """Rulings X-15, PAM-RUN-012: ``always`` makes no second run of one that is done."""
    run = world.run("running", restart_policy=policy)
    (event,) = written(world.store, lambda: ingest(world.store, signal(run, "finished", exit_code=exit_code)))
    ended = runs.get(world.store, run.id)
    restarted = exit_code != 0 and policy in ("on-failure", "always")
    assert (ended.retry_at is not None) == restarted
    assert ended.status == ("failed" if exit_code else "exited")
    assert (event.topic, "retry_at" in event.payload) == ("run.finished", restarted)


def test_program_that_the_wrapper_cannot_start_is_restarted_by_default(world: World) -> None:
    """PAM-RUN-003, PAM-EVT-025."""
    run = world.run("spawning")
    said = signal(run, "finished", exit_code=126, spawn_error="text file busy")
    (event,) = written(world.store, lambda: ingest(world.store, said))
    ended = runs.get(world.store, run.id)
    assert (ended.failure_reason, ended.retry_at) == ("spawn_failed", world.clock.now + timedelta(seconds=10))
    assert (event.topic, event.payload["failure_reason"]) == ("run.finished", "spawn_failed")


@pytest.mark.parametrize("policy", ["infrastructure", "always"])
def test_wait_in_vain_is_left_to_the_operator_unless_always(world: World, policy: RestartPolicy) -> None:
    """PAM-RST-001, PAM-RUN-005: requeue-eligible, though not by itself."""
    run = world.run(restart_policy=policy)
    world.clock.advance(301)
    (expired,) = runs.expire_pending(world.store, 300, actor="executor")
    assert (expired.retry_at is not None) == (policy == "always")
    assert runs.requeue(world.store, run.id, actor="operator").status == "pending"


def test_failure_that_no_restart_helps_is_held_with_its_reason(world: World) -> None:
    """FR-17: one held state, not an endless row of tries."""
    held = _lose(world, world.run("spawning"), "spawn_failed", hold=True)
    assert (held.status, held.failure_reason, held.retry_at) == ("failed", "spawn_failed", None)
    assert events(world.store, "run.failed")[-1].payload["held"] is True
    world.clock.advance(1_000_000)
    before = dump(world.store)
    assert restarts.requeue_due(world.store, actor="executor") == []
    assert dump(world.store) == before
    assert runs.requeue(world.store, held.id, actor="operator").attempt == 2


def test_run_of_one_attempt_keeps_the_name_of_its_failure(world: World) -> None:
    """PAM-RST-006: there was no restart to exhaust."""
    failed = _lose(world, world.run("running", max_attempts=1))
    assert (failed.failure_reason, failed.retry_at) == ("session_lost", None)
    assert events(world.store, "run.restart_exhausted") == []


# When


@pytest.mark.parametrize(
    ("backoff", "pauses"),
    [
        (Backoff(), [10, 20, 40, 60, 60]),
        (Backoff(5, 3, 30), [5, 15, 30, 30, 30]),
        (Backoff(7, 1, 60), [7, 7, 7, 7, 7]),
        (Backoff(90, 2, 60), [60, 60, 60, 60, 60]),
        (Backoff(0, 2, 60), [0, 0, 0, 0, 0]),
    ],
)
def test_pauses_grow_up_to_their_bound(backoff: Backoff, pauses: list[float]) -> None:
    """PAM-RST-003, PAM-CFG-023, rulings X-14."""
    assert [backoff.pause_s(attempt) for attempt in range(1, 6)] == pauses
    assert backoff.pause_s(1_000_000) == pauses[-1]


def test_restart_comes_when_its_pause_is_over_and_not_before(world: World) -> None:
    """PAM-RST-003, PAM-RUN-010."""
    run = world.run("running")
    failed = _lose(world, run)
    assert failed.retry_at == world.clock.now + timedelta(seconds=10)
    assert restarts.next_due_s(world.store) == 10
    world.clock.advance(9.999)
    assert restarts.requeue_due(world.store, actor="executor") == []
    now = world.clock.advance(0.001)
    assert restarts.next_due_s(world.store) == 0
    (requeued,) = restarts.requeue_due(world.store, actor="executor")
    assert (requeued.status, requeued.attempt, requeued.pending_since) == ("pending", 2, now)
    assert (requeued.retry_at, requeued.host_id, requeued.last_failure_reason) == (None, None, "session_lost")
    assert restarts.next_due_s(world.store) is None


def test_second_pause_is_longer(world: World) -> None:
    run = world.run("running")
    _lose(world, run)
    world.clock.advance(10)
    again = _lose(world, _again(world, run))
    assert again.retry_at == world.clock.now + timedelta(seconds=20)


def test_pauses_are_the_stores_setting(world: World) -> None:
    world.store.backoff = Backoff(3, 2, 60)
    assert _lose(world, world.run("running")).retry_at == world.clock.now + timedelta(seconds=3)


def test_planned_restart_survives_the_process(database: Path, clock: TurnedClock) -> None:
    """The moment stands in the row from the transaction that saw the failure."""
    store = open_store(database, clock=clock)
    world = _small_world(store, clock)
    run = _lose(world, world.run("running"))
    store.close()
    clock.advance(10)
    reopened = open_store(database, clock=clock)
    (requeued,) = restarts.requeue_due(reopened, actor="executor")
    assert requeued.id == run.id
    reopened.close()


def test_clock_that_was_set_back_holds_no_restart_up(world: World) -> None:
    """Issue 3, 6: a pause is never longer than its bound, whatever the clock does."""
    failed = _lose(world, world.run("running"))
    world.clock.advance(-30 * 86_400)
    assert restarts.next_due_s(world.store) == 60
    (requeued,) = restarts.requeue_due(world.store, actor="executor")
    assert requeued.id == failed.id


# How often


def test_attempts_run_out_once_and_the_real_reason_stays(world: World) -> None:
    """PAM-RST-002, 006, PAM-EVT-026, rulings X-12: 10 s and 20 s, then the end."""
    run = world.run("running")
    for attempt, pause in ((1, 10), (2, 20)):
        assert run.attempt == attempt
        _lose(world, run)
        world.clock.advance(pause)
        run = _again(world, run)
    made = written(world.store, lambda: _lose(world, run))
    ended = runs.get(world.store, run.id)
    assert (ended.attempt, ended.status, ended.retry_at) == (3, "failed", None)
    assert (ended.failure_reason, ended.last_failure_reason) == ("restart_exhausted", "session_lost")
    assert [event.topic for event in made] == ["run.failed", "run.restart_exhausted"]
    assert [event.payload["attempt"] for event in made] == [3, 3]
    assert made[0].payload["failure_reason"] == "session_lost"
    assert (made[1].payload["attempts"], made[1].payload["last_failure_reason"]) == (3, "session_lost")
    for attempt in (1, 2, 3):
        about = [event.topic for event in events(world.store, "run.*") if event.payload["attempt"] == attempt]
        assert len(TERMINAL & set(about)) == 1
    world.clock.advance(1_000_000)
    assert restarts.requeue_due(world.store, actor="executor") == []


def test_exits_run_out_with_their_code(world: World) -> None:
    """PAM-EVT-025: run.finished tells it, and run.failed does not come beside it."""
    run = world.run("running", restart_policy="on-failure", max_attempts=2)
    ingest(world.store, signal(run, "finished", exit_code=3))
    world.clock.advance(10)
    run = _again(world, run)
    made = written(world.store, lambda: ingest(world.store, signal(run, "finished", exit_code=4)))
    ended = runs.get(world.store, run.id)
    assert (ended.failure_reason, ended.last_failure_reason, ended.exit_code) == ("restart_exhausted", None, 4)
    assert [event.topic for event in made] == ["run.finished", "run.restart_exhausted"]


def test_operator_restarts_beyond_the_attempts_and_the_reason_is_not_lost(world: World) -> None:
    """PAM-RUN-010, rulings X-12: one attempt more, with a fresh window."""
    run = world.run("running", max_attempts=2)
    _lose(world, run)
    world.clock.advance(10)
    _lose(world, _again(world, run), "session_lost")
    now = world.clock.advance(5)
    again = runs.requeue(world.store, run.id, actor="operator")
    assert (again.status, again.attempt, again.pending_since) == ("pending", 3, now)
    assert (again.failure_reason, again.last_failure_reason) == (None, "session_lost")
    runs.claim(world.store, run.id, world.host, actor="executor")
    failed = _lose(world, again, "spawn_failed")
    assert (failed.failure_reason, failed.retry_at) == ("restart_exhausted", None)


def test_operator_need_not_wait_for_the_pause(world: World) -> None:
    failed = _lose(world, world.run("running"))
    again = runs.requeue(world.store, failed.id, actor="operator")
    assert (again.status, again.attempt, again.retry_at) == ("pending", 2, None)
    world.clock.advance(60)
    assert restarts.requeue_due(world.store, actor="executor") == []


def test_restart_goes_to_the_pinned_host_alone(world: World) -> None:
    """PAM-RUN-011, rulings X-10."""
    moon = world.other_host()
    run = _lose(world, world.run("spawning", pinned_host_id=world.host.id), "host_lost")
    world.clock.advance(10)
    (again,) = restarts.requeue_due(world.store, actor="executor")
    assert again.pinned_host_id == world.host.id
    assert runs.claim(world.store, run.id, moon, actor="executor") is None
    assert runs.claim(world.store, run.id, world.host, actor="executor") is not None


def test_many_that_are_due_go_in_the_order_of_their_times(world: World) -> None:
    lost = [world.run("running") for _ in range(4)]
    for run in reversed(lost):
        _lose(world, run)
        world.clock.advance(1)
    world.clock.advance(10)
    assert [run.id for run in restarts.requeue_due(world.store, actor="executor")] == [run.id for run in reversed(lost)]


def test_executors_that_ask_at_once_requeue_once(database: Path, clock: TurnedClock) -> None:
    """FR-29: ten threads with connections of their own, the operator among them, and one next attempt."""
    store = open_store(database, clock=clock)
    world = _small_world(store, clock)
    failed = [_lose(world, world.run("running")) for _ in range(5)]
    clock.advance(10)
    gate = threading.Barrier(10)
    taken: list[str] = []

    def ask(number: int) -> None:
        gate.wait(10)
        if number:
            taken.extend(run.id for run in restarts.requeue_due(store, actor="executor"))
        else:
            with contextlib.suppress(IllegalTransition):
                taken.append(runs.requeue(store, failed[0].id, actor="operator").id)
        store.leave_thread()

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert sorted(taken) == sorted(run.id for run in failed)
    assert [runs.get(store, run.id).attempt for run in failed] == [2] * 5
    assert topics(store).count("run.requeued") == 5
    store.close()


deeds = st.sampled_from(["claim", "start", "lose", "hold", "exit 0", "exit 1", "stop", "due", "operator", "expire"])


@settings(max_examples=80)
@given(st.lists(deeds, max_size=25), st.sampled_from(RESTART_POLICIES), st.integers(1, 4))
def test_whatever_happens_restarts_keep_their_bounds(steps: list[str], policy: RestartPolicy, most: int) -> None:
    """PAM-RST-002, 006, PAM-EVT-026, FR-28: each attempt ends once, and the executor never goes beyond the attempts."""
    clock = TurnedClock()
    store = open_store(None, clock=clock)
    world = _small_world(store, clock)
    run = world.run(restart_policy=policy, max_attempts=most)
    for step in steps:
        run = runs.get(store, run.id)
        with contextlib.suppress(Conflict):
            _act(world, run, step)
        now = runs.get(store, run.id)
        assert (now.retry_at is None) or (now.status == "failed" and now.attempt < most)
        assert now.failure_reason != "restart_exhausted" or (now.retry_at is None and now.attempt >= most > 1)
        assert now.last_failure_reason != "restart_exhausted"
        assert now.attempt == run.attempt or (now.attempt == run.attempt + 1 and run.status == "failed")
    told = [(event.topic, event.payload["attempt"]) for event in events(store, "run.*")]
    for attempt in range(1, runs.get(store, run.id).attempt + 1):
        assert sum(told.count((topic, attempt)) for topic in TERMINAL) <= 1
        assert told.count(("run.requeued", attempt)) <= 1
        assert told.count(("run.restart_exhausted", attempt)) <= 1
    store.close()


def _act(world: World, run: Run, step: str) -> None:
    store = world.store
    match step:
        case "claim":
            runs.claim(store, run.id, world.host, actor="executor")
        case "start":
            ingest(store, signal(run, "started"))
        case "lose" | "hold":
            runs.fail(store, run.id, run.attempt, "session_lost", hold=step == "hold", actor="executor")
        case "exit 0" | "exit 1":
            ingest(store, signal(run, "finished", exit_code=int(step[-1])))
        case "stop":
            runs.request_stop(store, run.id, actor="operator")
        case "due":
            world.clock.advance(60)
            (again,) = restarts.requeue_due(store, actor="executor") or [run]
            assert again.attempt == run.attempt or (run.retry_at is not None and run.stop_requested_at is None)
        case "operator":
            runs.requeue(store, run.id, actor="operator")
        case "expire":
            world.clock.advance(301)
            runs.expire_pending(store, 300, actor="executor")


# What the operator does not want


def test_run_whose_stop_was_asked_for_is_never_restarted(world: World) -> None:
    """FR-28: the wish persists, even where the session was lost before it was carried out."""
    for act in ("lost", "exit"):
        run = world.run("running", restart_policy="always")
        runs.request_stop(world.store, run.id, actor="operator")
        if act == "lost":
            _lose(world, run)
        else:
            ingest(world.store, signal(run, "finished", exit_code=143))
        assert runs.get(world.store, run.id).retry_at is None
    world.clock.advance(1000)
    assert restarts.requeue_due(world.store, actor="executor") == []


def test_stop_of_a_run_that_waits_for_its_restart_calls_the_restart_off(world: World) -> None:
    """FR-28."""
    run = _lose(world, world.run("running"))
    (event,) = written(world.store, lambda: runs.request_stop(world.store, run.id, actor="operator"))
    stopped = runs.get(world.store, run.id)
    assert (stopped.status, stopped.failure_reason, stopped.retry_at) == ("failed", "session_lost", None)
    assert (event.topic, event.actor) == ("run.restart_called_off", "operator")
    world.clock.advance(1000)
    assert restarts.requeue_due(world.store, actor="executor") == []
    with pytest.raises(IllegalTransition):
        runs.request_stop(world.store, run.id, actor="operator")


def test_requeued_run_that_is_stopped_before_it_has_a_host_stays_stopped(world: World) -> None:
    """FR-28, rulings X-47."""
    run = _lose(world, world.run("running"))
    world.clock.advance(10)
    restarts.requeue_due(world.store, actor="executor")
    assert runs.request_stop(world.store, run.id, actor="operator").status == "stopped"
    world.clock.advance(1000)
    assert restarts.requeue_due(world.store, actor="executor") == []
    assert runs.claim(world.store, run.id, world.host, actor="executor") is None


# Hosts that are lost


@pytest.mark.parametrize("status", ["spawning", "running"])
def test_host_that_is_gone_for_a_day_loses_its_runs(world: World, status: str) -> None:
    """PAM-FLEET-004, PAM-CFG-013, PAM-FLEET-005."""
    run = world.run(status)  # type: ignore[arg-type]
    world.clock.advance(86_400)
    assert host_loss.fail_lost(world.store, actor="executor") == []
    now = world.clock.advance(1)
    (lost,) = host_loss.fail_lost(world.store, actor="executor")
    assert (lost.id, lost.status, lost.failure_reason) == (run.id, "failed", "host_lost")
    assert lost.retry_at == now + timedelta(seconds=10)
    (event,) = events(world.store, "run.failed")
    assert "local was last seen at 2026-11-30T09:00:00" in str(event.payload["detail"])
    before = dump(world.store)
    assert host_loss.fail_lost(world.store, actor="executor") == []
    assert dump(world.store) == before


def test_offline_host_keeps_its_runs(world: World) -> None:
    """PAM-FLEET-001, 002: its silence is ambiguous."""
    for status in ("spawning", "running"):
        world.run(status)
    world.clock.advance(10_000)
    hosts.sweep_offline(world.store, actor="executor")
    before = dump(world.store)
    assert host_loss.fail_lost(world.store, actor="executor") == []
    assert dump(world.store) == before


def test_only_the_lost_host_loses_and_only_what_lives(world: World) -> None:
    """PAM-FLEET-004, rulings X-08: a pending run has no host to lose."""
    moon = world.other_host()
    ended = [world.run("exited"), world.run("failed"), world.run("stopped")]
    here, waits = world.run("running"), world.run("pending", pinned_host_id=world.host.id)
    there = world.run()
    runs.claim(world.store, there.id, moon, actor="executor")
    world.clock.advance(86_500)
    hosts.heartbeat(world.store, "moon", "instance of moon", actor="executor")
    assert [run.id for run in host_loss.fail_lost(world.store, actor="executor")] == [here.id]
    for run in (*ended, waits):
        assert runs.get(world.store, run.id) == run
    assert runs.get(world.store, there.id).status == "spawning"


def test_disabled_host_is_lost_by_the_same_bound(world: World) -> None:
    """PAM-HOST-005, PAM-FLEET-006: its beats still count, and so do those it misses."""
    run = world.run("running")
    hosts.disable(world.store, "local", actor="operator")
    world.clock.advance(86_000)
    hosts.heartbeat(world.store, "local", "instance-1", actor="executor")
    world.clock.advance(86_000)
    assert host_loss.fail_lost(world.store, actor="executor") == []
    world.clock.advance(1000)
    assert [lost.id for lost in host_loss.fail_lost(world.store, actor="executor")] == [run.id]


@pytest.mark.parametrize("exit_code", [0, 1])
def test_late_finish_does_not_resurrect_a_lost_run(world: World, exit_code: int) -> None:
    """PAM-SIG-019, PAM-EVT-026: journaled, and no more than that."""
    run = world.run("running", restart_policy="never")
    world.clock.advance(90_000)
    host_loss.fail_lost(world.store, actor="executor")
    lost = runs.get(world.store, run.id)
    (event,) = written(world.store, lambda: ingest(world.store, signal(run, "finished", exit_code=exit_code)))
    assert event.topic == "run.signal_received"
    assert runs.get(world.store, run.id) == lost


def test_what_an_old_incarnation_says_after_the_restart_is_nothing(world: World) -> None:
    """PAM-SIG-007, PAM-FLEET-005."""
    run = world.run("running")
    world.clock.advance(90_000)
    host_loss.fail_lost(world.store, actor="executor")
    world.clock.advance(10)
    restarts.requeue_due(world.store, actor="executor")
    before = dump(world.store)
    assert ingest(world.store, signal(run, "finished", exit_code=0)).reason == "stale_attempt"
    assert dump(world.store) == before


def test_stop_that_a_lost_host_never_carried_out_ends_with_the_host(world: World) -> None:
    """FR-28: lost, and not restarted elsewhere."""
    run = world.run("running")
    runs.request_stop(world.store, run.id, actor="operator")
    world.clock.advance(90_000)
    (lost,) = host_loss.fail_lost(world.store, actor="executor")
    assert (lost.id, lost.failure_reason, lost.retry_at) == (run.id, "host_lost", None)


def _small_world(store: Store, clock: TurnedClock) -> World:
    project = projects.add(store, "Apollo", actor="operator")
    task = items.create(store, project.id, "Land on the moon", actor="operator")
    hosts.ensure_local(store, actor="executor")
    return World(store, clock, project, task, hosts.heartbeat(store, "local", "instance-1", actor="executor"))
