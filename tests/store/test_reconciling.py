"""What reconciling asks of the store and notes in it: leftovers, orphans, requests and answers."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from store import hosts, journal, leftovers, migrate, orphans, reconciling, runs
from store.database import apply_migrations
from store.errors import NotFound
from store.signals import ingest
from tests.store.world import World, dump, execute, signal, written

SERVER = "77:1700000000"


# -- the agent's process


def test_a_database_from_before_takes_the_agents_columns(tmp_path: Path) -> None:
    """PAM-DATA-039: additive; what is there stays."""
    path = tmp_path / "pam.db"
    apply_migrations(path)
    connection = sqlite3.connect(path)
    connection.execute("ALTER TABLE runs DROP COLUMN agent_pid")
    connection.execute("ALTER TABLE runs DROP COLUMN agent_started")
    connection.execute("DELETE FROM schema_migrations WHERE name = '0002_agent_process'")
    connection.execute("PRAGMA user_version = 1")
    connection.commit()
    connection.close()
    names, version = apply_migrations(path)
    assert "0002_agent_process" in names
    assert version == migrate.known_version()


def test_wrapper_and_agent_are_known_from_the_start_to_the_next_attempt(world: World) -> None:
    """FR-24: found by pid and start time."""
    run = world.run("spawning")
    ingest(world.store, signal(run, "started", pid=12, pid_started=3, wrapper_pid=11, wrapper_started=2))
    begun = runs.get(world.store, run.id)
    assert (begun.agent_pid, begun.agent_started, begun.wrapper_pid, begun.wrapper_started) == (12, 3, 11, 2)
    runs.fail(world.store, run.id, 1, "session_lost", actor="executor")
    fresh = runs.requeue(world.store, run.id, actor="operator")
    assert (fresh.agent_pid, fresh.agent_started) == (None, None)


def test_who_began_after_it_was_given_up_is_known_and_moves_nothing(world: World) -> None:
    """PAM-SIG-019, PAM-LIVE-009: a late start makes the agent findable."""
    run = world.run("spawning")
    runs.fail(world.store, run.id, 1, "spawn_failed", actor="executor")
    ingest(world.store, signal(run, "started", pid=12, pid_started=3, wrapper_pid=11, wrapper_started=2))
    late = runs.get(world.store, run.id)
    assert (late.status, late.agent_pid, late.agent_started) == ("failed", 12, 3)
    assert [one.id for one in leftovers.given_up(world.store, world.host.id)] == [run.id]


# -- leftovers


def test_sessions_are_found_by_name_on_whatever_host(world: World) -> None:
    """PAM-ORPH-001: no run of the store, not no run of this host."""
    here, waiting = world.run("running"), world.run()
    names = {here.session_name, waiting.session_name, "pam-00000000"}
    assert {run.id for run in leftovers.of_sessions(world.store, names)} == {here.id, waiting.id}
    assert leftovers.of_sessions(world.store, []) == []


def test_a_stop_is_unverified_until_its_tree_was_seen_gone(world: World) -> None:
    """Rulings X-56: the wrapper's own word is not the end of a stop."""
    run = world.run("running")
    runs.request_stop(world.store, run.id, actor="operator")
    ingest(world.store, signal(run, "finished", signal=15))
    assert runs.get(world.store, run.id).status == "stopped"
    assert [one.id for one in leftovers.unverified_stops(world.store, world.host.id)] == [run.id]
    runs.stopped(world.store, run.id, 1, actor="executor")
    assert leftovers.unverified_stops(world.store, world.host.id) == []
    assert leftovers.unverified_stops(world.store, world.other_host().id) == []


def test_a_stop_before_any_host_needs_no_verification(world: World) -> None:
    world.run("stopped")
    assert leftovers.unverified_stops(world.store, world.host.id) == []


def test_an_agent_alive_after_its_end_is_told_once_an_attempt(world: World) -> None:
    """PAM-LIVE-009, PAM-EVT-024."""
    run = world.run("running")
    assert not leftovers.flag_alive(world.store, run.id, 1, {}, actor="executor")
    runs.fail(world.store, run.id, 1, "host_lost", actor="executor")
    (event,) = written(
        world.store, lambda: leftovers.flag_alive(world.store, run.id, 1, {"agent_pid": 12}, actor="executor")
    )
    assert (event.topic, event.payload["attempt"], event.payload["agent_pid"]) == ("run.alive_after_end", 1, 12)
    assert leftovers.flagged(world.store, [run.id, "x"]) == {run.id}
    before = dump(world.store)
    assert not leftovers.flag_alive(world.store, run.id, 1, {}, actor="executor")
    assert not leftovers.flag_alive(world.store, run.id, 2, {}, actor="executor")
    assert dump(world.store) == before


# -- orphans


