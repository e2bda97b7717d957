"""Moving items: along the board by status, in order, and to another parent."""

from __future__ import annotations

from typing import Literal

from store import items, projects
from store.database import Store
from store.errors import InvalidValue
from store.lifecycle import check_item
from store.models import ItemRow, tuples
from store.records import Item, ItemStatus
from store.transaction import Transaction

Confidence = Literal["certain", "likely", "unsure"]


def move(store: Store, item_id: str, status: ItemStatus, *, confidence: Confidence | None = None, actor: str) -> Item:
    """Change an item's status along a legal edge (PAM-WI-001, 006); to the status it has is no change.

    Cancelling takes every descendant that is not done along (PAM-WI-003). Raises IllegalTransition.
    """
    with store.write(actor) as tx:
        row = items.row_of(item_id)
        if row.status != status:
            set_status(tx, row, status, confidence=confidence)
    return items.get(store, item_id)


def set_status(tx: Transaction, row: ItemRow, status: ItemStatus, *, confidence: Confidence | None = None) -> None:
    """Inside a transaction: the move itself, with its cascade and its events."""
    check_item(row.status, status)
    extra: dict[str, object] = {"confidence": confidence} if confidence else {}
    _write_status(tx, row, status, **extra)
    if status == "cancelled":
        for below in items.descendants(row.path):
            if below.status not in ("done", "cancelled"):
                _write_status(tx, below, "cancelled", cascade_from=row.id)


def reorder(store: Store, item_id: str, *, before: str | None = None, after: str | None = None, actor: str) -> Item:
    """Put an item right before or after another of the same project (PAM-WI-010). Give exactly one of the two."""
    if (before is None) == (after is None):
        raise InvalidValue("Give either the item to stand before or the one to stand after.")
    with store.write(actor) as tx:
        row, anchor = items.row_of(item_id), items.row_of(before or after or "")
        projects.check_active(row.project_id, "reordering")
        if anchor.project_id != row.project_id:
            raise InvalidValue("The two items are in different projects; order is kept within a project.")
        if anchor.id == row.id:
            raise InvalidValue("An item cannot stand before or after itself.")
        place = _gap(row, anchor, ahead=before is not None)
        ItemRow.update(sort_order=place, updated_at=tx.now).where(ItemRow.id == row.id).execute()
        tx.journal("work_item.updated", item_id=row.id, project_id=row.project_id, fields=["sort_order"])
    return items.get(store, item_id)


def reparent(store: Store, item_id: str, parent_id: str | None, *, actor: str) -> Item:
    """Hang an item below another, or at the root (None), and rewrite the paths below it (PAM-PATH-003, 008).

    Raises InvalidValue for another project, a higher kind, or a place inside its own subtree (PAM-DATA-023, 024).
    """
    with store.write(actor) as tx:
        row = items.row_of(item_id)
        projects.check_active(row.project_id, "moving an item")
        parent = items.row_of(parent_id) if parent_id else None
        if parent is not None:
            items.check_parent(parent, row.project_id, row.kind)
            if row.id in _line_of(parent):
                raise InvalidValue("An item cannot move below itself or one of its own descendants.", cycle=True)
        if row.parent_id != parent_id:
            _rehang(tx, row, parent)
    return items.get(store, item_id)


def _write_status(tx: Transaction, row: ItemRow, status: ItemStatus, **extra: object) -> None:
    ItemRow.update(status=status, updated_at=tx.now).where(ItemRow.id == row.id).execute()
    payload = {"item_id": row.id, "project_id": row.project_id, "from": row.status, "to": status, **extra}
    tx.journal("work_item.status_changed", **payload)


def _gap(row: ItemRow, anchor: ItemRow, *, ahead: bool) -> int:
    """A free ``sort_order`` next to ``anchor``; makes room when neighbours stand too close."""
    others = ItemRow.select().where(ItemRow.project == row.project_id, ItemRow.id != row.id)
    order = list(others.order_by(ItemRow.sort_order, ItemRow.created_at))
    index = next(position for position, other in enumerate(order) if other.id == anchor.id) + (0 if ahead else 1)
    low = order[index - 1].sort_order if index else order[0].sort_order - 2 * items.SORT_STEP
    high = order[index].sort_order if index < len(order) else low + 2 * items.SORT_STEP
    if high - low > 1:
        return int((low + high) // 2)
    for position, other in enumerate(order):
        spread = (position + 1 + (position >= index)) * items.SORT_STEP
        ItemRow.update(sort_order=spread).where(ItemRow.id == other.id).execute()
    return (index + 1) * items.SORT_STEP


def _line_of(row: ItemRow) -> set[str]:
    """The item and its ancestors, by the live links: a path is no identity (PAM-DATA-042, PAM-PATH-005)."""
    above = ItemRow.alias()
    start = ItemRow.select(ItemRow.id, ItemRow.parent).where(ItemRow.id == row.id).cte("line", recursive=True)
    line = start.union(above.select(above.id, above.parent).join(start, on=(above.id == start.c.parent_id)))
    query = ItemRow.select(ItemRow.id).join(line, on=(ItemRow.id == line.c.id)).with_cte(line)
    return {id_ for (id_,) in tuples(query)}


def _rehang(tx: Transaction, row: ItemRow, parent: ItemRow | None) -> None:
    below = items.descendants(row.path)
    path = items.path_below(parent, row.id)
    for other in below:
        ItemRow.update(path=path + other.path[len(row.path) :]).where(ItemRow.id == other.id).execute()
    parent_id = parent.id if parent is not None else None
    ItemRow.update(parent=parent_id, path=path, updated_at=tx.now).where(ItemRow.id == row.id).execute()
    payload = {"item_id": row.id, "project_id": row.project_id, "from": row.parent_id, "to": parent_id}
    tx.journal("work_item.reparented", **payload)
