"""Prompts and keys that are typed into a run, and which run another one goes on with."""

from typing import Any

from peewee import (
    SQL,
    AutoField,
    BooleanField,
    Check,
    Database,
    ForeignKeyField,
    IntegerField,
    Model,
    NodeList,
    TextField,
)

KINDS = ("prompt", "keys")
STATUSES = ("queued", "delivering", "typed", "confirmed", "unconfirmed", "refused")


class SequenceField(AutoField):
    """A number that is never given out twice, not even after the newest row is gone."""

    def ddl(self, ctx: object) -> NodeList:
        return NodeList((super().ddl(ctx), SQL("AUTOINCREMENT")))


class RunRow(Model):
    id = TextField(primary_key=True)

    class Meta:
        table_name = "runs"


class DeliveryRow(Model):
    id = SequenceField()
    run = ForeignKeyField(RunRow, column_name="run_id", on_delete="CASCADE", index=True)
    attempt = IntegerField()
    kind = TextField(constraints=[Check(f"kind IN {KINDS!r}")])
    status = TextField(constraints=[Check(f"status IN {STATUSES!r}")], default="queued", index=True)
    opening = BooleanField(default=False)
    body = TextField(default="")
    keys = TextField()
    reason = TextField(null=True)
    awaited = BooleanField(default=False)
    while_busy = BooleanField(default=False)
    actor = TextField()
    created_at = TextField()
    typed_at = TextField(null=True)
    settled_at = TextField(null=True)

    class Meta:
        table_name = "deliveries"
        legacy_table_names = False


def up(migrator: Any, db: Database) -> None:
    """Make the table, and add the run that a run resumes."""
    with db.bind_ctx((RunRow, DeliveryRow)):
        db.create_tables((DeliveryRow,), safe=False)
    migrator.migrate(migrator.add_column("runs", "resumed_from", TextField(null=True)))
