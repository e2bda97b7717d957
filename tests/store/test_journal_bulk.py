"""A journal of very many events: no transaction and no answer grows with it."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable

import pytest

from store import items, journal, projects
from store.database import Store
from store.records import Event
from tests.store.world import TurnedClock


def fill(store: Store, count: int) -> str:
    """A project with so many items, an event each; its id."""
    project = projects.add(store, "Apollo", actor="operator")
    for number in range(count):
        items.create(store, project.id, f"T{number}", actor="operator")
    return project.id


def test_others_write_while_the_journal_is_purged(
    file_store: Store, clock: TurnedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PAM-STORE-003: a million events take longer than anybody waits for the lock."""
    fill(file_store, 34)
    clock.advance(31 * 86400)
    left: list[int] = []

    def write_meanwhile(pause_s: float) -> None:
        assert pause_s > 0, "whoever waits for the lock asks only now and then"
        with sqlite3.connect(str(file_store.path), timeout=0, isolation_level=None) as other:
            other.execute("BEGIN IMMEDIATE")
            left.append(other.execute("SELECT count(*) FROM events").fetchone()[0])
            other.execute("ROLLBACK")
        other.close()

    monkeypatch.setattr(journal, "SLICE", 10)
    monkeypatch.setattr("store.journal.time.sleep", write_meanwhile)
    assert journal.purge(file_store, 30, actor="executor") == 35
    assert left == [25, 15, 5]
    assert journal.read(file_store) == []


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int | None]]:
    """Where each read of the journal began, and how many events it wanted at most."""
    begun: list[tuple[int, int | None]] = []
    real: Callable[..., list[Event]] = journal.read

    def noted(store: Store, *, after: int = 0, topic: str = "*", limit: int | None = None) -> list[Event]:
        begun.append((after, limit))
        return real(store, after=after, topic=topic, limit=limit)

    monkeypatch.setattr(journal, "read", noted)
    monkeypatch.setattr(journal, "BATCH", 10)
    return begun


def test_following_a_long_journal_takes_it_in_parts(file_store: Store, reads: list[tuple[int, int | None]]) -> None:
    """`events tail --after 0` of a million events must not hold them all at once."""
    fill(file_store, 34)
    stop = threading.Event()
    got = []
    for event in journal.follow(file_store, after=0, stop=stop):
        got.append(event.seq)
        if len(got) == 35:
            stop.set()
    assert got == list(range(1, 36))
    assert {limit for _, limit in reads} == {10}


def test_following_a_rare_topic_looks_at_each_event_once(
    file_store: Store, reads: list[tuple[int, int | None]]
) -> None:
    """Or the cost of every commit would grow with all that came before it."""
    project_id = fill(file_store, 34)
    stop = threading.Event()
    following = journal.follow(file_store, after=0, topic="project.*", stop=stop)
    assert next(following).topic == "project.created"

    def rename() -> None:
        projects.edit(file_store, project_id, name="Artemis", actor="operator")
        file_store.leave_thread()

    other = threading.Thread(target=rename)
    other.start()
    other.join()
    assert next(following).topic == "project.updated"
    stop.set()
    assert list(following) == []
    begun = [after for after, _ in reads]
    assert begun[:2] == [0, 1]
    assert min(begun[2:]) >= 35, begun
