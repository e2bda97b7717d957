"""The schema: migrations give what the models say, values are guarded, links are enforced (PAM-DATA)."""

from __future__ import annotations

import re
import sqlite3
import threading
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from peewee import IntegrityError, SqliteDatabase

from store import deliveries, migrate, records
from store.database import Store, apply_migrations
from store.models import TABLES
from tests.store.world import World, execute, query

COLUMNS = {
    "projects": "id name slug description status created_at updated_at",
    "work_items": "id project_id parent_id kind title description status assignee path sort_order created_at "
    "updated_at",
    "hosts": "id name platform token_fingerprint status instance_id instance_suspect instance_flagged_at last_seen_at "
    "created_at updated_at",
    "runs": "id task_id host_id provider session_name status attempt last_progress_seq failure_reason pending_since "
    "cwd exit_code started_at finished_at created_at updated_at "
    "pinned_host_id prompt model args conversation_id stop_requested_at restart_policy max_attempts retry_at activity "
    "activity_source activity_at activity_note pane_id wrapper_pid wrapper_started agent_pid agent_started "
    "last_failure_reason transcript",
    "processed_signals": "run_id attempt kind received_at",
    "events": "seq topic actor payload created_at",
    "labels": "item_id name",
    "attach_leases": "run_id holder",
    "spool_cursors": "host_id generation offset",
    "run_usage": "run_id attempt source input_tokens output_tokens cache_read_tokens cache_write_tokens "
    "reasoning_tokens cost_usd context_tokens context_limit model offset updated_at told_at",
    "deliveries": "id run_id attempt kind status opening body keys reason awaited while_busy actor created_at typed_at "
    "settled_at",
}
"""PAM-DATA-004, 010, 017, 025, 037, 038 and the additions of design §3."""

NULLABLE = {
    "hosts": {"token_fingerprint", "instance_id", "instance_flagged_at", "last_seen_at"},
    "work_items": {"parent_id", "assignee"},
    "runs": {
        "host_id",
        "pinned_host_id",
        "last_progress_seq",
        "failure_reason",
        "exit_code",
        "started_at",
        "finished_at",
    },
}

CHOICES = [
    ("hosts", "platform", records.PLATFORMS),
    ("hosts", "status", records.HOST_STATUSES),
    ("hosts", "transport", records.TRANSPORTS),
    ("projects", "status", records.PROJECT_STATUSES),
    ("work_items", "kind", records.KINDS),
    ("work_items", "status", records.ITEM_STATUSES),
    ("runs", "status", records.RUN_STATUSES),
    ("runs", "failure_reason", records.FAILURE_REASONS),
    ("runs", "last_failure_reason", records.FAILURE_REASONS),
    ("runs", "restart_policy", records.RESTART_POLICIES),
    ("runs", "activity", records.ACTIVITIES),
    ("deliveries", "kind", records.DELIVERY_KINDS),
    ("deliveries", "status", records.DELIVERY_STATUSES),
]


@pytest.fixture
def raw(file_store: Store) -> Iterator[sqlite3.Connection]:
    """The migrated file without any of our code between."""
    connection = sqlite3.connect(str(file_store.path), isolation_level=None)
    connection.execute("PRAGMA foreign_keys = ON")
    yield connection
    connection.close()


def _shape(connection: sqlite3.Connection) -> dict[str, object]:
    """Columns, keys, indexes and, in the SQL itself, every CHECK of each table of ours."""
    shape: dict[str, object] = {}
    for name, sql in connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'").fetchall():
        if name.startswith(("sqlite_", "search_")) or name == "schema_migrations":
            continue
        indexes = connection.execute(f"PRAGMA index_list({name})").fetchall()
        shape[name] = {
            "sql": sql,
            "columns": connection.execute(f"PRAGMA table_info({name})").fetchall(),
            "foreign keys": sorted(connection.execute(f"PRAGMA foreign_key_list({name})").fetchall()),
            "indexes": {
                row[1]: (row[2:], connection.execute(f"PRAGMA index_xinfo({row[1]})").fetchall()) for row in indexes
            },
        }
    return shape


def test_models_and_migrated_schema_are_the_same(raw: sqlite3.Connection, tmp_path: Path) -> None:
    """PAM-DATA-039: the migrations end where the models are, checks, indexes and foreign keys included."""
    from_models = SqliteDatabase(str(tmp_path / "models.db"))
    with from_models.bind_ctx(TABLES):
        from_models.create_tables(TABLES, safe=False)
    from_models.close()
    connection = sqlite3.connect(tmp_path / "models.db")
    expected = _shape(connection)
    connection.close()
    assert _shape(raw) == expected
    assert set(expected) == set(COLUMNS)


