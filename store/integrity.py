"""Looks for rows that no verb can have written, and says so in the journal; it repairs nothing (PAM-DATA-035)."""

from __future__ import annotations

from collections.abc import Iterator

from peewee import fn

from store import items
from store.database import Store
from store.models import EventRow, ItemRow, RunRow, tuples

TOPIC = "run.integrity_anomaly"

Found = tuple[str, str]
"""A run's id and what is wrong with it."""


def sweep(store: Store, *, actor: str) -> list[str]:
    """Journal every fault of a run, once each; return the ids of runs with new ones.

    A run of an item that cannot have runs, one at work on no host, one on a host while it waits for one, one whose
    session bears another name than its id gives.
    """
    with store.read():
        if not _new():
            return []
    with store.write(actor) as tx:
        found = _new()
        for run_id, anomaly in found:
            row = RunRow.select(RunRow, ItemRow).join(ItemRow).where(RunRow.id == run_id).get()
            facts = {"run_id": row.id, "attempt": row.attempt, "task_id": row.task_id, "kind": row.task.kind}
            tx.journal(TOPIC, **facts, anomaly=anomaly, status=row.status, session_name=row.session_name)
        return sorted({run_id for run_id, _ in found})


def _new() -> list[Found]:
    """Inside a transaction: faults that were not told yet."""
    faults = list(_faults())
    if not faults:
        return []
    about = fn.json_extract(EventRow.payload, "$.run_id"), fn.json_extract(EventRow.payload, "$.anomaly")
    told = set(tuples(EventRow.select(*about).where(EventRow.topic == TOPIC)))
    return [fault for fault in faults if fault not in told]


def _faults() -> Iterator[Found]:
    rules = {
        "runs_on_wrong_kind": ItemRow.kind.not_in(items.RUNNABLE),
        "at_work_without_host": RunRow.status.in_(("spawning", "running")) & RunRow.host.is_null(),
        "waits_on_a_host": (RunRow.status == "pending") & RunRow.host.is_null(False),
        "foreign_session_name": fn.SUBSTR(RunRow.session_name, 5) != fn.SUBSTR(RunRow.id, 1, 8),
    }
    for anomaly, rule in rules.items():
        for (run_id,) in tuples(RunRow.select(RunRow.id).join(ItemRow).where(rule)):
            yield run_id, anomaly
