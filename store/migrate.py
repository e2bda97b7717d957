"""Brings a database to the schema this pam knows, and refuses one from a newer pam.

Migrations are Peewee's (``playhouse.migrations``), one file each in ``store/migrations``. ``PRAGMA user_version``
repeats the number of the newest one applied, so that opening a database that is up to date reads one integer.
"""

from __future__ import annotations

import glob
import re
from pathlib import Path

from peewee import SqliteDatabase

from store.errors import StoreNewer

DIRECTORY = Path(__file__).parent / "migrations"


def known_version() -> int:
    """Number of the newest migration this pam ships."""
    return max(int(match[1]) for path in DIRECTORY.iterdir() if (match := re.match(r"(\d{4})_\w+\.py$", path.name)))


def version(database: SqliteDatabase) -> int:
    """Number of the newest migration applied; 0 for an empty file."""
    return int(database.pragma("user_version"))


def check(database: SqliteDatabase, where: str) -> bool:
    """Whether the schema is the one this pam knows. Raises StoreNewer when it is newer."""
    found, known = version(database), known_version()
    if found > known:
        raise StoreNewer(
            f"{where} was written by a newer pam (schema {found}, this pam knows {known}). "
            "It was left as it is: update pam, or choose another home with --home.",
            found=found,
            known=known,
        )
    return found == known


def apply(database: SqliteDatabase) -> list[str]:
    """Apply what is pending, each migration in a transaction; return their names. Twice is as good as once.

    Two processes may open a new home at once: the write lock taken first makes the second wait and find it done.
    """
    from playhouse.migrations import Runner

    with database.atomic("IMMEDIATE"):
        if version(database) >= known_version():
            return []
        # The runner globs below the directory, whose own name may hold brackets.
        directory = glob.escape(str(DIRECTORY))
        names: list[str] = Runner(database, directory, table_name="schema_migrations").up()
        database.pragma("user_version", known_version())
        return names
