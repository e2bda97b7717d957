"""Whether the database is sound: what ``pam doctor`` asks of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from store import migrate
from store.database import Store


def faults(store: Store) -> list[str]:
    """What SQLite finds wrong with the file, and broken foreign keys; empty when it is sound."""
    with store.read():
        run: Callable[[str], Iterable[tuple[object, ...]]] = store._database.execute_sql
        said = [str(row[0]) for row in run("PRAGMA quick_check(5)")]
        broken = [f"{row[0]} row {row[1]} names a missing {row[2]}" for row in run("PRAGMA foreign_key_check")]
    return [line for line in said if line != "ok"] + broken[:5]


def check_writable(store: Store, *, actor: str) -> None:
    """Take the write lock and give it back, unused. Raises StoreUnavailable."""
    with store.write(actor):
        pass


def schema_version(store: Store) -> int:
    """Number of the newest migration applied."""
    with store.read():
        return migrate.version(store._database)
