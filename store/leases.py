"""The single-writer lease of a run: who may type into it (PAM-ATT-001 to 005)."""

from __future__ import annotations

from datetime import timedelta

from store import run_rows
from store.database import Store
from store.errors import LeaseHeld
from store.models import LeaseRow
from store.records import Lease
from store.transaction import Transaction

TTL_S = 300.0


def acquire(store: Store, run_id: str, holder: str, *, ttl_s: float = TTL_S, force: bool = False, actor: str) -> Lease:
    """Take the lease, or renew one's own. Raises LeaseHeld with the holder while another's has not expired.

    With ``force`` it is taken away from whoever holds it (PAM-ATT-004).
    """
    with store.write(actor) as tx:
        row = run_rows.row_of(run_id)
        held = _held(tx, run_id)
        if force and held is not None and held.holder != holder:
            LeaseRow.delete().where(LeaseRow.run == run_id).execute()
            run_rows.journal(tx, row, "run.lease_released", holder=held.holder, forced=True)
            held = None
        if held is not None and held.holder != holder:
            raise LeaseHeld(
                f"{held.holder} types into this run since {held.acquired_at:%H:%M:%S} UTC. "
                "Read along with --read-only, or take it over with `pam run release`.",
                holder=held.holder,
                acquired_at=held.acquired_at.isoformat(),
            )
        columns = {"heartbeat_at": tx.now, "expires_at": tx.now + timedelta(seconds=ttl_s)}
        if held is not None:
            LeaseRow.update(**columns).where(LeaseRow.run == run_id).execute()
        else:
            LeaseRow.insert(run=run_id, holder=holder, acquired_at=tx.now, **columns).execute()
            run_rows.journal(tx, row, "run.lease_acquired", holder=holder)
        return _record(LeaseRow.get_by_id(run_id))


def renew(store: Store, run_id: str, holder: str, *, ttl_s: float = TTL_S, actor: str) -> Lease | None:
    """Keep one's own lease for another while; None when it is not one's own any more, and then it is not taken."""
    with store.write(actor) as tx:
        held = _held(tx, run_id)
        if held is None or held.holder != holder:
            return None
        columns = {"heartbeat_at": tx.now, "expires_at": tx.now + timedelta(seconds=ttl_s)}
        LeaseRow.update(**columns).where(LeaseRow.run == run_id).execute()
        return _record(LeaseRow.get_by_id(run_id))


def release(store: Store, run_id: str, holder: str | None = None, *, actor: str) -> Lease | None:
    """Give the lease up, or take it away from whoever holds it (``holder`` None). Returns what was there."""
    with store.write(actor) as tx:
        held = _held(tx, run_id)
        if held is None or (holder is not None and held.holder != holder):
            return None
        LeaseRow.delete().where(LeaseRow.run == run_id).execute()
        run_rows.journal(tx, run_rows.row_of(run_id), "run.lease_released", holder=held.holder, forced=holder is None)
        return held


def holder_of(store: Store, run_id: str) -> Lease | None:
    """The lease in force, if any."""
    with store.read():
        row = LeaseRow.get_or_none(LeaseRow.run == run_id)
        return _record(row) if row is not None and row.expires_at > store.clock() else None


def _held(tx: Transaction, run_id: str) -> Lease | None:
    """The lease in force; one that ran out is removed and journaled."""
    row = LeaseRow.get_or_none(LeaseRow.run == run_id)
    if row is None:
        return None
    if row.expires_at > tx.now:
        return _record(row)
    LeaseRow.delete().where(LeaseRow.run == run_id).execute()
    run_rows.journal(tx, run_rows.row_of(run_id), "run.lease_released", holder=row.holder, expired=True)
    return None


def _record(row: LeaseRow) -> Lease:
    return Lease(
        run_id=row.run_id,
        holder=row.holder,
        acquired_at=row.acquired_at,
        heartbeat_at=row.heartbeat_at,
        expires_at=row.expires_at,
    )
