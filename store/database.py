"""The one SQLite file: how it is opened, how it is read and how it is written.

Every write goes through ``Store.write``: one ``BEGIN IMMEDIATE`` transaction that holds rows and events together
and wakes the journal's readers after the commit. One store is open in a process at a time: Peewee's models are bound
to it.
"""

from __future__ import annotations

import os
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

from peewee import DatabaseError, InterfaceError, OperationalError, SqliteDatabase

from store import migrate
from store.bells import Bell, ring_all
from store.clock import Clock, utc_now
from store.errors import InvalidValue, StoreUnavailable
from store.models import database_proxy
from store.restart_rules import Backoff
from store.transaction import Transaction

LOCK_WAIT_S = 10.0
"""How long a lock of another process is waited for."""

PRAGMAS = {
    "journal_mode": "wal",
    "foreign_keys": 1,
    "synchronous": "NORMAL",
    "busy_timeout": int(LOCK_WAIT_S * 1000),
    "temp_store": "MEMORY",
}
MEMORY = ":memory:"
BELLS = "bells"
"""The directory beside the database with the bells of those who wait for commits."""


class Store:
    """An open database. Threads may share it: each has its own connection (in memory they queue for the one)."""

    def __init__(self, path: Path | None, *, clock: Clock = utc_now, new_id: Callable[[], str] | None = None) -> None:
        self.path = path
        self.clock = clock
        self.new_id = new_id or _uuid4
        self.on_commit: list[Callable[[], None]] = []
        """Called after each commit, on the committing thread; must be quick and must not raise."""
        self.backoff = Backoff()
        """Pauses before restarts of failed runs; the executor sets what config.toml says."""
        self._gate = threading.RLock() if path is None else nullcontext()
        self._database = _sqlite(path)

    @property
    def where(self) -> str:
        """The file's path, for messages."""
        return MEMORY if self.path is None else str(self.path)

    @contextmanager
    def write(self, actor: str) -> Iterator[Transaction]:
        """One write transaction; commits on a clean exit, rolls back on an error.

        Raises StoreUnavailable when the database cannot be written (rights, full disk, a lock held for 10 s).
        """
        with self._gate, _translated(self.where), self._database.atomic("IMMEDIATE"):
            transaction = Transaction(self.clock(), actor, self.new_id, self.backoff)
            yield transaction
        if transaction.journaled:
            for wake in tuple(self.on_commit):
                wake()
            if self.path is not None:
                ring_all(self.path.parent / BELLS)

    @contextmanager
    def read(self) -> Iterator[None]:
        """Reads that belong together: they see one state of the database."""
        with self._gate, _translated(self.where), self._database.atomic():
            yield

    def leave_thread(self) -> None:
        """Close the calling thread's connection before the thread ends; in memory there is only the shared one."""
        if self.path is not None:
            self.close()

    def close(self) -> None:
        """Close the connection (of the calling thread; in memory, the database itself is gone)."""
        if not self._database.is_closed():
            self._database.close()

    def bell(self) -> Bell:
        """A bell that every commit to this database rings, from whichever process; the caller closes it.

        Without a path only ``on_commit`` can ring it: the database is in memory, or its directory takes no named pipe.
        """
        return Bell.among(None if self.path is None else self.path.parent / BELLS)

    def data_version(self) -> int:
        """Changes whenever another connection has committed (``PRAGMA data_version`` of this thread's connection)."""
        with self._gate, _translated(self.where):
            return int(self._database.pragma("data_version"))


def open_store(path: Path | None, *, clock: Clock = utc_now, new_id: Callable[[], str] | None = None) -> Store:
    """Open the database at ``path`` (None: in memory), creating and migrating it as needed.

    The directory is made with mode 0700 and the file with 0600. Raises StoreUnavailable when that cannot be done and
    StoreNewer when the file was made by a newer pam.
    """
    if path is not None:
        _prepare_file(path)
    store = Store(path, clock=clock, new_id=new_id)
    _bring_up(store._database, store.where)
    database_proxy.initialize(store._database)
    return store


