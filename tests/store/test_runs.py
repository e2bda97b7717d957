"""Runs: starting, claiming, looking up (PAM-RUN-001, 006, 011, 014, 017, 019, PAM-DATA-025 to 036)."""

from __future__ import annotations

import re

import pytest

from store import hosts, items, leases, runs
from store.errors import Ambiguous, InvalidValue, NotFound
from store.records import Kind, Run, RunStatus
from store.signals import ingest
from tests.store.world import World, dump, events, signal, written

# Starting


def test_start_makes_a_pending_run_and_returns(world: World) -> None:
    """PAM-RUN-014, PAM-EVT-009, PAM-DATA-027, 028, 030, 032, 033, PAM-TMUX-002."""
    (event,) = written(world.store, lambda: world.run(prompt="Go", model="opus", args=["--fast", "a b"]))
    (run,) = runs.list_all(world.store)
    assert (run.status, run.attempt, run.host_id, run.host) == ("pending", 1, None, None)
    assert run.session_name == f"pam-{run.id[:8]}" and re.fullmatch(r"pam-[0-9a-f]{8}", run.session_name)
    assert run.pending_since == run.created_at == world.clock.now
    assert (run.prompt, run.model, run.args, run.cwd) == ("Go", "opus", ("--fast", "a b"), "/srv/work")
    nothing_yet = (run.last_progress_seq, run.exit_code, run.failure_reason, run.started_at, run.finished_at)
    assert nothing_yet == (None,) * 5
    assert (run.restart_policy, run.max_attempts, run.activity) == ("infrastructure", 3, "unknown")
    assert event.topic == "run.created"
    assert event.payload == {
        "run_id": run.id,
        "attempt": 1,
        "task_id": world.task.id,
        "provider": "demo",
        "session_name": run.session_name,
        "pinned_host_id": None,
    }


def test_start_never_fails_for_want_of_a_host(world: World) -> None:
    """PAM-RUN-014."""
    hosts.disable(world.store, "local", actor="operator")
    assert world.run().status == "pending"
    assert world.run(pinned_host_id=world.host.id).status == "pending"


@pytest.mark.parametrize(("kind", "told"), [("milestone", "this is a milestone"), ("epic", "this is an epic")])
def test_run_works_on_a_task_or_a_subtask(world: World, kind: Kind, told: str) -> None:
    """PAM-DATA-034."""
    item = items.create(world.store, world.project.id, "Big", kind=kind, actor="operator")
    before = dump(world.store)
    with pytest.raises(InvalidValue, match=told):
        runs.start(world.store, item.id, "demo", "/srv", actor="operator")
    assert dump(world.store) == before
    subtask = items.create(world.store, world.project.id, "Small", kind="subtask", actor="operator")
    assert runs.start(world.store, subtask.id, "demo", "/srv", actor="operator").task_id == subtask.id


@pytest.mark.parametrize(
    ("cwd", "options", "error"),
    [
        ("relative", {}, InvalidValue),
        ("", {}, InvalidValue),
        ("/a\0b", {}, InvalidValue),
        ("/caf\udce9", {}, InvalidValue),
        ("/srv", {"args": ["a\0b"]}, InvalidValue),
        ("/srv", {"args": ["caf\udce9"]}, InvalidValue),
        ("/srv", {"max_attempts": 0}, InvalidValue),
        ("/srv", {"provider": " "}, InvalidValue),
        ("/srv", {"pinned_host_id": "no-such-host"}, NotFound),
        ("/srv", {"task_id": "no-such-item"}, NotFound),
    ],
)
def test_bad_start_is_refused_and_nothing_written(
    world: World, cwd: str, options: dict[str, object], error: type[Exception]
) -> None:
    """PAM-DATA-031; a NUL can be part of no command line, so it would fail every attempt."""
    before = dump(world.store)
    words: dict[str, object] = {"task_id": world.task.id, "provider": "demo", "cwd": cwd, **options}
    with pytest.raises(error):
        runs.start(world.store, **words, actor="operator")  # type: ignore[arg-type]
    assert dump(world.store) == before