@pytest.mark.parametrize("table", COLUMNS)
def test_table_has_the_columns_required(raw: sqlite3.Connection, table: str) -> None:
    """PAM-DATA-004, 010, 017, 025, 037, 038."""
    found = {row[1]: row for row in raw.execute(f"PRAGMA table_info({table})")}
    assert set(COLUMNS[table].split()) <= set(found)
    for column in NULLABLE.get(table, ()):
        assert not found[column][3], f"{column} must allow NULL"


@pytest.mark.parametrize(
    ("table", "column"),
    [
        ("hosts", "instance_suspect"),
        ("runs", "attempt"),
        ("runs", "pending_since"),
        ("runs", "cwd"),
        ("runs", "task_id"),
    ],
)
def test_column_refuses_null(raw: sqlite3.Connection, table: str, column: str) -> None:
    """PAM-DATA-009, 027, 030, 031, 034."""
    found = {row[1]: row for row in raw.execute(f"PRAGMA table_info({table})")}
    assert found[column][3]


def test_primary_key_of_processed_signals_is_run_attempt_kind(raw: sqlite3.Connection) -> None:
    """PAM-DATA-037."""
    keys = {row[1]: row[5] for row in raw.execute("PRAGMA table_info(processed_signals)") if row[5]}
    assert keys == {"run_id": 1, "attempt": 2, "kind": 3}


def test_indexes_required_exist(raw: sqlite3.Connection) -> None:
    """PAM-DATA-036, 040."""
    indexed = set()
    for (table,) in raw.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
        for row in raw.execute(f"PRAGMA index_list({table})").fetchall():
            columns = tuple(info[2] for info in raw.execute(f"PRAGMA index_info({row[1]})"))
            indexed.add((table, columns, bool(row[2])))
    assert {
        ("work_items", ("project_id",), False),
        ("work_items", ("parent_id",), False),
        ("work_items", ("path",), False),
        ("runs", ("task_id",), False),
        ("runs", ("host_id",), False),
        ("events", ("topic", "created_at"), False),
        ("runs", ("host_id", "session_name"), True),
        ("projects", ("slug",), True),
        ("hosts", ("name",), True),
    } <= indexed


@pytest.mark.parametrize(
    ("table", "column", "target", "on_delete"),
    [
        ("work_items", "project_id", "projects", "CASCADE"),
        ("work_items", "parent_id", "work_items", "CASCADE"),
        ("runs", "task_id", "work_items", "CASCADE"),
        ("runs", "host_id", "hosts", "NO ACTION"),
        ("processed_signals", "run_id", "runs", "CASCADE"),
        ("attach_leases", "run_id", "runs", "CASCADE"),
        ("deliveries", "run_id", "runs", "CASCADE"),
        ("run_usage", "run_id", "runs", "CASCADE"),
        ("labels", "item_id", "work_items", "CASCADE"),
    ],
)
def test_foreign_key(raw: sqlite3.Connection, table: str, column: str, target: str, on_delete: str) -> None:
    """PAM-DATA-021, 033, 034, 037."""
    keys = {row[3]: (row[2], row[6]) for row in raw.execute(f"PRAGMA foreign_key_list({table})")}
    assert keys[column] == (target, on_delete)


@pytest.mark.parametrize(("table", "column", "values"), CHOICES)
def test_check_holds_a_text_column_inside_its_enum(
    world: World, table: str, column: str, values: tuple[str, ...]
) -> None:
    """PAM-DATA-003, 005, 006, 011, 018, 019, 026, 029: raw SQL is refused, too."""
    deliveries.queue_prompt(world.store, world.run().id, "Go on", actor="operator")
    for value in values:
        execute(world.store, f"UPDATE {table} SET {column} = ?", value)
    for nonsense in ("nonsense", "", values[0].upper()):
        with pytest.raises(IntegrityError, match="CHECK constraint failed"):
            execute(world.store, f"UPDATE {table} SET {column} = ?", nonsense)


def test_enums_are_the_ones_required() -> None:
    """PAM-DATA-005, 006, 011, 018, 019, 026, 029."""
    assert records.PLATFORMS == ("macos", "linux")
    assert records.HOST_STATUSES == ("registered", "online", "offline", "disabled")
    assert records.PROJECT_STATUSES == ("active", "archived")
    assert records.KINDS == ("milestone", "epic", "task", "subtask")
    assert records.ITEM_STATUSES == ("todo", "doing", "done", "cancelled")
    assert records.RUN_STATUSES == ("pending", "spawning", "running", "exited", "failed", "stopped")
    assert set(records.FAILURE_REASONS) == {
        "host_lost",
        "session_lost",
        "spawn_failed",
        "restart_exhausted",
        "dispatch_timeout",
        "no_eligible_host",
    }


