"""What doctor asks of the database."""

from __future__ import annotations

import sqlite3

import pytest

from store import health, migrate
from store.database import Store
from store.errors import StoreUnavailable
from tests.store.world import World, dump


def test_sound_database_has_no_faults(world: World) -> None:
    """PAM-CLI-008."""
    world.run("running")
    before = dump(world.store)
    assert health.faults(world.store) == []
    health.check_writable(world.store, actor="operator")
    assert health.schema_version(world.store) == migrate.known_version()
    assert dump(world.store) == before, "looking leaves no trace"


def test_link_to_nothing_is_a_fault(file_store: Store) -> None:
    """PAM-DATA-044: what another program wrote with enforcement switched off."""
    connection = sqlite3.connect(str(file_store.path))
    connection.execute("INSERT INTO labels VALUES ('nowhere', 'ui')")
    connection.commit()
    connection.close()
    (fault,) = health.faults(file_store)
    assert "labels" in fault and "missing work_items" in fault


def test_lock_that_somebody_holds_is_told(file_store: Store) -> None:
    file_store._database.pragma("busy_timeout", 50)
    holder = sqlite3.connect(str(file_store.path), isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreUnavailable, match="write lock"):
        health.check_writable(file_store, actor="operator")
    holder.close()


def test_database_that_takes_no_writes_is_told(store: Store) -> None:
    store._database.pragma("query_only", 1)
    with pytest.raises(StoreUnavailable, match="read-only"):
        health.check_writable(store, actor="operator")
