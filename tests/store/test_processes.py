"""Several processes on one file: creates, claims, ingest, first start, and how soon a commit is seen elsewhere."""

from __future__ import annotations

import statistics
import subprocess
import time
from collections import Counter
from pathlib import Path

import pytest

from store import hosts, items, journal, migrate, projects, runs
from store.database import Store, open_store
from tests.store.world import TurnedClock, World, dump, query, worker

PROCESSES = 10
DEADLINE_S = 60.0

BEGIN = """
import sys
from pathlib import Path
from store import hosts, items, journal, projects, runs, signals
from store.database import open_store
from store.records import Signal
path, *arguments = sys.argv[1:]
def wait_for_the_others():
    print("ready", flush=True)
    sys.stdin.readline()
"""

CREATE = (
    BEGIN
    + """
store = open_store(Path(path))
wait_for_the_others()
for number in range(100):
    items.create(store, arguments[0], f"Item {number}", actor="operator")
"""
)

CLAIM = (
    BEGIN
    + """
store = open_store(Path(path))
host = hosts.get(store, "local")
wait_for_the_others()
for run_id in arguments:
    won = runs.claim(store, run_id, host, actor="executor")
    print("won" if won is not None else "lost", flush=True)
"""
)

OPEN = (
    BEGIN
    + """
wait_for_the_others()
store = open_store(Path(path))
projects.add(store, "Apollo", actor="operator")
"""
)

INGEST = (
    BEGIN
    + """
store = open_store(Path(path))
wait_for_the_others()
kinds = [("started", None), *[("progress", seq) for seq in range(1, 6)], ("completed", None), ("finished", None)]
for kind, seq in kinds:
    source = "wrapper" if kind in ("started", "finished") else "agent"
    said = Signal(arguments[0], 1, kind, source, seq=seq, payload={"exit_code": 0})
    print(kind, signals.ingest(store, said).applied, flush=True)
"""
)

TAIL = (
    BEGIN
    + """
import threading, time
store = open_store(Path(path))
def report(batch):
    seen = time.monotonic_ns()
    for event in batch:
        print(event.seq, seen, flush=True)
tail = journal.Tail(store, report).start()
wait_for_the_others()
tail.close()
"""
)


def _together(code: str, *arguments: object) -> list[str]:
    """Run ``code`` in ten processes that begin at the same moment; their outputs behind "ready"."""
    started = [worker(code, *arguments) for _ in range(PROCESSES)]
    try:
        for process in started:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n", _complaint(process)
        for process in started:
            assert process.stdin is not None
            process.stdin.write("go\n")
            process.stdin.flush()
        finished = [process.communicate(timeout=DEADLINE_S) for process in started]
    finally:
        for process in started:
            process.kill()
            process.wait()
    assert [errors for _, errors in finished if errors] == []
    assert [process.returncode for process in started] == [0] * PROCESSES
    return [output for output, _ in finished]


def _complaint(process: subprocess.Popen[str]) -> str:
    process.kill()
    return process.communicate()[1]


@pytest.fixture
def shared(file_store: Store, clock: TurnedClock) -> World:
    """A world in a file."""
    project = projects.add(file_store, "Apollo", actor="operator")
    task = items.create(file_store, project.id, "Land", actor="operator")
    hosts.ensure_local(file_store, actor="executor")
    host = hosts.heartbeat(file_store, "local", "instance-1", actor="executor")
    return World(file_store, clock, project, task, host)


def test_ten_processes_create_a_hundred_items_each(file_store: Store) -> None:
    """FR-39, PAM-STORE-004, design §9: 1,000 rows, 1,000 events, no error; in an order without ties."""
    project = projects.add(file_store, "Apollo", actor="operator")
    _together(CREATE, file_store.path, project.id)
    listed = items.list_all(file_store, project.id)
    created = journal.read(file_store, topic="work_item.created")
    assert (len(listed), len(created)) == (1000, 1000)
    assert {event.payload["item_id"] for event in created} == {item.id for item in listed}
    assert len({item.sort_order for item in listed}) == 1000
    assert len({item.path for item in listed}) == 1000


