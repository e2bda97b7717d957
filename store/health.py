"""Whether the database is sound: what ``pam doctor`` asks of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime

from store import migrate
from store.database import Store
from store.models import EventRow, HostRow, RunRow, tuples


def faults(store: Store) -> list[str]:
    """What SQLite finds wrong with the file, and broken foreign keys; empty when it is sound."""
    with store.read():
        run: Callable[[str], Iterable[tuple[object, ...]]] = store._database.execute_sql
        said = [str(row[0]) for row in run("PRAGMA quick_check(5)")]
        broken = [f"{row[0]} row {row[1]} names a missing {row[2]}" for row in run("PRAGMA foreign_key_check")]
    return [line for line in said if line != "ok"] + broken[:5]


def newest_moment(store: Store) -> datetime | None:
    """The latest time that anything was written down with; it lies ahead when the clock has gone back since."""
    with store.read():
        event = EventRow.select(EventRow.created_at).order_by(EventRow.created_at.desc()).first()
        seen = [row.last_seen_at for row in HostRow.select(HostRow.last_seen_at) if row.last_seen_at]
        return max([*seen, *([event.created_at] if event else [])], default=None)


def run_ids(store: Store) -> set[str]:
    """The ids of all runs."""
    with store.read():
        return {run_id for (run_id,) in tuples(RunRow.select(RunRow.id))}


def check_writable(store: Store, *, actor: str) -> None:
    """Take the write lock and give it back, unused. Raises StoreUnavailable."""
    with store.write(actor):
        pass


def schema_version(store: Store) -> int:
    """Number of the newest migration applied."""
    with store.read():
        return migrate.version(store._database)
