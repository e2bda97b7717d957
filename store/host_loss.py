"""Gives up the runs of hosts that nobody has seen for too long (PAM-FLEET-004).

Short of that bound an offline host's runs stay as they are: its silence says nothing about them (PAM-FLEET-001, 002).
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import cast

from peewee import Expression

from store import restarts
from store.clock import to_text
from store.database import Store
from store.models import HostRow, RunRow
from store.records import Run
from store.run_rows import joined, record, row_of

BOUND_S = 86_400.0
"""T_dead (PAM-CFG-013)."""


def fail_lost(store: Store, bound_s: float = BOUND_S, *, actor: str) -> list[Run]:
    """Fail with ``host_lost`` every run of a host last seen more than ``bound_s`` seconds ago.

    Restarts come as each run's policy says. The old session may live on, unseen; that is the operator's to clean up
    (PAM-FLEET-005), and what it says later moves nothing (PAM-SIG-019).
    """
    with store.read():
        if (
            not RunRow.select()
            .join(HostRow, on=(RunRow.host == HostRow.id))
            .where(_lost(store.clock(), bound_s))
            .exists()
        ):
            return []
    with store.write(actor) as tx:
        failed = []
        for row in list(joined().where(_lost(tx.now, bound_s))):
            host = cast("HostRow", row.host)
            seen = to_text(cast("datetime", host.last_seen_at))
            detail = f"its host {host.name} was last seen at {seen}; what runs there is not known"
            restarts.fail(tx, row, "run.failed", reason="host_lost", facts={"detail": detail, "host": host.name})
            failed.append(record(row_of(row.id)))
        return failed


def _lost(now: datetime, bound_s: float) -> Expression:
    return RunRow.status.in_(("spawning", "running")) & (HostRow.last_seen_at < now - timedelta(seconds=bound_s))
