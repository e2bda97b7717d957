"""``pam migrate``: brings the database to this pam's schema."""

from __future__ import annotations

import click

from app.cli.call import Call
from app.cli.declare import command


@command("migrate", prints='{"applied": […], "version"}')
@click.pass_obj
def migrate(call: Call) -> None:
    """Bring the database to this pam's schema; other commands do so, too, as needed."""
    from store.database import apply_migrations

    names, version = apply_migrations(call.home.database)
    text = "\n".join(f"applied {name}" for name in names) or f"Nothing to do: the schema is at version {version}."
    call.emit({"applied": names, "version": version}, text)