def test_item_is_never_its_own_parent(world: World) -> None:
    """PAM-DATA-022."""
    with pytest.raises(IntegrityError, match="CHECK constraint failed"):
        execute(world.store, "UPDATE work_items SET parent_id = id")


def test_one_session_name_per_host_but_pending_runs_never_collide(world: World) -> None:
    """PAM-DATA-036."""
    first, second = world.run(), world.run()
    execute(world.store, "UPDATE runs SET session_name = 'pam-00000000'")
    execute(world.store, "UPDATE runs SET host_id = ? WHERE id = ?", world.host.id, first.id)
    with pytest.raises(IntegrityError, match="UNIQUE constraint failed"):
        execute(world.store, "UPDATE runs SET host_id = ? WHERE id = ?", world.host.id, second.id)


def test_deleting_a_project_row_takes_items_runs_and_signals_along(world: World) -> None:
    """PAM-DATA-021, 034, 037."""
    world.run("running")
    execute(world.store, "DELETE FROM projects")
    for table in ("work_items", "runs", "processed_signals"):
        assert query(world.store, f"SELECT count(*) FROM {table}") == [(0,)]


def test_every_thread_enforces_foreign_keys(store: Store) -> None:
    """PAM-DATA-044: a connection is opened per thread, and each must be told."""
    outcomes: list[str] = []

    def intrude() -> None:
        with store.read():
            on = store._database.pragma("foreign_keys")
        try:
            with store.write("operator"):
                execute(store, "INSERT INTO labels VALUES ('nowhere', 'word')")
        except IntegrityError as error:
            outcomes.append(f"{on} {error}")
        store.leave_thread()

    threads = [threading.Thread(target=intrude) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=10)
    assert outcomes == ["1 FOREIGN KEY constraint failed"] * 4


def test_ids_are_uuid4_and_times_are_utc_text(world: World) -> None:
    """PAM-DATA-001, 002: stored text sorts as time does."""
    run = world.run("exited")
    assert [uuid.UUID(id_).version for id_ in (world.project.id, world.task.id, world.host.id, run.id)] == [4, 4, 4, 4]
    ((created, finished),) = query(world.store, "SELECT created_at, finished_at FROM runs")
    assert created == finished == "2026-11-30T09:00:00.000000Z"
    assert run.created_at == world.clock.now
    assert run.created_at.utcoffset() is not None


def test_journal_numbers_are_never_given_out_twice(world: World) -> None:
    """PAM-DATA-038: not even when the newest event is gone."""
    ((newest,),) = query(world.store, "SELECT max(seq) FROM events")
    execute(world.store, "DELETE FROM events")
    world.run()
    ((next_,),) = query(world.store, "SELECT min(seq) FROM events")
    assert next_ == int(str(newest)) + 1


def test_migrating_twice_changes_nothing(tmp_path: Path) -> None:
    """PAM-DATA-039, PAM-STORE-007: applied migrations stand in a table, and applying again is a no-op."""
    path = tmp_path / "pam.db"
    names, version = apply_migrations(path)
    assert names and version == migrate.known_version()
    before = path.read_bytes()
    assert apply_migrations(path) == ([], version)
    assert path.read_bytes() == before
    connection = sqlite3.connect(path)
    assert [name for (name,) in connection.execute("SELECT name FROM schema_migrations")] == names
    connection.close()


def test_no_table_holds_the_provider_catalog_or_terminal_output(raw: sqlite3.Connection) -> None:
    """PAM-DATA-043, PAM-STORE-002, PAM-SCOPE-013."""
    tables = {name for (name,) in raw.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    tables -= {name for name in tables if name.startswith("search_")}
    assert tables - {"schema_migrations", "sqlite_sequence"} == set(COLUMNS)
    columns = {row[1] for table in tables for row in raw.execute(f"PRAGMA table_info({table})")}
    assert not columns & {"output", "pane", "text", "scrollback", "capture", "log"}
    triggers = dict(raw.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall())
    assert all(name.startswith("search_") for name in triggers), "PAM-WI-005: no trigger decides a transition"
    writes = {word for sql in triggers.values() for word in re.findall(r"(?:INTO|UPDATE|DELETE FROM) (\w+)", sql)}
    assert writes - {"OF", "ON"} == {"search_documents", "search_index"}
