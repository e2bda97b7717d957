"""The journal: reading, following in this process, purging (PAM-EVT, PAM-STORE-003, PAM-API-004)."""

from __future__ import annotations

import ast
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from store import items, journal, moves, projects
from store.database import Store
from store.errors import StoreUnavailable
from store.records import Event, Run
from store.signals import ingest
from tests.store.world import ROOT, World, dump, query, signal
from tests.support.waiting import until

DEADLINE_S = 10.0

VOCABULARY = {
    # PAM-EVT-001 to 023, as far as the store itself writes them
    "project.created",
    "project.updated",
    "project.archived",
    "work_item.created",
    "work_item.updated",
    "work_item.status_changed",
    "work_item.reparented",
    "work_item.deleted",
    "run.created",
    "run.spawning",
    "run.started",
    "run.finished",
    "run.failed",
    "run.stopped",
    "run.signal_received",
    "run.output_appended",
    "run.lease_acquired",
    "run.lease_released",
    "worker.registered",
    "worker.offline",
    "worker.instance_suspect",
    "worker.instance_reinstalled",
    # rulings and design §3
    "run.requeued",
    "run.stop_requested",
    "run.prompt_queued",
    "run.prompt_delivered",
    "run.prompt_confirmed",
    "run.prompt_unconfirmed",
    "run.prompt_refused",
    "run.keys_queued",
    "run.keys_sent",
    "run.keys_unconfirmed",
    "run.keys_refused",
    "run.integrity_anomaly",
    "run.alive_after_end",
    "run.orphan_detected",
    "run.orphan_forgotten",
    "run.orphan_removed",
    "run.session_removed",
    "host.reconcile_requested",
    "host.reconciled",
    "run.restart_exhausted",
    "run.restart_called_off",
    "run.silent",
    "run.silence_ended",
    "run.usage_updated",
    "host.added",
    "host.disabled",
    "host.enabled",
    "host.suspect_cleared",
}


@pytest.fixture
def tails() -> Iterator[list[journal.Tail]]:
    """Tails to close when the test is over."""
    opened: list[journal.Tail] = []
    yield opened
    for tail in opened:
        tail.close()


def _create(store: Store, project_id: str, count: int) -> None:
    for number in range(count):
        items.create(store, project_id, f"Item {number}", actor="operator")


def _seqs(got: list[Event]) -> list[int]:
    return [event.seq for event in got]


