"""Looks for rows that no verb can have written, and says so in the journal; it repairs nothing (PAM-DATA-035)."""

from __future__ import annotations

from peewee import fn

from store import items
from store.database import Store
from store.models import EventRow, ItemRow, RunRow, tuples

TOPIC = "run.integrity_anomaly"


def sweep(store: Store, *, actor: str) -> list[str]:
    """Journal every run that points at an item which cannot have runs, once each; return the new ones' ids."""
    with store.write(actor) as tx:
        told = EventRow.select(fn.json_extract(EventRow.payload, "$.run_id")).where(EventRow.topic == TOPIC)
        known = {run_id for (run_id,) in tuples(told)}
        query = RunRow.select(RunRow, ItemRow).join(ItemRow).where(ItemRow.kind.not_in(items.RUNNABLE))
        found = [row for row in query if row.id not in known]
        for row in found:
            tx.journal(TOPIC, run_id=row.id, attempt=row.attempt, task_id=row.task_id, kind=row.task.kind)
        return [row.id for row in found]
