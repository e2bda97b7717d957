"""How much a run's agent may do unasked, by the name its provider has for it."""

from typing import Any

from peewee import Database, TextField


def up(migrator: Any, db: Database) -> None:
    """Unset for runs from before: their CLI's own default."""
    migrator.migrate(migrator.add_column("runs", "approvals", TextField(null=True)))