def apply_migrations(path: Path) -> tuple[list[str], int]:
    """What ``pam migrate`` does: (names applied now, schema version). Raises as ``open_store`` does."""
    _prepare_file(path)
    database = _sqlite(path)
    names = _bring_up(database, str(path))
    try:
        return names, migrate.version(database)
    finally:
        database.close()


def _bring_up(database: SqliteDatabase, where: str) -> list[str]:
    """Migrate as needed; on any error the connection is closed again.

    SQLite does not wait for a lock when a new file changes to WAL, so processes that make a home at once try again.
    """
    deadline = time.monotonic() + LOCK_WAIT_S
    while True:
        try:
            with _translated(where):
                return [] if migrate.check(database, where) else migrate.apply(database)
        except StoreUnavailable as error:
            database.close()
            if "locked" not in _cause(error.__cause__ or error) or time.monotonic() > deadline:
                raise
            time.sleep(0.02)
        except BaseException:
            database.close()
            raise


def _sqlite(path: Path | None) -> SqliteDatabase:
    if path is None:
        # Each connection to ":memory:" is a database of its own (PAM-STORE-006), so all threads share one.
        return SqliteDatabase(MEMORY, pragmas=PRAGMAS, thread_safe=False, check_same_thread=False)
    return SqliteDatabase(str(path), pragmas=PRAGMAS, timeout=10)


def _prepare_file(path: Path) -> None:
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    except OSError as error:
        raise StoreUnavailable(
            f"The database {path} cannot be opened: {error.strerror}. "
            "Make its directory writable, or choose another home with --home or PAM_HOME.",
            path=str(path),
        ) from error
    _refuse_newer(path)


def _refuse_newer(path: Path) -> None:
    """Look before touching: only a read-only connection leaves journal mode and bytes of the file as they are."""
    database = SqliteDatabase(f"{path.absolute().as_uri()}?mode=ro", uri=True)
    try:
        migrate.check(database, str(path))
    except DatabaseError:
        return  # The connection that may write heals it, or says what is wrong.
    finally:
        database.close()


@contextmanager
def _translated(where: str) -> Iterator[None]:
    try:
        yield
    except (OperationalError, InterfaceError) as error:
        raise StoreUnavailable(f"The database {where} cannot be used: {_advice(_cause(error))}", path=where) from error
    except DatabaseError as error:
        if "malformed" not in str(error) and "not a database" not in str(error):
            raise
        raise StoreUnavailable(
            f"{where} is damaged or not a pam database ({error}). Move it away, or choose another home with --home.",
            path=where,
        ) from error
    except OverflowError as error:
        raise InvalidValue("A number of this call is beyond 2^63-1, more than can be stored or looked for.") from error
    except UnicodeEncodeError as error:
        raise InvalidValue(
            f"{error.object!r} is not valid Unicode text, so it cannot be stored. Give it in UTF-8.",
            value=ascii(error.object),
        ) from error


def _cause(error: BaseException) -> str:
    """What went wrong first: on a full disk SQLite rolls back by itself, and Peewee's own rollback then fails."""
    while "cannot rollback" in str(error) and error.__context__ is not None:
        error = error.__context__
    return str(error)


def _advice(reason: str) -> str:
    if "locked" in reason:
        return "another process holds its write lock. Nothing was written; try again, or find it with `pam status`."
    if "full" in reason:
        return "the disk is full. Nothing was written; free some space and try again."
    if any(sign in reason for sign in ("readonly", "read-only", "unable to open")):
        return "it is read-only. Nothing was written; make it and its directory writable, or use --home."
    return f"{reason}. Nothing was written; `pam doctor` looks for the cause."


def _uuid4() -> str:
    return str(uuid.uuid4())