def test_prompt_keeps_its_lines_and_loses_what_steers_a_terminal(world: World) -> None:
    """A prompt may be pasted into a live terminal, where a control character is a key."""
    assert world.run(prompt="Do\r\n\tthis\x03\x1b[A").prompt == "Do\n\tthis[A"
    assert world.run(prompt="").prompt == ""


def test_first_eight_digits_of_runs_are_never_shared(world: World) -> None:
    """Rulings X-48: the session name is made of them."""
    ids = iter([f"abcd0000-0000-4000-8000-00000000000{n}" for n in range(3)] + ["abcd0001-0000-4000-8000-000000000000"])
    world.store.new_id = lambda: next(ids)
    assert [world.run().session_name for _ in range(2)] == ["pam-abcd0000", "pam-abcd0001"]


# Claiming


def test_claim_gives_the_run_to_the_host(world: World) -> None:
    """PAM-RUN-001, PAM-EVT-010, PAM-DATA-033."""
    run = world.run()
    (event,) = written(world.store, lambda: runs.claim(world.store, run.id, world.host, actor="executor"))
    claimed = runs.get(world.store, run.id)
    assert (claimed.status, claimed.host_id, claimed.host) == ("spawning", world.host.id, "local")
    assert (event.topic, event.payload["host"], event.payload["attempt"]) == ("run.spawning", "local", 1)


@pytest.mark.parametrize("status", ["spawning", "running", "exited", "failed", "stopped"])
def test_only_a_pending_run_is_claimed(world: World, status: RunStatus) -> None:
    """PAM-RUN-017: the second claim loses and writes nothing."""
    run = world.run(status)
    before = dump(world.store)
    assert runs.claim(world.store, run.id, world.host, actor="executor") is None
    assert dump(world.store) == before


def test_host_that_may_get_no_work_claims_nothing(world: World) -> None:
    """PAM-RUN-006, PAM-RUN-019, PAM-HOST-007: judged when the claim is written, not when it was thought of."""
    run, stale = world.run(), world.host
    hosts.disable(world.store, "local", actor="operator")
    before = dump(world.store)
    assert runs.claim(world.store, run.id, stale, actor="executor") is None
    assert dump(world.store) == before
    other = world.other_host(online=False)
    assert runs.claim(world.store, run.id, other, actor="executor") is None, "registered, never seen"
    hosts.enable(world.store, "local", actor="operator")
    hosts.heartbeat(world.store, "local", "an impostor", actor="executor")
    assert runs.claim(world.store, run.id, stale, actor="executor") is None, "suspect"
    other = hosts.heartbeat(world.store, "moon", "instance-2", actor="executor")
    assert runs.claim(world.store, run.id, other, actor="executor") is not None, "PAM-RUN-006: another host may"


def test_pinned_run_waits_for_its_host(world: World) -> None:
    """PAM-RUN-011, rulings X-09, X-10: pinned waits, unpinned moves."""
    moon = world.other_host()
    pinned, free = world.run(pinned_host_id=moon.id), world.run()
    assert runs.claim(world.store, pinned.id, world.host, actor="executor") is None
    assert runs.claim(world.store, free.id, world.host, actor="executor") is not None
    assert runs.claim(world.store, pinned.id, moon, actor="executor") is not None


def test_draining_a_host_leaves_its_runs_alone(world: World) -> None:
    """PAM-HOST-007, PAM-RUN-019, PAM-FLEET-006: they go on and still signal."""
    run = world.run("running")
    hosts.disable(world.store, "local", actor="operator")
    assert runs.get(world.store, run.id) == run
    assert ingest(world.store, signal(run, "finished", exit_code=0)).applied
    assert runs.get(world.store, run.id).status == "exited"


# Looking up


