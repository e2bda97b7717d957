"""The tables, as Peewee models; only the store's verbs use them.

CHECK constraints guard values (PAM-DATA-003); ``lifecycle`` guards transitions. The frozen first shape of the
schema stands in ``migrations/0001_initial.py``, and a test holds the two against each other.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar, cast

from peewee import (
    SQL,
    AutoField,
    BigIntegerField,
    BooleanField,
    Check,
    CompositeKey,
    DatabaseProxy,
    FloatField,
    ForeignKeyField,
    IntegerField,
    Model,
    ModelSelect,
    NodeList,
    TextField,
)

from store import records
from store.clock import from_text, to_text

database_proxy = DatabaseProxy()
_V = TypeVar("_V", bound=str)


class UtcField(TextField):
    """An aware UTC datetime, stored as ISO 8601 text (PAM-DATA-002)."""

    def db_value(self, value: datetime | None) -> str | None:
        return None if value is None else to_text(value)

    def python_value(self, value: str | None) -> datetime | None:
        return None if value is None else from_text(value)


class JsonField(TextField):
    """A JSON value, stored as compact text."""

    def db_value(self, value: object) -> str:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))

    def python_value(self, value: str) -> object:
        return json.loads(value)


class SequenceField(AutoField):
    """A number that is never given out twice, not even after the newest row is gone (PAM-DATA-038)."""

    def ddl(self, ctx: object) -> NodeList:
        return NodeList((super().ddl(ctx), SQL("AUTOINCREMENT")))


def choice(column: str, values: tuple[_V, ...], **options: Any) -> TextField[_V]:
    """A text column whose CHECK keeps it inside ``values``."""
    return cast("TextField[_V]", TextField(constraints=[Check(_rule(column, values))], **options))


def optional_choice(column: str, values: tuple[_V, ...]) -> TextField[_V | None]:
    """The same, or NULL."""
    rule = f"{column} IS NULL OR {_rule(column, values)}"
    return cast("TextField[_V | None]", TextField(null=True, constraints=[Check(rule)]))


def tuples(query: ModelSelect[Any]) -> Iterator[tuple[Any, ...]]:
    """The rows of a query as plain tuples, for reads of many."""
    return iter(cast("Iterator[tuple[Any, ...]]", query.tuples()))


def values(query: ModelSelect[Any]) -> list[tuple[Any, ...]]:
    """The rows of a query as SQLite has them, times and JSON as text: for reads of many that convert little."""
    return cast("list[tuple[Any, ...]]", database_proxy.execute(query).fetchall())


def _rule(column: str, values: tuple[str, ...]) -> str:
    return f"{column} IN ({', '.join(repr(value) for value in values)})"


class Row(Model):
    """Base of every table."""

    class Meta:
        database = database_proxy
        legacy_table_names = False


class ProjectRow(Row):
    """projects (PAM-DATA-010)."""

    id = TextField(primary_key=True)
    name = TextField()
    slug = TextField(unique=True)
    description = TextField(default="")
    status = choice("status", records.PROJECT_STATUSES, default="active")
    cwd = TextField(null=True)
    created_at = UtcField()
    updated_at = UtcField()

    class Meta:
        table_name = "projects"


class ItemRow(Row):
    """work_items (PAM-DATA-017)."""

    id = TextField(primary_key=True)
    project = ForeignKeyField(ProjectRow, column_name="project_id", on_delete="CASCADE", index=True)
    parent = ForeignKeyField("self", column_name="parent_id", null=True, on_delete="CASCADE", index=True)
    kind = choice("kind", records.KINDS, default="task")
    title = TextField()
    description = TextField(default="")
    status = choice("status", records.ITEM_STATUSES, default="todo")
    assignee = TextField(null=True)
    path = TextField(index=True)
    sort_order = IntegerField(default=0)
    created_at = UtcField()
    updated_at = UtcField()

    if TYPE_CHECKING:
        project_id: str
        parent_id: str | None

    class Meta:
        table_name = "work_items"
        constraints = [Check("parent_id IS NULL OR parent_id <> id")]  # noqa: RUF012


class LabelRow(Row):
    """labels: free words on an item; ``blocked`` is one of them (PAM-WI-011)."""

    item = ForeignKeyField(ItemRow, column_name="item_id", on_delete="CASCADE")
    name = TextField(index=True)

    if TYPE_CHECKING:
        item_id: str

    class Meta:
        table_name = "labels"
        primary_key = CompositeKey("item", "name")


class HostRow(Row):
    """hosts (PAM-DATA-004)."""

    id = TextField(primary_key=True)
    name = TextField(unique=True)
    platform = choice("platform", records.PLATFORMS)
    transport = choice("transport", records.TRANSPORTS, default="local")
    ssh_target = TextField(null=True)
    work_root = TextField(null=True)
    token_fingerprint = TextField(null=True)
    status = choice("status", records.HOST_STATUSES, default="registered")
    instance_id = TextField(null=True)
    presented_instance_id = TextField(null=True)
    instance_suspect = BooleanField(default=False)
    instance_flagged_at = UtcField(null=True)
    last_seen_at = UtcField(null=True)
    created_at = UtcField()
    updated_at = UtcField()

    class Meta:
        table_name = "hosts"


class RunRow(Row):
    """runs (PAM-DATA-025)."""

    id = TextField(primary_key=True)
    task = ForeignKeyField(ItemRow, column_name="task_id", on_delete="CASCADE", index=True)
    host = ForeignKeyField(HostRow, column_name="host_id", null=True, index=True)
    pinned_host = ForeignKeyField(HostRow, column_name="pinned_host_id", null=True)
    provider = TextField()
    session_name = TextField()
    status = choice("status", records.RUN_STATUSES, default="pending", index=True)
    attempt = IntegerField(default=1)
    max_attempts = IntegerField(default=3)
    restart_policy = choice("restart_policy", records.RESTART_POLICIES, default="infrastructure")
    last_progress_seq = BigIntegerField(null=True)
    failure_reason = optional_choice("failure_reason", records.FAILURE_REASONS)
    last_failure_reason = optional_choice("last_failure_reason", records.FAILURE_REASONS)
    pending_since = UtcField()
    cwd = TextField()
    prompt = TextField(null=True)
    model = TextField(null=True)
    args = JsonField(default=list)
    conversation_id = TextField(null=True)
    exit_code = IntegerField(null=True)
    stop_requested_at = UtcField(null=True)
    retry_at = UtcField(null=True)
    activity = choice("activity", records.ACTIVITIES, default="unknown")
    activity_source = TextField(null=True)
    activity_at = UtcField(null=True)
    activity_note = TextField(null=True)
    pane_id = TextField(null=True)
    wrapper_pid = IntegerField(null=True)
    wrapper_started = BigIntegerField(null=True)
    started_at = UtcField(null=True)
    finished_at = UtcField(null=True)
    created_at = UtcField()
    updated_at = UtcField()
    agent_pid = IntegerField(null=True)
    agent_started = BigIntegerField(null=True)
    resumed_from = TextField(null=True)
    transcript = TextField(null=True)
    approvals = TextField(null=True)

    if TYPE_CHECKING:
        task_id: str
        host_id: str | None
        pinned_host_id: str | None

    class Meta:
        table_name = "runs"
        indexes = ((("host", "session_name"), True),)


class RunUsageRow(Row):
    """run_usage: what an attempt has used of a model; one row for each conversation that it had."""

    run = ForeignKeyField(RunRow, column_name="run_id", on_delete="CASCADE")
    attempt = IntegerField()
    source = TextField()
    input_tokens = BigIntegerField(null=True)
    output_tokens = BigIntegerField(null=True)
    cache_read_tokens = BigIntegerField(null=True)
    cache_write_tokens = BigIntegerField(null=True)
    reasoning_tokens = BigIntegerField(null=True)
    cost_usd = FloatField(null=True)
    context_tokens = BigIntegerField(null=True)
    context_limit = BigIntegerField(null=True)
    model = TextField(null=True)
    offset = BigIntegerField(default=0)
    updated_at = UtcField()
    told_at = UtcField(null=True)

    if TYPE_CHECKING:
        run_id: str

    class Meta:
        table_name = "run_usage"
        primary_key = CompositeKey("run", "attempt", "source")


class ProcessedSignalRow(Row):
    """processed_signals: which one-shot signals were applied (PAM-DATA-037)."""

    run = ForeignKeyField(RunRow, column_name="run_id", on_delete="CASCADE")
    attempt = IntegerField()
    kind = TextField()
    received_at = UtcField()

    if TYPE_CHECKING:
        run_id: str

    class Meta:
        table_name = "processed_signals"
        primary_key = CompositeKey("run", "attempt", "kind")


class EventRow(Row):
    """events: the append-only journal (PAM-DATA-038)."""

    seq = SequenceField()
    topic = TextField()
    actor = TextField()
    payload = JsonField()
    created_at = UtcField()

    class Meta:
        table_name = "events"
        indexes = ((("topic", "created_at"), False), (("created_at",), False))


ABOUT_KEYS = ("run_id", "item_id", "task_id")
"""Keys of a payload that say what an event is about; each has an index."""


def about(key: str) -> SQL:
    """What an event says under one of ``ABOUT_KEYS``, spelled as its index spells it."""
    return SQL(f"json_extract(\"payload\", '$.{key}')")


for _key in ABOUT_KEYS:
    EventRow.add_index(SQL(f'CREATE INDEX "events_{_key}" ON "events" ({about(_key).sql})'))


class LeaseRow(Row):
    """attach_leases: who may type into a run (PAM-ATT-001)."""

    run = ForeignKeyField(RunRow, column_name="run_id", primary_key=True, on_delete="CASCADE")
    holder = TextField()
    acquired_at = UtcField()
    heartbeat_at = UtcField()
    expires_at = UtcField()

    if TYPE_CHECKING:
        run_id: str

    class Meta:
        table_name = "attach_leases"


class SpoolCursorRow(Row):
    """spool_cursors: how far each host's spool was ingested, in bytes."""

    host = ForeignKeyField(HostRow, column_name="host_id", on_delete="CASCADE")
    generation = TextField()
    offset = BigIntegerField(default=0)

    if TYPE_CHECKING:
        host_id: str

    class Meta:
        table_name = "spool_cursors"
        primary_key = CompositeKey("host", "generation")


class DeliveryRow(Row):
    """deliveries: prompts and keys to be typed into a run, and what became of them."""

    id = SequenceField()
    run = ForeignKeyField(RunRow, column_name="run_id", on_delete="CASCADE", index=True)
    attempt = IntegerField()
    kind = choice("kind", records.DELIVERY_KINDS)
    status = choice("status", records.DELIVERY_STATUSES, default="queued", index=True)
    opening = BooleanField(default=False)
    body = TextField(default="")
    keys = JsonField()
    reason = TextField(null=True)
    awaited = BooleanField(default=False)
    while_busy = BooleanField(default=False)
    actor = TextField()
    created_at = UtcField()
    typed_at = UtcField(null=True)
    settled_at = UtcField(null=True)

    if TYPE_CHECKING:
        run_id: str

    class Meta:
        table_name = "deliveries"


TABLES: tuple[type[Row], ...] = (
    ProjectRow,
    ItemRow,
    LabelRow,
    HostRow,
    RunRow,
    RunUsageRow,
    ProcessedSignalRow,
    EventRow,
    LeaseRow,
    SpoolCursorRow,
    DeliveryRow,
)
