"""The host registry: provisioning, heartbeats, drain, suspects (PAM-HOST, PAM-EVT-020 to 023)."""

from __future__ import annotations

import pytest

from store import hosts
from store.database import Store
from store.errors import Conflict, InvalidValue, NotFound
from store.records import Host
from tests.store.world import TurnedClock, World, dump, events, topics, written


def _beat(store: Store, instance: str = "instance-1", name: str = "local") -> Host:
    return hosts.heartbeat(store, name, instance, actor="executor")


def _moon(store: Store) -> Host:
    return hosts.add(store, "moon", "linux", ssh_target="neil@moon", work_root="/srv", actor="operator")


def test_local_host_is_made_once(store: Store) -> None:
    """Design §3: it exists from the first start."""
    first = hosts.ensure_local(store, actor="executor")
    before = dump(store)
    assert hosts.ensure_local(store, actor="executor") == first
    assert dump(store) == before
    assert (first.name, first.transport, first.platform) == ("local", "local", hosts.this_platform())


def test_new_host_is_registered_and_never_seen(store: Store) -> None:
    """PAM-HOST-001, 003, PAM-DATA-004, 007, 008, 009: without a token there is no fingerprint of one."""
    (event,) = written(store, lambda: _moon(store))
    moon = hosts.get(store, "moon")
    assert (moon.status, moon.last_seen_at, moon.instance_id) == ("registered", None, None)
    assert (moon.instance_suspect, moon.instance_flagged_at, moon.token_fingerprint) == (False, None, None)
    assert (moon.platform, moon.ssh_target, moon.work_root) == ("linux", "neil@moon", "/srv")
    assert (event.topic, event.payload["host"]) == ("host.added", "moon")
    assert hosts.get(store, moon.id) == moon


def test_host_is_provisioned_with_a_name_of_its_own_and_a_target(store: Store) -> None:
    """PAM-DATA-004."""
    _moon(store)
    before = dump(store)
    with pytest.raises(Conflict, match="already"):
        _moon(store)
    with pytest.raises(InvalidValue, match="needs its target"):
        hosts.add(store, "mars", "linux", actor="operator")
    with pytest.raises(InvalidValue, match="host name"):
        hosts.add(store, " ", "linux", ssh_target="x", actor="operator")
    assert dump(store) == before


def test_host_cannot_register_itself(store: Store, host: Host) -> None:
    """PAM-HOST-001."""
    before = dump(store)
    with pytest.raises(NotFound, match="Hosts: local"):
        _beat(store, name="stranger")
    assert dump(store) == before


def test_first_heartbeat_brings_it_online_and_pins_the_instance(store: Store, clock: TurnedClock) -> None:
    """PAM-HOST-003, 008, 018, PAM-EVT-020."""
    _moon(store)
    (event,) = written(store, lambda: _beat(store, "instance-9", "moon"))
    moon = hosts.get(store, "moon")
    assert (moon.status, moon.instance_id, moon.last_seen_at) == ("online", "instance-9", clock.now)
    assert (event.topic, event.payload) == ("worker.registered", {"host": "moon", "instance_id": "instance-9"})


def test_regular_heartbeats_journal_nothing(store: Store, clock: TurnedClock, host: Host) -> None:
    """PAM-HOST-004, 018: 30 s apart, and up to 90 s."""
    for seconds in (30, 30, 90):
        clock.advance(seconds)
        assert written(store, lambda: _beat(store)) == []
    assert hosts.get(store, "local").last_seen_at == clock.now


def test_silence_of_more_than_three_beats_is_offline(store: Store, clock: TurnedClock, host: Host) -> None:
    """PAM-HOST-004, PAM-EVT-021."""
    clock.advance(90)
    assert hosts.sweep_offline(store, actor="executor") == []
    clock.advance(0.001)
    (event,) = written(store, lambda: hosts.sweep_offline(store, actor="executor"))
    assert (event.topic, event.payload) == ("worker.offline", {"host": "local"})
    assert hosts.get(store, "local").status == "offline"
    assert hosts.sweep_offline(store, actor="executor") == [], "told once"


def test_host_that_comes_back_is_registered_again(store: Store, clock: TurnedClock, host: Host) -> None:
    """PAM-HOST-018, PAM-EVT-020: after an offline gap, whether or not anybody swept meanwhile."""
    clock.advance(100)
    assert [event.topic for event in written(store, lambda: _beat(store))] == ["worker.registered"]
    clock.advance(100)
    hosts.sweep_offline(store, actor="executor")
    assert [event.topic for event in written(store, lambda: _beat(store))] == ["worker.registered"]
    assert hosts.get(store, "local").status == "online"


def test_silent_host_keeps_its_runs(world: World) -> None:
    """PAM-FLEET-001."""
    run = world.run("running")
    world.clock.advance(100)
    before = dump(world.store)["runs"]
    hosts.sweep_offline(world.store, actor="executor")
    assert dump(world.store)["runs"] == before
    assert run.live


def test_disabled_is_sticky(store: Store, clock: TurnedClock, host: Host) -> None:
    """PAM-HOST-005: heartbeats update last_seen_at, never the status, and nothing sweeps it away."""
    (event,) = written(store, lambda: [hosts.disable(store, "local", actor="operator") for _ in range(2)])
    assert (event.topic, event.payload["status"]) == ("host.disabled", "disabled")
    clock.advance(30)
    assert written(store, lambda: _beat(store)) == []
    assert (hosts.get(store, "local").status, hosts.get(store, "local").last_seen_at) == ("disabled", clock.now)
    clock.advance(500)
    assert hosts.sweep_offline(store, actor="executor") == []
    assert hosts.get(store, "local").status == "disabled"