def test_run_is_found_by_id_prefix_and_session_name(world: World) -> None:
    """Design §3: any unique prefix of 4 or more digits, and what ``tmux list-sessions`` shows."""
    run = world.run()
    for wanted in (run.id, run.id[:4], run.id.replace("-", "")[:14], run.session_name, run.session_name[:9]):
        assert runs.find(world.store, wanted) == run
    with pytest.raises(NotFound):
        runs.find(world.store, "pam-hub")
    with pytest.raises(InvalidValue, match="too short"):
        runs.find(world.store, "pam-abc")
    with pytest.raises(NotFound):
        runs.get(world.store, run.id[:8])


def test_prefix_of_two_runs_is_ambiguous(world: World) -> None:
    ids = iter(["abcd1000-0000-4000-8000-000000000000", "abcd2000-0000-4000-8000-000000000000"])
    world.store.new_id = lambda: next(ids)
    world.run()
    world.run()
    with pytest.raises(Ambiguous, match="names 2 runs"):
        runs.find(world.store, "pam-abcd")


def test_runs_are_listed_newest_first_and_filtered(world: World) -> None:
    """PAM-API-008."""
    made: list[Run] = []
    for status in ("pending", "running", "exited"):
        world.clock.advance(1)
        made.append(world.run(status))
    waiting, working, over = (run.id for run in made)

    def listed(**filters: object) -> list[str]:
        return [run.id for run in runs.list_all(world.store, **filters)]  # type: ignore[arg-type]

    assert listed() == [over, working, waiting]
    assert listed(statuses=("pending", "exited")) == [over, waiting]
    assert listed(task_id=world.task.id) == listed(project_id=world.project.id) == [over, working, waiting]
    assert listed(project_id="another") == listed(task_id="another") == []
    assert listed(host_id=world.host.id) == [over, working]
    assert [run.id for run in runs.live(world.store)] == [working, waiting]
    assert runs.counts(world.store) == {"pending": 1, "running": 1, "exited": 1}


def test_live_says_whether_an_agent_lives_or_is_about_to(world: World) -> None:
    lives = {status: world.run(status).live for status in ("pending", "spawning", "running", "exited", "failed")}
    assert lives == {"pending": True, "spawning": True, "running": True, "exited": False, "failed": False}


def test_pane_is_remembered_for_its_own_attempt(world: World) -> None:
    run = world.run("spawning")
    runs.set_pane(world.store, run.id, 1, "%3", actor="executor")
    runs.set_pane(world.store, run.id, 2, "%4", actor="executor")
    assert runs.get(world.store, run.id).pane_id == "%3"


def test_every_run_event_carries_attempt_and_full_ids(world: World) -> None:
    """PAM-EVT-024, 027, 028: whichever verb wrote it."""
    for status in ("pending", "running", "exited", "failed", "stopped"):
        world.run(status)
    run = world.run("running")
    leases.acquire(world.store, run.id, "me", actor="operator")
    leases.release(world.store, run.id, actor="operator")
    ingest(world.store, signal(run, "completed", result="success"))
    ingest(world.store, signal(run, "progress", seq=1, message="on it"))
    runs.request_stop(world.store, run.id, actor="operator")
    runs.stopped(world.store, run.id, 1, actor="executor")
    failed = world.run("failed")
    runs.requeue(world.store, failed.id, actor="operator")
    known = {found.id: found for found in runs.list_all(world.store)}
    about = events(world.store, "run.*")
    for event in about:
        found = known[str(event.payload["run_id"])]
        assert event.payload["attempt"] in range(1, found.attempt + 1)
        assert event.payload["task_id"] == world.task.id
        assert (event.payload["provider"], event.payload["session_name"]) == ("demo", found.session_name)
    assert {event.topic for event in about} == {
        "run.created",
        "run.spawning",
        "run.started",
        "run.finished",
        "run.failed",
        "run.stopped",
        "run.stop_requested",
        "run.requeued",
        "run.signal_received",
        "run.lease_acquired",
        "run.lease_released",
    }
