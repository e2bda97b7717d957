"""What may be left on a host of runs that are over there: what reconciling asks the store, and what it notes in it."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from peewee import fn

from store.database import Store
from store.models import ProcessedSignalRow, RunRow
from store.records import Run
from store.run_rows import joined, journal, once, record, row_of

FLAG = "run.alive_after_end"
"""The run has ended in the store, and yet its agent lives. Told once an attempt; nobody is ended for it."""

REMOVED = "run.session_removed"
"""A session that carried a run's name, but was not the run's present one, was ended with all that ran in it."""

KNOWN_AT_ONCE = 500
"""SQLite takes a bounded number of values in one query."""


def of_sessions(store: Store, sessions: Collection[str]) -> list[Run]:
    """The runs that sessions of these names belong to, on whatever host they are now."""
    names = sorted(sessions)
    found: list[Run] = []
    with store.read():
        for start in range(0, len(names), KNOWN_AT_ONCE):
            query = joined().where(RunRow.session_name.in_(names[start : start + KNOWN_AT_ONCE]))
            found += [record(row) for row in query]
    return found


def unverified_stops(store: Store, host_id: str) -> list[Run]:
    """Stopped runs whose agent reported its end before anybody saw that all of its tree is gone (rulings X-56)."""
    verified = ProcessedSignalRow.select().where(
        ProcessedSignalRow.run == RunRow.id,
        ProcessedSignalRow.attempt == RunRow.attempt,
        ProcessedSignalRow.kind == "stopped",
    )
    with store.read():
        query = joined().where(
            RunRow.host == host_id,
            RunRow.status == "stopped",
            RunRow.stop_requested_at.is_null(False),
            ~fn.EXISTS(verified),
        )
        return [record(row) for row in query]


def given_up(store: Store, host_id: str) -> list[Run]:
    """Runs that ended without a report of their agent's exit though the agent is known: it may live on."""
    with store.read():
        query = joined().where(
            RunRow.host == host_id,
            RunRow.status.in_(("failed", "stopped")),
            RunRow.exit_code.is_null(),
            RunRow.agent_pid.is_null(False),
        )
        return [record(row) for row in query]


def flagged(store: Store, run_ids: Collection[str]) -> set[str]:
    """Those of the runs whose present attempt was flagged as alive after its end."""
    if not run_ids:
        return set()
    told = ProcessedSignalRow.select().where(
        ProcessedSignalRow.run == RunRow.id,
        ProcessedSignalRow.attempt == RunRow.attempt,
        ProcessedSignalRow.kind == FLAG,
    )
    with store.read():
        query = RunRow.select(RunRow.id).where(RunRow.id.in_(list(run_ids)), fn.EXISTS(told))
        return {row.id for row in query}


def flag_alive(store: Store, run_id: str, attempt: int, facts: Mapping[str, object], *, actor: str) -> bool:
    """Journal, once for an ended attempt, that its agent lives (PAM-LIVE-009). False when told or over already."""
    with store.write(actor) as tx:
        row = row_of(run_id)
        if row.attempt != attempt or record(row).live or not once(tx, row, FLAG):
            return False
        journal(tx, row, FLAG, status=row.status, failure_reason=row.failure_reason, **facts)
        return True


def note_removed(store: Store, run_id: str, facts: Mapping[str, object], *, actor: str) -> None:
    """Journal that a session under this run's name, not its present one, was ended; ``facts`` say which and why."""
    with store.write(actor) as tx:
        journal(tx, row_of(run_id), REMOVED, **facts)