def test_each_pending_run_is_claimed_by_exactly_one(shared: World) -> None:
    """PAM-RUN-017: ten claimers, ten runs; one wins each and one event tells of it."""
    waiting = [shared.run().id for _ in range(10)]
    answers = [output.split() for output in _together(CLAIM, shared.store.path, *waiting)]
    assert [Counter(column)["won"] for column in zip(*answers, strict=True)] == [1] * 10
    assert {run.status for run in runs.list_all(shared.store)} == {"spawning"}
    spawning = journal.read(shared.store, topic="run.spawning")
    assert sorted(str(event.payload["run_id"]) for event in spawning) == sorted(waiting)


def test_same_spool_read_by_ten_processes_counts_once(shared: World) -> None:
    """PAM-SIG-004, 005, 013: dedup and order are kept by the database, whoever reads."""
    run = shared.run("spawning")
    after = journal.head(shared.store)
    outputs = _together(INGEST, shared.store.path, run.id)
    applied = Counter(line for output in outputs for line in output.splitlines() if line.endswith("True"))
    assert {kind: applied[f"{kind} True"] for kind in ("started", "completed", "finished")} == {
        "started": 1,
        "completed": 1,
        "finished": 1,
    }
    topics = Counter(event.topic for event in journal.read(shared.store, after=after))
    assert (topics["run.started"], topics["run.finished"]) == (1, 1)
    assert topics["run.signal_received"] == 1 + applied["progress True"] <= 6
    assert runs.get(shared.store, run.id).status == "exited"


def test_new_home_is_opened_by_ten_processes_at_once(tmp_path: Path) -> None:
    """PAM-STORE-007: one migrates, the others find it done."""
    path = tmp_path / "home" / "pam.db"
    _together(OPEN, path)
    store = open_store(path)
    assert sorted(project.slug for project in projects.list_all(store)) == sorted(
        ["apollo", *(f"apollo-{number}" for number in range(2, PROCESSES + 1))]
    )
    assert query(store, "SELECT count(*) FROM schema_migrations") == [(migrate.known_version(),)]
    assert query(store, "PRAGMA integrity_check") == [("ok",)]
    store.close()


def test_commit_is_seen_by_another_process_within_100_ms(shared: World) -> None:
    """Design §3: 100 ms is promised; a busy machine gets 250 here, so that the test fails for a reason."""
    follower = worker(TAIL, shared.store.path)
    assert follower.stdout is not None
    assert follower.stdout.readline() == "ready\n"
    delays = []
    for number in range(40):
        items.edit(shared.store, shared.task.id, title=f"Title {number}", actor="operator")
        committed = time.monotonic_ns()
        seq, seen = map(int, follower.stdout.readline().split())
        assert seq == journal.head(shared.store)
        delays.append((seen - committed) / 1e6)
    _, errors = follower.communicate("done\n", timeout=DEADLINE_S)
    assert not errors
    p95 = statistics.quantiles(delays, n=20)[-1]
    assert p95 <= 250, f"p50 {statistics.median(delays):.1f} ms, p95 {p95:.1f} ms"


def test_reader_in_another_process_never_sees_half_a_write(shared: World) -> None:
    """PAM-STORE-004, design §3: rows and events of one transaction appear together."""
    writer = worker(CREATE, shared.store.path, shared.project.id)
    assert writer.stdout is not None and writer.stdout.readline() == "ready\n"
    assert writer.stdin is not None
    writer.stdin.write("go\n")
    writer.stdin.flush()
    deadline = time.monotonic() + DEADLINE_S
    while writer.poll() is None and time.monotonic() < deadline:
        tables = dump(shared.store)
        created = sum(row[1] == "work_item.created" for row in tables["events"])
        assert created == len(tables["work_items"])
    assert writer.communicate(timeout=DEADLINE_S)[1] == ""
