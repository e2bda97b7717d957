"""What runs have used: tokens, cost and context by conversation, and the file in which a CLI writes its own."""

from typing import Any

from peewee import (
    BigIntegerField,
    CompositeKey,
    Database,
    FloatField,
    ForeignKeyField,
    IntegerField,
    Model,
    TextField,
)


class RunRow(Model):
    id = TextField(primary_key=True)

    class Meta:
        table_name = "runs"


class RunUsageRow(Model):
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
    updated_at = TextField()
    told_at = TextField(null=True)

    class Meta:
        legacy_table_names = False
        table_name = "run_usage"
        primary_key = CompositeKey("run", "attempt", "source")


def up(migrator: Any, db: Database) -> None:
    """Add the table and the column; both are unknown for what ran before."""
    migrator.migrate(migrator.add_column("runs", "transcript", TextField(null=True)))
    with db.bind_ctx([RunRow, RunUsageRow]):
        db.create_tables([RunUsageRow], safe=False)
