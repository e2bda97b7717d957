"""Reading the journal: by position, by topic, live from any process, and its purge.

There is one source for every consumer: the ``events`` table, read from the last ``seq`` seen. A commit in this process
wakes the readers at once, whichever process made it; ``PRAGMA data_version`` tells of one whose bell was not heard.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import cast

from peewee import Expression, fn

from store.bells import Bell
from store.database import Store
from store.errors import StoreUnavailable
from store.models import EventRow, about
from store.records import Event

POLL_S = 0.05
"""How often the file is asked whether somebody else committed where no bell can be hung; 100 ms are promised."""

ANYWAY_S = 1.0
"""How often it is asked although no bell rang."""

RETENTION_DAYS = 30
"""How long events are kept unless the operator says otherwise."""

BATCH = 1000
"""Events handed over at once, at most."""

SLICE = 5000
"""Events deleted in one transaction; it holds the write lock for less than 0.1 s."""

BREATH_S = 0.01
"""Between two slices. Whoever waits for the lock asks again every 0.1 s or sooner; without a pause it would starve."""


def read(store: Store, *, after: int = 0, topic: str = "*", limit: int | None = None) -> list[Event]:
    """Events with ``seq`` greater than ``after`` whose topic matches the glob, oldest first (PAM-EVT-030)."""
    with store.read():
        query = EventRow.select().where(EventRow.seq > after).order_by(EventRow.seq)
        if topic != "*":
            query = query.where(_matches(topic))
        return [record(row) for row in (query.limit(limit) if limit is not None else query)]


def latest(store: Store, *, topic: str = "*", limit: int = 50) -> list[Event]:
    """The newest events whose topic matches, oldest first."""
    with store.read():
        query = EventRow.select().order_by(EventRow.seq.desc()).limit(limit)
        if topic != "*":
            query = query.where(_matches(topic))
        return [record(row) for row in query][::-1]


COUNTED = ("run.usage_updated",)
"""Topics that repeat a state while it changes; a history is no place for them."""


def of_run(store: Store, run_id: str, *, limit: int = 200) -> list[Event]:
    """The newest events about one run, oldest first, without those that only count on."""
    return _about(store, "run_id", run_id, limit)


def of_item(store: Store, item_id: str, *, limit: int = 200) -> list[Event]:
    """The newest events about one item and its runs, oldest first, likewise."""
    return sorted(
        _about(store, "item_id", item_id, limit) + _about(store, "task_id", item_id, limit), key=lambda event: event.seq
    )[-limit:]


def head(store: Store) -> int:
    """``seq`` of the newest event; 0 in an empty journal."""
    with store.read():
        return int(EventRow.select(fn.MAX(EventRow.seq)).scalar() or 0)


def purge(store: Store, days: int, *, actor: str) -> int:
    """Delete events older than ``days``; journals nothing (PAM-STORE-003). Returns how many went.

    A million of them takes a quarter of a minute, so the lock is given up after each slice: others write in between.
    """
    oldest_kept, gone = store.clock() - timedelta(days=days), 0
    old = EventRow.select(EventRow.seq).where(EventRow.created_at < oldest_kept).limit(SLICE)
    while True:
        with store.write(actor):
            deleted = int(EventRow.delete().where(EventRow.seq.in_(old)).execute())
        gone += deleted
        if deleted < SLICE:
            return gone
        time.sleep(BREATH_S)


class Tail:
    """Follows the journal on a thread of its own and hands batches to ``deliver``, in order, none twice.

    ``deliver`` runs on that thread. A database that cannot be read for a while is tried again; nothing is skipped.
    """

    def __init__(self, store: Store, deliver: Callable[[list[Event]], None], *, after: int | None = None) -> None:
        self._store = store
        self._deliver = deliver
        self._after = head(store) if after is None else after
        self._bell = store.bell()
        self._closing = False
        self._thread = threading.Thread(target=self._follow, name="pam-journal", daemon=True)

    def start(self) -> Tail:
        """Begin to follow."""
        if self._bell.path is None:
            self._store.on_commit.append(self._bell.ring)
        self._thread.start()
        return self

    def close(self) -> None:
        """Stop following; what was committed before may not have been delivered."""
        if self._bell.ring in self._store.on_commit:
            self._store.on_commit.remove(self._bell.ring)
        self._closing = True
        self._bell.ring()
        if self._thread.ident is None:
            self._bell.close()
        elif self._thread is not threading.current_thread():
            self._thread.join(timeout=5)

    def _follow(self) -> None:
        seen, rang = -1, False
        while not self._closing:
            try:
                version = self._store.data_version()
                if version != seen or rang:
                    seen = version
                    self._hand_over()
                rang = self._bell.wait(_patience(self._bell))
            except StoreUnavailable:
                seen = -1
                self._bell.wait(POLL_S)
        self._store.leave_thread()
        self._bell.close()

    def _hand_over(self) -> None:
        while not self._closing:
            batch = read(self._store, after=self._after, limit=BATCH)
            if not batch:
                return
            self._after = batch[-1].seq
            self._deliver(batch)


def follow(store: Store, *, after: int, topic: str = "*", stop: threading.Event) -> Iterator[Event]:
    """Events as they come, until ``stop`` is set; for a process that does nothing else, such as ``events tail``."""
    seen, bell = -1, store.bell()
    with contextlib.closing(bell):
        while not stop.is_set():
            version = store.data_version()
            if version != seen:
                seen, newest = version, head(store)
                while batch := read(store, after=after, topic=topic, limit=BATCH):
                    yield from batch
                    after = batch[-1].seq
                after = max(after, newest)  # what did not match is not looked at again
            bell.wait(_patience(bell))


def _patience(bell: Bell) -> float:
    return POLL_S if bell.path is None else ANYWAY_S


def _about(store: Store, key: str, id_: str, limit: int) -> list[Event]:
    with store.read():
        query = EventRow.select().where(Expression(about(key), "=", id_), EventRow.topic.not_in(COUNTED))
        query = query.order_by(EventRow.seq.desc()).limit(limit)
        return [record(row) for row in query][::-1]


def _matches(topic: str) -> object:
    return EventRow.topic % topic if "*" in topic or "?" in topic or "[" in topic else EventRow.topic == topic


def record(row: EventRow) -> Event:
    """The frozen form of a row."""
    payload = cast("dict[str, object]", row.payload)
    return Event(seq=row.seq, topic=row.topic, actor=row.actor, payload=payload, at=row.created_at)