def test_topics_are_the_vocabulary_of_the_requirements() -> None:
    """PAM-EVT-001 to 023: a topic nobody knows is a typing error."""
    written = set()
    for path in sorted((ROOT / "store").glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                family, dot, _ = node.value.partition(".")
                if dot and family in ("project", "work_item", "run", "worker", "host") and " " not in node.value:
                    written.add(node.value)
    assert written == VOCABULARY


def test_read_goes_on_behind_a_position(world: World) -> None:
    """PAM-API-004: the cursor is events.seq, exclusive."""
    _create(world.store, world.project.id, 5)
    whole = journal.read(world.store)
    assert _seqs(whole) == list(range(1, len(whole) + 1))
    assert journal.read(world.store, after=whole[2].seq) == whole[3:]
    assert journal.read(world.store, after=whole[2].seq, limit=2) == whole[3:5]
    assert journal.read(world.store, after=whole[-1].seq) == []
    assert journal.head(world.store) == whole[-1].seq


def test_empty_journal(store: Store) -> None:
    assert (journal.head(store), journal.read(store), journal.latest(store)) == (0, [], [])


def test_event_is_a_line_with_topic_actor_payload_and_time(world: World) -> None:
    """PAM-EVT-029, PAM-LOG-004: what a feed and an audit need."""
    moves.move(world.store, world.task.id, "doing", actor="agent:12345678")
    (newest,) = journal.latest(world.store, limit=1)
    assert (newest.topic, newest.actor, newest.at) == ("work_item.status_changed", "agent:12345678", world.clock.now)
    assert newest.payload["item_id"] == world.task.id


@pytest.mark.parametrize(
    ("glob", "expected"),
    [
        (
            "*",
            {"project.created", "work_item.created", "worker.registered", "run.created", "run.spawning", "run.started"},
        ),
        ("run.*", {"run.created", "run.spawning", "run.started"}),
        ("run.s*", {"run.spawning", "run.started"}),
        ("*.created", {"project.created", "work_item.created", "run.created"}),
        ("run.started", {"run.started"}),
        ("run.sta?ted", {"run.started"}),
        ("run", set()),
        ("RUN.*", set()),
        ("run%", set()),
        ("run_started", set()),
    ],
)
def test_topics_are_filtered_by_glob(world: World, running: Run, glob: str, expected: set[str]) -> None:
    """PAM-EVT-030, PAM-LOG-004."""
    assert {event.topic for event in journal.read(world.store, topic=glob)} == expected
    assert {event.topic for event in journal.latest(world.store, topic=glob)} == expected


def test_latest_are_the_newest_oldest_first(world: World) -> None:
    _create(world.store, world.project.id, 5)
    whole = journal.read(world.store)
    assert journal.latest(world.store, limit=3) == whole[-3:]
    assert journal.latest(world.store, topic="project.*", limit=3) == whole[:1]


def test_events_of_a_run_and_of_an_item(world: World, running: Run) -> None:
    """PAM-EVT-027: found by full ids."""
    other = world.run("pending")
    assert [event.topic for event in journal.of_run(world.store, running.id)] == [
        "run.created",
        "run.spawning",
        "run.started",
    ]
    about = journal.of_item(world.store, world.task.id)
    assert [event.topic for event in about] == [
        "work_item.created",
        "run.created",
        "run.spawning",
        "run.started",
        "run.created",
    ]
    assert journal.of_item(world.store, world.task.id, limit=2) == about[-2:]
    assert journal.of_run(world.store, running.id, limit=1) == about[3:4]
    assert _seqs(journal.of_run(world.store, other.id)) == [about[-1].seq]


# Purge


def test_purge_deletes_what_is_older_and_says_nothing(world: World, running: Run) -> None:
    """PAM-STORE-003, PAM-LOG-002: state stays, no event tells of it, no seq is used again."""
    before = journal.head(world.store)
    world.clock.advance(30 * 86400)
    moves.move(world.store, world.task.id, "doing", actor="operator")
    assert journal.purge(world.store, 30, actor="executor") == 0, "exactly 30 days old is kept"
    world.clock.advance(1)
    tables = dump(world.store)
    assert journal.purge(world.store, 30, actor="executor") == before
    assert _seqs(journal.read(world.store)) == [before + 1]
    after = dump(world.store)
    assert {name: after[name] for name in after if name != "events"} == {n: tables[n] for n in tables if n != "events"}
    world.clock.advance(31 * 86400)
    journal.purge(world.store, 30, actor="executor")
    assert journal.read(world.store) == []
    moves.move(world.store, world.task.id, "todo", actor="operator")
    assert journal.head(world.store) == before + 2


def test_late_word_is_still_known_after_a_purge(world: World, running: Run) -> None:
    """PAM-STORE-001, PAM-SIG-004: what was applied is state, not memory of the journal."""
    world.clock.advance(31 * 86400)
    journal.purge(world.store, 30, actor="executor")
    assert ingest(world.store, signal(running, "started")).reason == "duplicate"


# Following


def test_tail_hands_over_what_comes_in_order_and_once(world: World, tails: list[journal.Tail]) -> None:
    """Design §3: consumers read the journal, from where they begin."""
    got: list[Event] = []
    begin = journal.head(world.store)
    tails.append(journal.Tail(world.store, got.extend).start())
    _create(world.store, world.project.id, 30)
    until(lambda: len(got) >= 30, DEADLINE_S, lambda: len(got))
    assert _seqs(got) == list(range(begin + 1, begin + 31))
    assert got == journal.read(world.store, after=begin)


def test_tail_begins_where_it_is_told(world: World, tails: list[journal.Tail]) -> None:
    """PAM-API-004: a consumer that comes back resumes behind what it saw; nothing is missed, nothing is repeated."""
    first: list[Event] = []
    tail = journal.Tail(world.store, first.extend, after=0).start()
    until(lambda: len(first) >= 3, DEADLINE_S)
    tail.close()
    _create(world.store, world.project.id, 20)
    again: list[Event] = []
    tails.append(journal.Tail(world.store, again.extend, after=first[-1].seq).start())
    until(lambda: len(again) >= 20, DEADLINE_S)
    assert [*first, *again] == journal.read(world.store)


def test_closed_tail_hands_over_no_more(world: World) -> None:
    got: list[Event] = []
    tail = journal.Tail(world.store, got.extend).start()
    tail.close()
    _create(world.store, world.project.id, 3)
    assert got == []
    assert world.store.on_commit == []
    assert "pam-journal" not in {thread.name for thread in threading.enumerate()}
    tail.close()


def test_tail_may_be_closed_by_what_it_delivers(world: World) -> None:
    """A screen that goes away when it learns that its project is gone."""
    got: list[Event] = []
    closed = threading.Event()

    def deliver(batch: list[Event]) -> None:
        got.extend(batch)
        tail.close()
        closed.set()

    tail = journal.Tail(world.store, deliver)
    tail.start()
    _create(world.store, world.project.id, 1)
    assert closed.wait(DEADLINE_S)
    _create(world.store, world.project.id, 1)
    until(lambda: "pam-journal" not in {thread.name for thread in threading.enumerate()}, DEADLINE_S)
    assert len(got) == 1


def test_batches_are_bounded(world: World, tails: list[journal.Tail], monkeypatch: pytest.MonkeyPatch) -> None:
    """A consumer that was away long gets its backlog in pieces."""
    monkeypatch.setattr(journal, "BATCH", 4)
    _create(world.store, world.project.id, 10)
    sizes: list[int] = []
    tails.append(journal.Tail(world.store, lambda batch: sizes.append(len(batch)), after=0).start())
    total = journal.head(world.store)
    until(lambda: sum(sizes) >= total, DEADLINE_S)
    assert sum(sizes) == total and max(sizes) == 4


def test_tail_outlives_a_database_that_cannot_be_read_for_a_while(
    world: World, tails: list[journal.Tail], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is skipped, and no further commit is needed for it to come."""
    real, failures = journal.read, iter(range(3))

    def unsteady(*args: Any, **kwargs: Any) -> list[Event]:
        if next(failures, None) is not None:
            raise StoreUnavailable("The database is locked.")
        return real(*args, **kwargs)

    got: list[Event] = []
    begin = journal.head(world.store)
    _create(world.store, world.project.id, 5)
    monkeypatch.setattr(journal, "read", unsteady)
    tails.append(journal.Tail(world.store, got.extend, after=begin).start())
    until(lambda: len(got) >= 5, DEADLINE_S)
    assert _seqs(got) == list(range(begin + 1, begin + 6))


def test_two_tails_each_get_everything(world: World, tails: list[journal.Tail]) -> None:
    """Screens and executor follow the same journal."""
    one: list[Event] = []
    other: list[Event] = []
    tails += [journal.Tail(world.store, got.extend).start() for got in (one, other)]
    _create(world.store, world.project.id, 10)
    until(lambda: len(one) >= 10 and len(other) >= 10, DEADLINE_S)
    assert one == other == journal.read(world.store, after=one[0].seq - 1)


def test_rolled_back_write_is_never_delivered(world: World, tails: list[journal.Tail]) -> None:
    """PAM-SIG-006: fan-out comes after the commit."""
    got: list[Event] = []
    tails.append(journal.Tail(world.store, got.extend).start())
    with pytest.raises(RuntimeError), world.store.write("operator") as tx:
        tx.journal("work_item.updated", item_id="never")
        raise RuntimeError
    _create(world.store, world.project.id, 1)
    until(lambda: got, DEADLINE_S)
    assert [event.topic for event in got] == ["work_item.created"]


def test_follow_yields_matching_events_until_told_to_stop(file_store: Store) -> None:
    """For ``events tail``, PAM-EVT-030: what other connections commit, filtered."""
    project = projects.add(file_store, "Apollo", actor="operator")
    stop, got = threading.Event(), list[Event]()

    def read_along() -> None:
        for event in journal.follow(file_store, after=0, topic="work_item.*", stop=stop):
            got.append(event)
        file_store.leave_thread()

    reader = threading.Thread(target=read_along)
    reader.start()
    _create(file_store, project.id, 5)
    until(lambda: len(got) >= 5, DEADLINE_S)
    projects.edit(file_store, project.id, name="Artemis", actor="operator")
    _create(file_store, project.id, 1)
    until(lambda: len(got) >= 6, DEADLINE_S)
    stop.set()
    reader.join(DEADLINE_S)
    assert not reader.is_alive()
    assert got == journal.read(file_store, topic="work_item.*")


def test_journal_is_append_only_for_the_verbs() -> None:
    """PAM-DATA-038: only the purge deletes from it, and nothing updates it."""
    changes = [
        f"{path.name}: {line.strip()}"
        for path in sorted((ROOT / "store").glob("*.py"))
        for line in path.read_text().splitlines()
        if "EventRow.update" in line or "EventRow.delete" in line
    ]
    assert [change.partition(":")[0] for change in changes] == ["journal.py"]


def test_payload_is_json_in_the_file(world: World) -> None:
    """PAM-DATA-038: readable with nothing but SQLite."""
    items.edit(world.store, world.task.id, title="Größe", actor="operator")
    found = query(world.store, "SELECT json_extract(payload, '$.item_id') FROM events ORDER BY seq DESC LIMIT 1")
    assert found == [(world.task.id,)]
