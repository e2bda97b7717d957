"""Who the agent's process is, beside its wrapper's: the agent is found when the wrapper is gone."""

from typing import Any

from peewee import BigIntegerField, Database, IntegerField


def up(migrator: Any, db: Database) -> None:
    """Add pid and start time; unknown for attempts that began before."""
    migrator.migrate(
        migrator.add_column("runs", "agent_pid", IntegerField(null=True)),
        migrator.add_column("runs", "agent_started", BigIntegerField(null=True)),
    )
