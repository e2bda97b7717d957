"""``pam provider``: the agent CLIs that pam knows, and whether they are here."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from app.cli.call import Call
from app.cli.declare import argument, group, option
from app.cli.table import facts, table
from store.errors import ProviderUnavailable

if TYPE_CHECKING:
    from providers.provider import Provider


@group("provider")
def provider() -> None:
    """The agent CLIs that pam knows."""


@provider.command("list", prints='{"providers": […]}')
@click.pass_obj
def list_(call: Call) -> None:
    """List the catalog's providers; `configured` says whether the program is here."""
    found = [_shape(each) for each in call.catalog.providers.values()]
    rows = [
        [str(each["name"]), _state(each), str(each["title"]), str(each["program"] or "-"), str(each["prompt"])]
        for each in found
    ]
    heads = ("PROVIDER", "STATE", "TITLE", "PROGRAM", "PROMPT BY")
    call.emit({"providers": found}, lambda: table(heads, rows, empty="The catalog is empty."))


@provider.command("show", prints='{"provider": {…}}')
@argument("name", metavar="PROVIDER")
@click.pass_obj
def show(call: Call, name: str) -> None:
    """Show one provider's entry."""
    catalog = call.catalog
    entry = catalog.providers.get(name)
    if entry is None:
        raise ProviderUnavailable(f"There is no provider {name!r}; known are: {', '.join(catalog.names())}.", name=name)
    data = _shape(entry)
    call.emit({"provider": data}, lambda: _page(data))


@provider.command("path", prints='{"path", "exists"}')
@click.pass_obj
def path(call: Call) -> None:
    """Print where your own entries stand, whether or not the file exists."""
    where = call.settings.catalog_path
    call.emit({"path": str(where), "exists": where.exists()}, str(where))


@provider.command("doctor", prints='{"checks": [{"name", "state": "ok|problem|na", "detail", "fix"}]}')
@argument("name", metavar="[PROVIDER]", required=False)
@option("--smoke", is_flag=True, help="Start each program once against a stub model, in a home of its own.")
@click.pass_obj
def doctor(call: Call, name: str | None, smoke: bool) -> int:
    """Check how agents of all providers, or of one, would start; exit 1 on a problem.

    Looks at program, version, key or login, gateway, hooks, and what a program would ask in this directory.
    """
    from app.cli.doctor import report
    from app.cli.provider_checks import provider_checks

    return report(call, provider_checks(call, name, with_smoke=smoke))


def _shape(entry: Provider) -> dict[str, object]:
    program = _program(entry)
    return {
        "name": entry.name,
        "title": entry.title,
        "enabled": entry.enabled,
        "configured": entry.bin is None or program is not None,
        "program": program or entry.bin,
        "prompt": entry.prompt,
        "takes_model": entry.takes_model,
        "versions": entry.versions,
        "approvals": sorted(entry.approvals),
        "keys": list(entry.keys),
        "install": entry.install,
    }


def _program(entry: Provider) -> str | None:
    from providers.program import find, machine_values, named_program

    named = named_program(entry, machine_values(os.environ))
    try:
        return find(entry, named, os.environ, Path("/")) if named else None
    except ProviderUnavailable:
        return None


def _state(each: dict[str, object]) -> str:
    if not each["enabled"]:
        return "disabled"
    return "ok" if each["configured"] else "not installed"


def _page(each: dict[str, object]) -> str:
    def words(value: object) -> str:
        return ", ".join(map(str, value)) if isinstance(value, list) else str(value)

    pairs = [(name.replace("_", " "), words(value)) for name, value in each.items() if value not in (None, "", [])]
    return facts(pairs)
