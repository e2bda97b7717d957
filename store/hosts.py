"""Verbs on hosts: registry, heartbeats, and the rules of who may be given work (PAM-HOST)."""

from __future__ import annotations

import sys
from datetime import timedelta

from peewee import fn

from store import text
from store.database import Store
from store.errors import Conflict, InvalidValue, NotFound
from store.models import HostRow, RunRow, tuples
from store.records import Host, HostStatus, Platform, Transport
from store.transaction import Transaction

LOCAL = "local"
OFFLINE_AFTER_S = 90.0
"""Three heartbeats of 30 s (PAM-HOST-004)."""

ELIGIBLE = (HostRow.status == "online") & (HostRow.instance_suspect == False)  # noqa: E712
"""``eligible`` as a condition on rows, for a check that must hold inside a transaction."""


def ensure_local(store: Store, *, actor: str) -> Host:
    """The host ``local``; made when this home is new."""
    with store.read():
        row = HostRow.get_or_none(HostRow.name == LOCAL)
        if row is not None:
            return _record(row)
    with store.write(actor) as tx:
        HostRow.insert(
            id=tx.new_id(), name=LOCAL, platform=this_platform(), created_at=tx.now, updated_at=tx.now
        ).on_conflict_ignore().execute()
        return _record(_row(LOCAL))


def add(
    store: Store,
    name: str,
    platform: Platform,
    *,
    transport: Transport = "ssh",
    ssh_target: str | None = None,
    work_root: str | None = None,
    actor: str,
) -> Host:
    """Provision a host; it stays ``registered`` until it is first seen (PAM-HOST-001, 003). Raises Conflict."""
    name = text.one_line(name, "host name", limit=60)
    if transport == "ssh" and not ssh_target:
        raise InvalidValue("A host reached by ssh needs its target, as in `user@machine`.", field="ssh_target")
    with store.write(actor) as tx:
        if HostRow.select().where(HostRow.name == name).exists():
            raise Conflict(f"There is a host {name!r} already.", name=name)
        HostRow.insert(
            id=tx.new_id(),
            name=name,
            platform=platform,
            transport=transport,
            ssh_target=ssh_target,
            work_root=work_root,
            created_at=tx.now,
            updated_at=tx.now,
        ).execute()
        tx.journal("host.added", host=name, transport=transport)
        return _record(_row(name))


def heartbeat(
    store: Store, name: str, instance_id: str, *, offline_after_s: float = OFFLINE_AFTER_S, actor: str
) -> Host:
    """The host was seen just now and calls itself ``instance_id`` (PAM-HOST-005, 008, 009, 018).

    The first instance seen is pinned. Another one is a reinstall when the pinned one was silent for longer than the
    window, else a suspect: it is flagged once and gets no new work until the operator clears it.
    """
    with store.write(actor) as tx:
        row = _row(name)
        window = timedelta(seconds=offline_after_s)
        recent = row.last_seen_at is not None and tx.now - row.last_seen_at <= window
        columns: dict[str, object] = {"last_seen_at": tx.now, "presented_instance_id": instance_id}
        columns |= _instance(tx, row, instance_id, recent=recent)
        if row.status != "disabled":
            if row.status != "online" or not recent:
                tx.journal("worker.registered", host=row.name, instance_id=instance_id)
            columns["status"] = "online"
        HostRow.update(**columns, updated_at=tx.now).where(HostRow.id == row.id).execute()
        return _record(_row(name))


def sweep_offline(store: Store, *, offline_after_s: float = OFFLINE_AFTER_S, actor: str) -> list[Host]:
    """Mark online hosts offline that were silent for longer than the window; their runs stay as they are."""
    with store.write(actor) as tx:
        silent = HostRow.select().where(
            HostRow.status == "online", HostRow.last_seen_at < tx.now - timedelta(seconds=offline_after_s)
        )
        lost = []
        for row in list(silent):
            HostRow.update(status="offline", updated_at=tx.now).where(HostRow.id == row.id).execute()
            tx.journal("worker.offline", host=row.name)
            lost.append(_record(_row(row.name)))
        return lost


def disable(store: Store, name: str, *, actor: str) -> Host:
    """Drain: no new work; runs there go on (PAM-HOST-005, 007)."""
    return _set_status(store, name, "disabled", "host.disabled", actor)


