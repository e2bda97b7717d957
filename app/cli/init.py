"""``pam init``: makes the home."""

from __future__ import annotations

import click

from app.cli.call import Call
from app.cli.declare import command


@command("init", prints='{"home", "config", "created": […]}')
@click.pass_obj
def init(call: Call) -> None:
    """Make the home and a commented config.toml.

    Runs by itself when another command needs the home; what exists is left as it is.
    """
    from app.first_start import make_home

    store, made = make_home(call.home, actor=call.actor)
    store.close()
    created = [str(path) for path in made]
    data = {"home": str(call.home.path), "config": str(call.home.config), "created": created}
    call.emit(data, "\n".join(f"made {path}" for path in created) or f"{call.home.path} is there already.")
