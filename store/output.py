"""What a run has written, told once at its end as two numbers; the text itself is never stored (PAM-EVT-016)."""

from __future__ import annotations

from datetime import timedelta

from peewee import fn

from store.database import Store
from store.models import ProcessedSignalRow, RunRow
from store.records import Run
from store.run_rows import joined, journal, once, record, row_of

TOPIC = "run.output_appended"
ENDED = ("exited", "failed", "stopped")
LOOK_BACK = timedelta(days=1)
"""Ends older than this are told by nobody any more; it keeps the first look at an old home short."""


def untold(store: Store, host_id: str) -> list[Run]:
    """Runs of a host that ended within ``LOOK_BACK`` and whose output was not told yet, the oldest end first."""
    told = ProcessedSignalRow.select().where(
        ProcessedSignalRow.run == RunRow.id,
        ProcessedSignalRow.attempt == RunRow.attempt,
        ProcessedSignalRow.kind == TOPIC,
    )
    with store.read():
        query = joined().where(
            RunRow.host == host_id,
            RunRow.status.in_(ENDED),
            RunRow.finished_at > store.clock() - LOOK_BACK,
            ~fn.EXISTS(told),
        )
        return [record(row) for row in query.order_by(RunRow.finished_at, RunRow.id)]


def tell(store: Store, run_id: str, attempt: int, size: tuple[int, int] | None, *, rotated: bool, actor: str) -> bool:
    """Journal that the attempt has left so many bytes and lines; False when that was told, or the attempt is over.

    Without a size nothing is journaled, and the attempt is not asked about again. Raises NotFound.
    """
    with store.write(actor) as tx:
        row = row_of(run_id)
        if row.attempt != attempt or row.status not in ENDED or not once(tx, row, TOPIC):
            return False
        if size is not None:
            journal(tx, row, TOPIC, bytes=size[0], lines=size[1], rotated=rotated)
        return True
