"""What a board shows of each item, read in a few queries however many cards there are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from peewee import Case, fn

from store import items, run_rows
from store.database import Store
from store.models import ItemRow, RunRow, values
from store.records import LIVE_RUN_STATUSES, Item, Run


@dataclass(frozen=True, slots=True)
class Card:
    """An item with what its card says beside the title."""

    item: Item
    newest_run: Run | None
    run_count: int
    children_done: int
    children_total: int
    """Direct children that are not cancelled."""


def cards(store: Store, project_id: str | None, *, item_ids: Sequence[str] | None = None) -> list[Card]:
    """Cards of a project (None: of all), in order; ``item_ids`` (500 at most) narrows to those."""
    with store.read():
        if item_ids is None:
            listed = items.of_project(project_id)
        else:
            query = ItemRow.select().where(ItemRow.id.in_(item_ids)).order_by(ItemRow.sort_order, ItemRow.created_at)
            if project_id is not None:
                query = query.where(ItemRow.project == project_id)
            listed = items.records_of(query)
        wanted = [item.id for item in listed] if len(listed) <= 500 else None
        newest, counted = _newest_runs(wanted), _run_counts(wanted)
        below = _children(wanted)
    return [Card(item, newest.get(item.id), counted.get(item.id, 0), *below.get(item.id, (0, 0))) for item in listed]


def _newest_runs(wanted: list[str] | None) -> dict[str, Run]:
    # A live run speaks for its item even when the clock was set back since an older one ended.
    ended = Case(None, ((RunRow.status.in_(LIVE_RUN_STATUSES), 0),), 1)
    ranked = RunRow.select(
        RunRow.id.alias("run_id"),
        fn.ROW_NUMBER()
        .over(partition_by=[RunRow.task], order_by=[ended, RunRow.created_at.desc(), RunRow.id])
        .alias("rank"),
    )
    if wanted is not None:
        ranked = ranked.where(RunRow.task.in_(wanted))
    newest = ranked.alias("ranked")
    query = run_rows.joined().join(newest, on=((newest.c.run_id == RunRow.id) & (newest.c.rank == 1)))
    return {row.task_id: run_rows.record(row) for row in query}


def _run_counts(wanted: list[str] | None) -> dict[str, int]:
    query = RunRow.select(RunRow.task, fn.COUNT(RunRow.id)).group_by(RunRow.task)
    return dict(values(query if wanted is None else query.where(RunRow.task.in_(wanted))))


def _children(wanted: list[str] | None) -> dict[str, tuple[int, int]]:
    done = fn.SUM(Case(None, ((ItemRow.status == "done", 1),), 0))
    query = (
        ItemRow.select(ItemRow.parent, done, fn.COUNT(ItemRow.id))
        .where(ItemRow.parent.is_null(False), ItemRow.status != "cancelled")
        .group_by(ItemRow.parent)
    )
    rows = values(query if wanted is None else query.where(ItemRow.parent.in_(wanted)))
    return {parent: (int(finished), int(total)) for parent, finished, total in rows}