def test_an_orphan_is_detected_once_and_by_its_pane(world: World) -> None:
    """PAM-ORPH-002: the same name in another server, or with other panes, is another session."""
    assert orphans.detect(world.store, "local", "pam-00112233", SERVER, ["%3"], actor="executor")
    before = dump(world.store)
    assert not orphans.detect(world.store, "local", "pam-00112233", SERVER, ["%3", "%4"], actor="executor")
    assert dump(world.store) == before
    assert orphans.detect(world.store, "local", "pam-00112233", "78:1700000009", ["%3"], actor="executor")
    assert orphans.known(world.store, "local")["pam-00112233"].server == "78:1700000009"
    assert orphans.known(world.store, "moon") == {}
    assert {event.topic for event in journal.latest(world.store, limit=2)} == {"run.orphan_detected"}
    assert journal.latest(world.store, limit=1)[0].payload["run_id"] is None


def test_a_session_with_a_run_is_no_orphan(world: World) -> None:
    run = world.run("running")
    before = dump(world.store)
    assert not orphans.detect(world.store, "local", run.session_name, SERVER, ["%3"], actor="executor")
    assert dump(world.store) == before


def test_an_orphan_that_gets_a_run_may_not_be_ended_and_begins_anew(world: World) -> None:
    """PAM-TMUX-009: both parts are asked at the moment of the end."""
    run = world.run("running")
    name = run.session_name
    execute(world.store, "UPDATE runs SET session_name = 'pam-ffffffff'")
    assert orphans.detect(world.store, "local", name, SERVER, ["%3"], actor="executor")
    orphan = orphans.known(world.store, "local")[name]
    assert orphans.may_end(world.store, orphan)
    execute(world.store, "UPDATE runs SET session_name = ?", name)
    assert not orphans.may_end(world.store, orphan)
    assert orphans.forget(world.store, "local", name, actor="executor")
    assert not orphans.forget(world.store, "local", name, actor="executor")
    assert orphans.known(world.store, "local") == {}
    execute(world.store, "UPDATE runs SET session_name = 'pam-ffffffff'")
    assert not orphans.may_end(world.store, orphan)
    world.clock.advance(10)
    assert orphans.detect(world.store, "local", name, SERVER, ["%3"], actor="executor")
    assert orphans.known(world.store, "local")[name].at > orphan.at


def test_the_end_of_an_orphan_changes_no_run(world: World) -> None:
    """PAM-ORPH-003: journal only."""
    world.run("running")
    orphans.detect(world.store, "local", "pam-00112233", SERVER, ["%3"], actor="executor")
    orphan = orphans.known(world.store, "local")["pam-00112233"]
    before = dump(world.store)["runs"]
    orphans.note_removed(world.store, orphan, {"killed": False}, actor="executor")
    assert dump(world.store)["runs"] == before
    assert orphans.known(world.store, "local") == {}
    assert not orphans.may_end(world.store, orphan)


# -- requests and answers


def test_a_request_is_answered_by_who_looked_after_it(world: World) -> None:
    store = world.store
    first = reconciling.request(store, None, actor="operator")
    assert reconciling.asked(store, "local", after=0) == first
    reconciling.answer(store, "local", [], kept=3, request=first, actor="executor")
    (answer,) = journal.latest(store, topic="host.reconciled", limit=1)
    assert reconciling.is_answer(answer, first)
    assert not reconciling.is_answer(answer, first + 1)
    assert reconciling.answered(store, "local") == first
    assert reconciling.asked(store, "local", after=first) == 0


def test_a_request_for_one_host_is_nobody_elses(world: World) -> None:
    world.other_host()
    wanted = reconciling.request(world.store, "moon", actor="operator")
    assert reconciling.asked(world.store, "local", after=0) == 0
    assert reconciling.asked(world.store, "moon", after=0) == wanted
    assert reconciling.answered(world.store, "moon") == 0


def test_a_host_that_is_not_there_cannot_be_asked(world: World) -> None:
    before = dump(world.store)
    with pytest.raises(NotFound):
        reconciling.request(world.store, "mars", actor="operator")
    assert dump(world.store) == before
    assert hosts.get(world.store, "local").name == "local"


def test_a_long_plan_is_cut_and_says_so(world: World) -> None:
    """PAM-STORE-002: the journal holds no large payloads."""
    plan: list[dict[str, object]] = [{"subject": str(number)} for number in range(reconciling.LONGEST_PLAN + 7)]
    reconciling.answer(world.store, "local", plan, kept=0, request=0, actor="executor")
    (answer,) = journal.latest(world.store, limit=1)
    steps = answer.payload["plan"]
    assert isinstance(steps, list)
    assert (len(steps), answer.payload["left_out"]) == (reconciling.LONGEST_PLAN, 7)
