"""The first schema: projects, items, labels, hosts, runs, signals, journal, leases and spool cursors.

Frozen: later changes are migrations of their own. It declares its own models because the application's go on changing.
"""

from collections.abc import Iterable
from typing import Any

from peewee import (
    SQL,
    AutoField,
    BigIntegerField,
    BooleanField,
    Check,
    CompositeKey,
    Database,
    ForeignKeyField,
    IntegerField,
    Model,
    Node,
    NodeList,
    TextField,
)

FAILURE_REASONS = (
    "host_lost",
    "session_lost",
    "spawn_failed",
    "restart_exhausted",
    "dispatch_timeout",
    "no_eligible_host",
)


class SequenceField(AutoField):
    """A number that is never given out twice, not even after the newest row is gone (PAM-DATA-038)."""

    def ddl(self, ctx: object) -> NodeList:
        return NodeList((super().ddl(ctx), SQL("AUTOINCREMENT")))


def one_of(column: str, values: Iterable[str], *, null: bool = False) -> list[Node]:
    """The CHECK that keeps a text column inside its enum."""
    listed = ", ".join(f"'{value}'" for value in values)
    rule = f"{column} IN ({listed})"
    return [Check(f"{column} IS NULL OR {rule}" if null else rule)]


class Row(Model):
    class Meta:
        legacy_table_names = False


class ProjectRow(Row):
    id = TextField(primary_key=True)
    name = TextField()
    slug = TextField(unique=True)
    description = TextField(default="")
    status = TextField(default="active", constraints=one_of("status", ("active", "archived")))
    cwd = TextField(null=True)
    created_at = TextField()
    updated_at = TextField()

    class Meta:
        table_name = "projects"


class ItemRow(Row):
    id = TextField(primary_key=True)
    project = ForeignKeyField(ProjectRow, column_name="project_id", on_delete="CASCADE", index=True)
    parent = ForeignKeyField("self", column_name="parent_id", null=True, on_delete="CASCADE", index=True)
    kind = TextField(default="task", constraints=one_of("kind", ("milestone", "epic", "task", "subtask")))
    title = TextField()
    description = TextField(default="")
    status = TextField(default="todo", constraints=one_of("status", ("todo", "doing", "done", "cancelled")))
    assignee = TextField(null=True)
    path = TextField(index=True)
    sort_order = IntegerField(default=0)
    created_at = TextField()
    updated_at = TextField()

    class Meta:
        table_name = "work_items"
        constraints = [Check("parent_id IS NULL OR parent_id <> id")]  # noqa: RUF012


class LabelRow(Row):
    item = ForeignKeyField(ItemRow, column_name="item_id", on_delete="CASCADE")
    name = TextField(index=True)

    class Meta:
        table_name = "labels"
        primary_key = CompositeKey("item", "name")


class HostRow(Row):
    id = TextField(primary_key=True)
    name = TextField(unique=True)
    platform = TextField(constraints=one_of("platform", ("macos", "linux")))
    transport = TextField(default="local", constraints=one_of("transport", ("local", "ssh", "command")))
    ssh_target = TextField(null=True)
    work_root = TextField(null=True)
    token_fingerprint = TextField(null=True)
    status = TextField(
        default="registered", constraints=one_of("status", ("registered", "online", "offline", "disabled"))
    )
    instance_id = TextField(null=True)
    presented_instance_id = TextField(null=True)
    instance_suspect = BooleanField(default=False)
    instance_flagged_at = TextField(null=True)
    last_seen_at = TextField(null=True)
    created_at = TextField()
    updated_at = TextField()

    class Meta:
        table_name = "hosts"


class RunRow(Row):
    id = TextField(primary_key=True)
    task = ForeignKeyField(ItemRow, column_name="task_id", on_delete="CASCADE", index=True)
    host = ForeignKeyField(HostRow, column_name="host_id", null=True, index=True)
    pinned_host = ForeignKeyField(HostRow, column_name="pinned_host_id", null=True)
    provider = TextField()
    session_name = TextField()
    status = TextField(
        default="pending",
        index=True,
        constraints=one_of("status", ("pending", "spawning", "running", "exited", "failed", "stopped")),
    )
    attempt = IntegerField(default=1)
    max_attempts = IntegerField(default=3)
    restart_policy = TextField(
        default="infrastructure",
        constraints=one_of("restart_policy", ("never", "infrastructure", "on-failure", "always")),
    )
    last_progress_seq = BigIntegerField(null=True)
    failure_reason = TextField(
        null=True,
        constraints=one_of(
            "failure_reason",
            FAILURE_REASONS,
            null=True,
        ),
    )
    last_failure_reason = TextField(
        null=True,
        constraints=one_of(
            "last_failure_reason",
            FAILURE_REASONS,
            null=True,
        ),
    )
    pending_since = TextField()
    cwd = TextField()
    prompt = TextField(null=True)
    model = TextField(null=True)
    args = TextField(default=list)
    conversation_id = TextField(null=True)
    exit_code = IntegerField(null=True)
    stop_requested_at = TextField(null=True)
    retry_at = TextField(null=True)
    activity = TextField(default="unknown", constraints=one_of("activity", ("working", "waiting", "idle", "unknown")))
    activity_source = TextField(null=True)
    activity_at = TextField(null=True)
    activity_note = TextField(null=True)
    pane_id = TextField(null=True)
    wrapper_pid = IntegerField(null=True)
    wrapper_started = BigIntegerField(null=True)
    started_at = TextField(null=True)
    finished_at = TextField(null=True)
    created_at = TextField()
    updated_at = TextField()

    class Meta:
        table_name = "runs"
        indexes = ((("host", "session_name"), True),)


class ProcessedSignalRow(Row):
    run = ForeignKeyField(RunRow, column_name="run_id", on_delete="CASCADE")
    attempt = IntegerField()
    kind = TextField()
    received_at = TextField()

    class Meta:
        table_name = "processed_signals"
        primary_key = CompositeKey("run", "attempt", "kind")


class EventRow(Row):
    seq = SequenceField()
    topic = TextField()
    actor = TextField()
    payload = TextField()
    created_at = TextField()

    class Meta:
        table_name = "events"
        indexes = ((("topic", "created_at"), False), (("created_at",), False))


for _key in ("run_id", "item_id", "task_id"):
    EventRow.add_index(SQL(f'CREATE INDEX "events_{_key}" ON "events" (json_extract("payload", \'$.{_key}\'))'))


class LeaseRow(Row):
    run = ForeignKeyField(RunRow, column_name="run_id", primary_key=True, on_delete="CASCADE")
    holder = TextField()
    acquired_at = TextField()
    heartbeat_at = TextField()
    expires_at = TextField()

    class Meta:
        table_name = "attach_leases"


class SpoolCursorRow(Row):
    host = ForeignKeyField(HostRow, column_name="host_id", on_delete="CASCADE")
    generation = TextField()
    offset = BigIntegerField(default=0)

    class Meta:
        table_name = "spool_cursors"
        primary_key = CompositeKey("host", "generation")


TABLES = (ProjectRow, ItemRow, LabelRow, HostRow, RunRow, ProcessedSignalRow, EventRow, LeaseRow, SpoolCursorRow)


def up(migrator: Any, db: Database) -> None:
    """Create every table and index."""
    with db.bind_ctx(TABLES):
        db.create_tables(TABLES, safe=False)
