"""Opening the file, and what a transaction promises."""

from __future__ import annotations

import hashlib
import os
import shutil
import sqlite3
import stat
import threading
from pathlib import Path

import pytest

from store import items, journal, migrate, projects
from store.database import PRAGMAS, Store, apply_migrations, open_store
from store.errors import InvalidValue, StoreNewer, StoreUnavailable
from tests.store.world import TurnedClock, World, dump, events, query, worker


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _make_newer(path: Path, journal_mode: str) -> None:
    opened = open_store(path)
    projects.add(opened, "Kept", actor="operator")
    opened.close()
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA journal_mode = {journal_mode}")
    connection.execute(f"PRAGMA user_version = {migrate.known_version() + 1}")
    connection.commit()
    connection.close()


def test_directory_and_files_are_the_owners_alone(tmp_path: Path) -> None:
    """Design §3, PAM-SEC-004, PAM-SIG-015: directories 0700, files 0600, whatever the umask allows."""
    before = os.umask(0)
    try:
        store = open_store(tmp_path / "home" / "pam.db")
        projects.add(store, "Apollo", actor="operator")
        files = list((tmp_path / "home").iterdir())
        assert {file.name for file in files} == {"pam.db", "pam.db-wal", "pam.db-shm"}
        assert {_mode(file) for file in files} == {0o600}
        assert _mode(tmp_path / "home") == 0o700
        store.close()
    finally:
        os.umask(before)


def test_path_with_spaces_and_letters_of_any_script(tmp_path: Path) -> None:
    """A home may be named as its operator likes; characters that mean something in a URI included."""
    path = tmp_path / "Größe 100% ?a=b #1 家" / "pam.db"
    store = open_store(path)
    projects.add(store, "Apollo", actor="operator")
    store.close()
    assert [project.name for project in projects.list_all(open_store(path))] == ["Apollo"]
    assert path.exists()


def test_what_was_written_is_there_after_reopening(file_store: Store) -> None:
    project = projects.add(file_store, "Apollo", actor="operator")
    before = dump(file_store)
    file_store.close()
    again = open_store(file_store.path)
    assert projects.get(again, project.id) == project
    assert dump(again) == before
    again.close()


def test_connections_have_the_pragmas_of_the_design(file_store: Store) -> None:
    """Design §3, PAM-STORE-004: WAL lets readers read while somebody writes."""
    with file_store.read():
        found = {name: file_store._database.pragma(name) for name in ("journal_mode", "foreign_keys", "busy_timeout")}
    assert found == {"journal_mode": "wal", "foreign_keys": 1, "busy_timeout": PRAGMAS["busy_timeout"]}


@pytest.mark.parametrize("journal_mode", ["wal", "delete"])
def test_database_of_a_newer_pam_is_refused_and_left_as_it_is(tmp_path: Path, journal_mode: str) -> None:
    """Design §3: refused, and the file is byte for byte what it was."""
    path = tmp_path / "pam.db"
    _make_newer(path, journal_mode)
    before = _digest(path)
    with pytest.raises(StoreNewer, match="update pam") as refused:
        open_store(path)
    assert refused.value.details == {"found": migrate.known_version() + 1, "known": migrate.known_version()}
    with pytest.raises(StoreNewer):
        apply_migrations(path)
    assert _digest(path) == before


def test_newer_database_left_behind_by_a_crash_is_not_folded_in(tmp_path: Path) -> None:
    """What stands in a write-ahead log belongs to the newer pam; opening must not checkpoint it."""
    _make_newer(tmp_path / "pam.db", "wal")
    crashed = tmp_path / "crashed"
    crashed.mkdir()
    connection = sqlite3.connect(tmp_path / "pam.db")
    connection.execute("UPDATE projects SET name = 'In the log'")
    connection.commit()
    for name in ("pam.db", "pam.db-wal"):
        shutil.copy(tmp_path / name, crashed / name)
    connection.close()
    before = {name: _digest(crashed / name) for name in ("pam.db", "pam.db-wal")}
    with pytest.raises(StoreNewer):
        open_store(crashed / "pam.db")
    assert {name: _digest(crashed / name) for name in before} == before


def test_failed_open_leaves_the_open_store_usable(file_store: Store, tmp_path: Path) -> None:
    """The models stay bound to the store that works."""
    (tmp_path / "rubbish.db").write_bytes(b"not a database at all" * 100)
    with pytest.raises(StoreUnavailable):
        open_store(tmp_path / "rubbish.db")
    assert projects.add(file_store, "Apollo", actor="operator").slug == "apollo"


