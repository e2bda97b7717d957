"""Restarts of failed runs: what follows a failure is settled with it, in one transaction, and carried out when due.

A failed run with ``retry_at`` will be restarted; one without will not, until the operator says so. There is no state
between, so that whoever reads the row knows, and a crash of the executor loses no restart and makes none up.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import cast

from peewee import Expression

from store.clock import to_text
from store.database import Store
from store.models import RunRow
from store.records import FailureReason, Run
from store.restart_rules import outcome
from store.run_rows import NEW_ATTEMPT, end, joined, journal, record, row_of
from store.transaction import Transaction


def fail(
    tx: Transaction,
    row: RunRow,
    topic: str,
    *,
    reason: FailureReason | None = None,
    exit_code: int | None = None,
    hold: bool = False,
    facts: Mapping[str, object],
) -> None:
    """Inside a transaction: end the attempt as failed, tell so and ``facts`` under ``topic``, settle what follows.

    Without a ``reason`` it was the agent's own exit. ``hold`` says that another try would fail the same way: the run
    stays failed until the operator restarts it (FR-17). One whose stop was asked for is never restarted (FR-28).
    """
    after = outcome(row.restart_policy, reason or "exit", attempt=row.attempt, max_attempts=row.max_attempts)
    columns: dict[str, object] = {"failure_reason": reason, "exit_code": exit_code}
    told = {name: value for name, value in columns.items() if value is not None} | dict(facts)
    if hold:
        told["held"] = True
    if hold or row.stop_requested_at is not None:
        after = "final"
    if after == "restart":
        retry_at = tx.now + timedelta(seconds=tx.backoff.pause_s(row.attempt))
        columns["retry_at"], told["retry_at"] = retry_at, to_text(retry_at)
    elif after == "exhausted":
        columns |= {"failure_reason": "restart_exhausted", "last_failure_reason": reason}
    end(tx, row, "failed", **columns)
    journal(tx, row, topic, **told)
    if after == "exhausted":
        journal(tx, row, "run.restart_exhausted", attempts=row.attempt, last_failure_reason=reason, exit_code=exit_code)


def requeue(tx: Transaction, row: RunRow) -> bool:
    """Inside a transaction: failed → pending with the next attempt and a fresh window (PAM-RUN-010).

    False when another caller was faster. The reason that was is kept, and ``restart_exhausted`` is none (X-12).
    """
    was = row.last_failure_reason if row.failure_reason in (None, "restart_exhausted") else row.failure_reason
    moved = (
        RunRow.update(
            status="pending",
            attempt=row.attempt + 1,
            host=None,
            pending_since=tx.now,
            last_failure_reason=was,
            **NEW_ATTEMPT,
            # A name is taken once: a new attempt begins a conversation, unless the run was to go on with one.
            conversation_id=row.conversation_id if row.resumed_from else None,
            updated_at=tx.now,
        )
        .where(RunRow.id == row.id, RunRow.status == "failed", RunRow.attempt == row.attempt)
        .execute()
    )
    if moved:
        journal(tx, row_of(row.id), "run.requeued", last_failure_reason=was)
    return bool(moved)


def call_off(tx: Transaction, row: RunRow) -> None:
    """Inside a transaction: the operator wants no restart of this failed run."""
    RunRow.update(retry_at=None, updated_at=tx.now).where(RunRow.id == row.id).execute()
    journal(tx, row, "run.restart_called_off")


def requeue_due(store: Store, *, actor: str) -> list[Run]:
    """Requeue every failed run whose pause is over; each once, however many executors ask."""
    with store.read():
        if not RunRow.select().where(_due(store.clock(), store.backoff.max_s)).exists():
            return []
    with store.write(actor) as tx:
        due = list(joined().where(_due(tx.now, tx.backoff.max_s)).order_by(RunRow.retry_at))
        return [record(row_of(row.id)) for row in due if requeue(tx, row)]


def next_due_s(store: Store) -> float | None:
    """Seconds until the next restart is due, None when none is planned."""
    with store.read():
        first: RunRow | None = RunRow.select(RunRow.retry_at).where(_planned()).order_by(RunRow.retry_at).first()
    if first is None:
        return None
    left = cast("datetime", first.retry_at) - store.clock()
    return max(0.0, min(left.total_seconds(), store.backoff.max_s))


def _planned() -> Expression:
    return (RunRow.status == "failed") & RunRow.retry_at.is_null(False)


def _due(now: datetime, longest_s: float) -> Expression:
    """A pause is over in time, or it lies further ahead than any pause can: then the clock was set back."""
    over = (RunRow.retry_at <= now) | (RunRow.retry_at > now + timedelta(seconds=longest_s))
    return _planned() & over
