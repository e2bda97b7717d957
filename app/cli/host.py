"""``pam host``: the machines that run sessions."""

from __future__ import annotations

from collections.abc import Sequence

import click

from app.cli.call import Call
from app.cli.declare import argument, group
from app.cli.shapes import shape, shapes
from app.cli.table import facts, table
from store.records import Host


@group("host")
def host() -> None:
    """Machines that run sessions."""


@host.command("list", prints='{"hosts": […]}')
@click.pass_obj
def list_(call: Call) -> None:
    """List hosts with what runs on them."""
    from store import hosts

    found = hosts.list_all(call.store)
    call.emit({"hosts": shapes(found)}, lambda: host_table(found))


@host.command("show", prints='{"host": {…, "active_runs"}}')
@argument("name", metavar="HOST")
@click.pass_obj
def show(call: Call, name: str) -> None:
    """Show a host."""
    from store import hosts

    found = hosts.get(call.store, name)
    call.emit({"host": shape(found)}, lambda: _page(found))


@host.command("enable", prints='{"host": {…}}')
@argument("name", metavar="HOST")
@click.pass_obj
def enable(call: Call, name: str) -> None:
    """Give it work again: online when it was seen lately, else offline."""
    from store import hosts

    window = call.settings.executor.offline_after_s
    _emit(call, hosts.enable(call.store, name, offline_after_s=window, actor=call.actor))


@host.command("disable", prints='{"host": {…}}')
@argument("name", metavar="HOST")
@click.pass_obj
def disable(call: Call, name: str) -> None:
    """Drain it: no new work, and what runs there goes on."""
    from store import hosts

    _emit(call, hosts.disable(call.store, name, actor=call.actor))


@host.command("clear-suspect", prints='{"host": {…}}')
@argument("name", metavar="HOST")
@click.pass_obj
def clear_suspect(call: Call, name: str) -> None:
    """Trust the instance that was presented last; look at the machine before you do."""
    from store import hosts

    _emit(call, hosts.clear_suspect(call.store, name, actor=call.actor))


def host_table(found: Sequence[Host]) -> str:
    """Hosts, one a line."""
    from app.cli.said import ago

    rows = [
        [
            each.name,
            "suspect" if each.instance_suspect else each.status,
            each.platform,
            each.transport,
            str(each.active_runs),
            ago(each.last_seen_at),
        ]
        for each in found
    ]
    return table(("HOST", "STATUS", "PLATFORM", "REACHED BY", "RUNS", "SEEN"), rows, empty="No hosts.")


def _emit(call: Call, found: Host) -> None:
    call.emit({"host": shape(found)}, lambda: host_table([found]))


def _page(found: Host) -> str:
    from app.cli.said import ago

    suspect = f"another instance answers for it, {ago(found.instance_flagged_at)}" if found.instance_suspect else ""
    return facts(
        [
            ("host", found.name),
            ("id", found.id),
            ("status", found.status),
            ("suspect", suspect),
            ("platform", found.platform),
            ("reached by", found.transport),
            ("target", found.ssh_target),
            ("work root", found.work_root),
            ("runs", str(found.active_runs)),
            ("seen", ago(found.last_seen_at)),
        ]
    )