def test_error_inside_a_write_leaves_nothing(world: World) -> None:
    """Design §3: rows and event commit or vanish together."""
    before = dump(world.store)
    with pytest.raises(RuntimeError), world.store.write("operator") as transaction:
        items.create(world.store, world.project.id, "Half a thought", actor="operator")
        transaction.journal("work_item.updated", item_id=world.task.id)
        raise RuntimeError
    assert dump(world.store) == before


def test_commit_wakes_and_a_rollback_does_not(world: World) -> None:
    """Design §3: a verb publishes after the commit; who is woken finds the event."""
    heads: list[int] = []
    world.store.on_commit.append(lambda: heads.append(journal.head(world.store)))
    items.edit(world.store, world.task.id, title="Renamed", actor="operator")
    with pytest.raises(RuntimeError), world.store.write("operator") as transaction:
        transaction.journal("work_item.updated", item_id=world.task.id)
        raise RuntimeError
    with world.store.write("operator"):
        pass
    assert heads == [journal.head(world.store)]


def test_callback_may_unregister_itself(world: World) -> None:
    """Nobody else goes unwoken when one of the woken leaves."""
    woken: list[str] = []

    def once() -> None:
        world.store.on_commit.remove(once)
        woken.append("once")

    world.store.on_commit += [once, lambda: woken.append("always")]
    items.edit(world.store, world.task.id, title="Renamed", actor="operator")
    assert woken == ["once", "always"]


def test_everything_in_a_transaction_has_its_moment_and_actor(world: World) -> None:
    """Design §3: every write carries an actor."""
    world.clock.advance(60)
    items.edit(world.store, world.task.id, title="Renamed", actor="agent:1234abcd")
    newest = events(world.store)[-1]
    assert (newest.actor, newest.at) == ("agent:1234abcd", world.clock.now)
    assert items.get(world.store, world.task.id).updated_at == world.clock.now


def test_reader_sees_one_state_while_another_thread_writes(file_store: Store) -> None:
    """PAM-STORE-004: readers neither wait for a writer nor see half of what it does."""
    projects.add(file_store, "Before", actor="operator")
    with file_store.read():
        assert len(projects.list_all(file_store)) == 1
        writer = threading.Thread(target=_add_and_leave, args=(file_store,))
        writer.start()
        writer.join(timeout=10)
        assert not writer.is_alive()
        assert len(projects.list_all(file_store)) == 1
    assert len(projects.list_all(file_store)) == 2


def test_reader_reads_while_a_write_is_open(file_store: Store) -> None:
    """PAM-STORE-004."""
    seen: list[int] = []

    def count() -> None:
        seen.append(len(projects.list_all(file_store)))
        file_store.leave_thread()

    with file_store.write("operator"):
        reader = threading.Thread(target=count)
        reader.start()
        reader.join(timeout=10)
        assert seen == [0]


def test_memory_store_is_one_database_for_all_threads() -> None:
    """PAM-STORE-006: a connection per thread would give each an empty database."""
    store = open_store(None, clock=TurnedClock())
    threads = [threading.Thread(target=_add_and_leave, args=(store,)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=10)
    assert len(projects.list_all(store)) == 8
    assert query(store, "SELECT count(*) FROM events") == [(8,)]
    store.close()


def test_text_that_is_no_unicode_is_told_and_not_stored(world: World) -> None:
    """A file name in another encoding reaches us as half characters (``LANG=C``); it must not end in a traceback."""
    before = dump(world.store)
    with pytest.raises(InvalidValue, match="UTF-8"):
        projects.edit(world.store, world.project.id, cwd="/srv/caf\udce9", actor="operator")
    assert dump(world.store) == before


def test_number_beyond_64_bits_is_told_and_not_stored(world: World) -> None:
    """As SQLite's own limit, wherever the number came from; reading for one is no different."""
    before = dump(world.store)
    with pytest.raises(InvalidValue, match="2\\^63"):
        world.run(max_attempts=2**63)
    with pytest.raises(InvalidValue, match="2\\^63"):
        journal.read(world.store, after=2**63)
    assert dump(world.store) == before
    assert world.run(max_attempts=2**63 - 1).max_attempts == 2**63 - 1


def test_data_version_changes_when_another_process_commits(file_store: Store) -> None:
    """Design §3: how other processes notice a commit."""
    before = file_store.data_version()
    assert file_store.data_version() == before
    code = (
        "import sys; from pathlib import Path; from store.database import open_store; from store import projects;"
        "projects.add(open_store(Path(sys.argv[1])), 'Elsewhere', actor='operator')"
    )
    _, errors = worker(code, file_store.path).communicate(timeout=30)
    assert not errors
    assert file_store.data_version() != before


def _add_and_leave(store: Store) -> None:
    projects.add(store, "Another", actor="operator")
    store.leave_thread()
