"""One writer per run (PAM-ATT-001 to 005, 009)."""

from __future__ import annotations

import pytest

from store import leases
from store.errors import LeaseHeld, NotFound
from store.records import Run
from tests.store.world import World, dump, query, written


def test_lease_is_granted_and_journaled(world: World, running: Run) -> None:
    """PAM-ATT-001, 009, 012, PAM-EVT-017."""
    (event,) = written(world.store, lambda: leases.acquire(world.store, running.id, "me@desk", actor="operator"))
    lease = leases.holder_of(world.store, running.id)
    assert lease is not None
    assert (lease.run_id, lease.holder, lease.acquired_at) == (running.id, "me@desk", world.clock.now)
    assert (lease.expires_at - lease.heartbeat_at).total_seconds() == 300, "PAM-ATT-002"
    assert (event.topic, event.payload["holder"], event.payload["attempt"]) == ("run.lease_acquired", "me@desk", 1)


def test_second_writer_is_refused_and_told_who_holds_it(world: World, running: Run) -> None:
    """PAM-ATT-003."""
    leases.acquire(world.store, running.id, "me@desk", actor="operator")
    before = dump(world.store)
    world.clock.advance(299)
    with pytest.raises(LeaseHeld, match="me@desk types into this run since 09:00:00") as refused:
        leases.acquire(world.store, running.id, "me@sofa", actor="operator")
    assert (refused.value.code, refused.value.exit_code) == ("lease_held", 5)
    assert refused.value.details["holder"] == "me@desk"
    assert dump(world.store) == before


def test_heartbeat_renews_without_another_event(world: World, running: Run) -> None:
    """PAM-ATT-002: every 30 s; the moment it was acquired stays."""
    first = leases.acquire(world.store, running.id, "me", actor="operator")
    for _ in range(20):
        world.clock.advance(30)
        assert written(world.store, lambda: leases.acquire(world.store, running.id, "me", actor="operator")) == []
    renewed = leases.holder_of(world.store, running.id)
    assert renewed is not None
    assert (renewed.acquired_at, renewed.heartbeat_at) == (first.acquired_at, world.clock.now)


def test_lease_that_ran_out_is_free_and_journaled_as_released(world: World, running: Run) -> None:
    """PAM-ATT-005, PAM-EVT-018."""
    leases.acquire(world.store, running.id, "me@desk", actor="operator")
    world.clock.advance(300)
    assert leases.holder_of(world.store, running.id) is None
    made = written(world.store, lambda: leases.acquire(world.store, running.id, "me@sofa", actor="operator"))
    assert [(event.topic, event.payload["holder"]) for event in made] == [
        ("run.lease_released", "me@desk"),
        ("run.lease_acquired", "me@sofa"),
    ]
    assert made[0].payload["expired"] is True


def test_detach_releases(world: World, running: Run) -> None:
    """PAM-ATT-005, 009, PAM-EVT-018."""
    held = leases.acquire(world.store, running.id, "me", actor="operator")
    (event,) = written(world.store, lambda: leases.release(world.store, running.id, "me", actor="operator"))
    assert (event.topic, event.payload["holder"], event.payload["forced"]) == ("run.lease_released", "me", False)
    assert leases.holder_of(world.store, running.id) is None
    assert held.holder == "me"
    assert leases.acquire(world.store, running.id, "another", actor="operator").holder == "another"


def test_nobody_releases_the_lease_of_another_by_accident(world: World, running: Run) -> None:
    """PAM-ATT-005: a client that lost its lease and disconnects must not end that of its successor."""
    leases.acquire(world.store, running.id, "me@sofa", actor="operator")
    before = dump(world.store)
    assert leases.release(world.store, running.id, "me@desk", actor="operator") is None
    assert dump(world.store) == before


def test_forced_release_takes_it_from_whoever_holds_it(world: World, running: Run) -> None:
    """PAM-ATT-004, 005."""
    leases.acquire(world.store, running.id, "me@desk", actor="operator")
    taken = leases.release(world.store, running.id, actor="operator")
    assert taken is not None and taken.holder == "me@desk"
    assert query(world.store, "SELECT count(*) FROM attach_leases") == [(0,)]
    assert leases.release(world.store, running.id, actor="operator") is None


def test_leases_of_two_runs_are_independent(world: World, running: Run) -> None:
    """PAM-ATT-001: per run."""
    other = world.run("running")
    leases.acquire(world.store, running.id, "me", actor="operator")
    assert leases.acquire(world.store, other.id, "another", actor="operator").holder == "another"


def test_lease_of_an_unknown_run_is_not_found(world: World) -> None:
    with pytest.raises(NotFound):
        leases.acquire(world.store, "no-such-run", "me", actor="operator")


def test_taking_over_is_one_step(world: World, running: Run) -> None:
    """PAM-ATT-004: at no moment does nobody hold it; both holders are journaled."""
    leases.acquire(world.store, running.id, "me@desk", actor="operator")
    made = written(
        world.store, lambda: leases.acquire(world.store, running.id, "me@sofa", force=True, actor="operator")
    )
    assert [(event.topic, event.payload["holder"]) for event in made] == [
        ("run.lease_released", "me@desk"),
        ("run.lease_acquired", "me@sofa"),
    ]
    assert made[0].payload["forced"] is True
    held = leases.holder_of(world.store, running.id)
    assert held is not None
    assert held.holder == "me@sofa"


def test_a_lease_that_was_taken_away_is_not_renewed(world: World, running: Run) -> None:
    """PAM-ATT-005: a heartbeat never takes it back."""
    leases.acquire(world.store, running.id, "me@desk", actor="operator")
    world.clock.advance(30)
    renewed = leases.renew(world.store, running.id, "me@desk", actor="operator")
    assert renewed is not None
    assert renewed.heartbeat_at == world.clock.now
    leases.release(world.store, running.id, actor="operator")
    assert leases.renew(world.store, running.id, "me@desk", actor="operator") is None
    assert leases.holder_of(world.store, running.id) is None