@pytest.mark.parametrize(("silence", "status"), [(90, "online"), (91, "offline")])
def test_enable_resolves_to_what_was_seen(
    store: Store, clock: TurnedClock, host: Host, silence: float, status: str
) -> None:
    """PAM-HOST-006."""
    hosts.disable(store, "local", actor="operator")
    clock.advance(silence)
    (event,) = written(store, lambda: hosts.enable(store, "local", actor="operator"))
    assert hosts.get(store, "local").status == status
    assert (event.topic, event.payload["status"]) == ("host.enabled", status)


def test_host_never_returns_to_registered(store: Store) -> None:
    """PAM-HOST-003, 006: enabled before it was ever seen, it is offline."""
    _moon(store)
    hosts.disable(store, "moon", actor="operator")
    assert hosts.enable(store, "moon", actor="operator").status == "offline"


def test_enable_of_a_host_that_is_not_disabled_changes_nothing(store: Store, host: Host) -> None:
    before = dump(store)
    assert hosts.enable(store, "local", actor="operator").status == "online"
    assert dump(store) == before


def test_instance_is_pinned_and_not_overwritten(store: Store, host: Host) -> None:
    """PAM-HOST-008."""
    _beat(store, "instance-1")
    _beat(store, "instance-2")
    assert hosts.get(store, "local").instance_id == "instance-1"


def test_second_instance_within_the_window_is_a_suspect_once(store: Store, clock: TurnedClock, host: Host) -> None:
    """PAM-HOST-009, PAM-DATA-009, PAM-EVT-022: flagged, not overwritten, told once while it lasts."""
    flagged_at = clock.advance(90)
    (event,) = written(store, lambda: _beat(store, "instance-2"))
    assert event.topic == "worker.instance_suspect"
    assert event.payload == {"host": "local", "pinned": "instance-1", "presented": "instance-2"}
    clock.advance(30)
    assert written(store, lambda: [_beat(store, name) for name in ("instance-1", "instance-3", "instance-2")]) == []
    suspect = hosts.get(store, "local")
    assert (suspect.instance_suspect, suspect.instance_flagged_at) == (True, flagged_at)
    assert suspect.instance_id == "instance-1"
    assert not hosts.eligible(suspect)


def test_second_instance_after_silence_is_a_reinstall(store: Store, clock: TurnedClock, host: Host) -> None:
    """PAM-HOST-009, PAM-EVT-023."""
    clock.advance(90.001)
    made = written(store, lambda: _beat(store, "instance-2"))
    assert [event.topic for event in made] == ["worker.instance_reinstalled", "worker.registered"]
    assert made[0].payload == {"host": "local", "was": "instance-1", "instance_id": "instance-2"}
    fresh = hosts.get(store, "local")
    assert (fresh.instance_id, fresh.instance_suspect, fresh.instance_flagged_at) == ("instance-2", False, None)


def test_clearing_a_suspect_pins_what_was_presented_last(store: Store, host: Host) -> None:
    """PAM-HOST-010, PAM-CLI-015."""
    for instance in ("instance-2", "instance-3"):
        _beat(store, instance)
    (event,) = written(store, lambda: hosts.clear_suspect(store, "local", actor="operator"))
    cleared = hosts.get(store, "local")
    assert (cleared.instance_id, cleared.instance_suspect, cleared.instance_flagged_at) == ("instance-3", False, None)
    assert (event.topic, event.payload["instance_id"]) == ("host.suspect_cleared", "instance-3")
    assert written(store, lambda: _beat(store, "instance-3")) == []
    assert hosts.eligible(hosts.get(store, "local"))


def test_nothing_to_clear_is_a_conflict(store: Store, host: Host) -> None:
    """PAM-CLI-015."""
    before = dump(store)
    with pytest.raises(Conflict, match="not suspect"):
        hosts.clear_suspect(store, "local", actor="operator")
    assert dump(store) == before


def test_suspect_host_may_be_disabled_and_stays_suspect(store: Store, host: Host) -> None:
    """PAM-SEC-005: two flags, independent of each other."""
    _beat(store, "instance-2")
    hosts.disable(store, "local", actor="operator")
    enabled = hosts.enable(store, "local", actor="operator")
    assert (enabled.status, enabled.instance_suspect) == ("online", True)


def test_only_online_enabled_trusted_hosts_are_eligible(store: Store, clock: TurnedClock, host: Host) -> None:
    """PAM-HOST-015, PAM-RUN-019."""
    assert hosts.eligible(hosts.get(store, "local"))
    assert not hosts.eligible(_moon(store))
    clock.advance(100)
    hosts.sweep_offline(store, actor="executor")
    assert not hosts.eligible(hosts.get(store, "local"))
    _beat(store)
    assert not hosts.eligible(hosts.disable(store, "local", actor="operator"))


def test_active_runs_are_counted_per_host(world: World) -> None:
    """PAM-HOST-014, PAM-FLEET-007: what a drain waits for."""
    _moon(world.store)
    for status in ("pending", "spawning", "running", "running", "exited", "stopped"):
        world.run(status)
    assert [(host.name, host.active_runs) for host in hosts.list_all(world.store)] == [("local", 3), ("moon", 0)]
    assert hosts.get(world.store, "local").active_runs == 3


def test_window_can_be_set(store: Store, clock: TurnedClock, host: Host) -> None:
    """PAM-CFG-020."""
    clock.advance(11)
    assert [h.name for h in hosts.sweep_offline(store, offline_after_s=10, actor="executor")] == ["local"]
    assert topics(store)[-1] == "worker.offline"
    assert events(store)[-1].actor == "executor"