def enable(store: Store, name: str, *, offline_after_s: float = OFFLINE_AFTER_S, actor: str) -> Host:
    """Leave ``disabled``: online when seen inside the window, else offline (PAM-HOST-006)."""
    with store.read():
        row = _row(name)
    if row.status != "disabled":
        return get(store, name)
    recent = row.last_seen_at is not None and store.clock() - row.last_seen_at <= timedelta(seconds=offline_after_s)
    return _set_status(store, name, "online" if recent else "offline", "host.enabled", actor)


def clear_suspect(store: Store, name: str, *, actor: str) -> Host:
    """Trust the instance that was presented last and pin it (PAM-HOST-010). Raises Conflict when not suspect."""
    with store.write(actor) as tx:
        row = _row(name)
        if not row.instance_suspect:
            raise Conflict(f"The host {name} is not suspect; there is nothing to clear.", name=name)
        HostRow.update(
            instance_suspect=False,
            instance_flagged_at=None,
            instance_id=row.presented_instance_id,
            updated_at=tx.now,
        ).where(HostRow.id == row.id).execute()
        tx.journal("host.suspect_cleared", host=name, instance_id=row.presented_instance_id)
        return _record(_row(name))


def get(store: Store, name: str) -> Host:
    """The host with this name. Raises NotFound."""
    with store.read():
        return _record(_row(name))


def list_all(store: Store) -> list[Host]:
    """Hosts by name, with their numbers of active runs (PAM-HOST-014)."""
    with store.read():
        active = dict(
            tuples(
                RunRow.select(RunRow.host, fn.COUNT(RunRow.id))
                .where(RunRow.status.in_(("spawning", "running")))
                .group_by(RunRow.host)
            )
        )
        return [_record(row, int(active.get(row.id, 0))) for row in HostRow.select().order_by(HostRow.name)]


def eligible(host: Host) -> bool:
    """Whether new work may go there (PAM-RUN-019, PAM-HOST-015)."""
    return host.status == "online" and not host.instance_suspect


def this_platform() -> Platform:
    """``macos`` or ``linux``, of the machine this runs on."""
    return "macos" if sys.platform == "darwin" else "linux"


def _row(name: str) -> HostRow:
    row: HostRow | None = HostRow.get_or_none((HostRow.name == name) | (HostRow.id == name))
    if row is None:
        known = ", ".join(known.name for known in HostRow.select().order_by(HostRow.name))
        raise NotFound(f"There is no host {name!r}. Hosts: {known}.", name=name)
    return row


def _instance(tx: Transaction, row: HostRow, instance_id: str, *, recent: bool) -> dict[str, object]:
    if row.instance_id is None:
        return {"instance_id": instance_id}
    if row.instance_id == instance_id or row.instance_suspect:
        return {}
    if not recent:
        tx.journal("worker.instance_reinstalled", host=row.name, was=row.instance_id, instance_id=instance_id)
        return {"instance_id": instance_id}
    tx.journal("worker.instance_suspect", host=row.name, pinned=row.instance_id, presented=instance_id)
    return {"instance_suspect": True, "instance_flagged_at": tx.now}


def _set_status(store: Store, name: str, status: HostStatus, topic: str, actor: str) -> Host:
    with store.write(actor) as tx:
        row = _row(name)
        if row.status != status:
            HostRow.update(status=status, updated_at=tx.now).where(HostRow.id == row.id).execute()
            tx.journal(topic, host=row.name, status=status)
        return _record(_row(name))


def _record(row: HostRow, active_runs: int | None = None) -> Host:
    if active_runs is None:
        active_runs = RunRow.select().where(RunRow.host == row.id, RunRow.status.in_(("spawning", "running"))).count()
    return Host(
        id=row.id,
        name=row.name,
        platform=row.platform,
        transport=row.transport,
        ssh_target=row.ssh_target,
        work_root=row.work_root,
        token_fingerprint=row.token_fingerprint,
        status=row.status,
        instance_id=row.instance_id,
        instance_suspect=row.instance_suspect,
        instance_flagged_at=row.instance_flagged_at,
        last_seen_at=row.last_seen_at,
        active_runs=active_runs,
        created_at=row.created_at,
        updated_at=row.updated_at,
    )
