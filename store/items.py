"""Verbs that create, change and find items; moving them stands in ``moves``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from peewee import ModelSelect, fn

from store import projects, text
from store.clock import from_text
from store.database import Store
from store.errors import Conflict, InvalidValue, NotFound
from store.ids import draw, resolve, short
from store.models import ItemRow, LabelRow, RunRow, values
from store.records import KINDS, LIVE_RUN_STATUSES, Item, ItemStatus, Kind
from store.unset import UNSET, Unset

SORT_STEP = 1024
"""Gap between neighbours in ``sort_order``; a card dropped between two takes the middle."""

RUNNABLE: tuple[Kind, ...] = ("task", "subtask")
"""Kinds a run may work on (PAM-DATA-034)."""


def create(
    store: Store,
    project_id: str,
    title: str,
    *,
    kind: Kind | None = None,
    parent_id: str | None = None,
    description: str = "",
    assignee: str | None = None,
    labels: Iterable[str] = (),
    actor: str,
) -> Item:
    """Add an item at the end of its project; a task unless told otherwise (PAM-DATA-018).

    A child is never of a higher kind than its parent. Raises InvalidValue, NotFound, or ArchivedProject.
    """
    title = text.one_line(title, "title")
    words = sorted({text.label(word) for word in labels})
    with store.write(actor) as tx:
        projects.check_active(project_id, "adding an item")
        parent = row_of(parent_id) if parent_id else None
        wanted = kind or ("subtask" if parent is not None and parent.kind == "subtask" else "task")
        if parent is not None:
            check_parent(parent, project_id, wanted)
        id_ = draw(tx.new_id, ItemRow.id)
        row = ItemRow.create(
            id=id_,
            project=project_id,
            parent=parent_id,
            kind=wanted,
            title=title,
            description=text.paragraphs(description),
            assignee=text.optional_line(assignee, "assignee", limit=100),
            path=path_below(parent, id_),
            sort_order=last_sort_order(project_id) + SORT_STEP,
            created_at=tx.now,
            updated_at=tx.now,
        )
        _set_labels(id_, words)
        tx.journal(
            "work_item.created", item_id=id_, project_id=project_id, parent_id=parent_id, kind=wanted, title=title
        )
        return record(row, words)


def edit(
    store: Store,
    item_id: str,
    *,
    title: str | Unset = UNSET,
    description: str | Unset = UNSET,
    assignee: str | Unset | None = UNSET,
    kind: Kind | Unset = UNSET,
    labels: Iterable[str] | Unset = UNSET,
    actor: str,
) -> Item:
    """Change what is given and nothing else; journals ``work_item.updated`` with the names of changed fields."""
    with store.write(actor) as tx:
        row = row_of(item_id)
        wanted: dict[str, object] = {}
        if not isinstance(title, Unset):
            wanted["title"] = text.one_line(title, "title")
        if not isinstance(description, Unset):
            wanted["description"] = text.paragraphs(description)
        if not isinstance(assignee, Unset):
            wanted["assignee"] = text.optional_line(assignee, "assignee", limit=100)
        if not isinstance(kind, Unset):
            wanted["kind"] = _checked_kind(row, kind)
        changes = {field: value for field, value in wanted.items() if getattr(row, field) != value}
        fields = sorted(changes)
        if not isinstance(labels, Unset):
            words = sorted({text.label(word) for word in labels})
            if words != labels_of([item_id]).get(item_id, []):
                _set_labels(item_id, words)
                fields.append("labels")
        if fields:
            ItemRow.update(**changes, updated_at=tx.now).where(ItemRow.id == item_id).execute()
            tx.journal("work_item.updated", item_id=item_id, project_id=row.project_id, fields=fields)
        return _fresh(item_id)


def delete(store: Store, item_id: str, *, actor: str) -> list[str]:
    """Delete an item with its descendants, their runs and labels; return the ids that went.

    Raises Conflict while a run below it lives: its agent would be left without a card.
    """
    with store.write(actor) as tx:
        row = row_of(item_id)
        projects.check_active(row.project_id, "deleting an item")
        ids = [row.id, *(found.id for found in descendants(row.path))]
        live = RunRow.select().where(RunRow.task.in_(ids), RunRow.status.in_(LIVE_RUN_STATUSES)).count()
        if live:
            raise Conflict(
                f"{live} run{'s' if live > 1 else ''} below this item still live{'' if live > 1 else 's'}. "
                "Stop with `pam run stop` first; nothing was deleted.",
                live_runs=live,
            )
        # Named, because the rows are gone when the executor comes to remove what they left on their hosts.
        run_ids = [run_id for (run_id,) in values(RunRow.select(RunRow.id).where(RunRow.task.in_(ids)))]
        ItemRow.delete().where(ItemRow.id == item_id).execute()
        facts = {"project_id": row.project_id, "title": row.title, "ids": ids, "run_ids": run_ids}
        tx.journal("work_item.deleted", item_id=item_id, **facts)
        return ids


def get(store: Store, item_id: str) -> Item:
    """The item with this full id. Raises NotFound."""
    with store.read():
        return _fresh(item_id)


def find(store: Store, wanted: str) -> Item:
    """The item that an id or a prefix of 4 or more digits names. Raises NotFound or Ambiguous."""
    with store.read():
        return _fresh(resolve(ItemRow, "task", wanted))


def list_all(
    store: Store,
    project_id: str | None,
    *,
    kind: Kind | None = None,
    status: ItemStatus | None = None,
    assignee: str | None = None,
    label: str | None = None,
) -> list[Item]:
    """Items of a project (None: of all), in their order; filters narrow."""
    with store.read():
        query = ItemRow.select(*_COLUMNS)
        if project_id is not None:
            query = query.where(ItemRow.project == project_id)
        if kind is not None:
            query = query.where(ItemRow.kind == kind)
        if status is not None:
            query = query.where(ItemRow.status == status)
        if assignee is not None:
            query = query.where(fn.LOWER(ItemRow.assignee) == assignee.lower())
        if label is not None:
            tagged = LabelRow.select(LabelRow.item).where(LabelRow.name == text.label(label))
            query = query.where(ItemRow.id.in_(tagged))
        return _listed(query.order_by(ItemRow.sort_order, ItemRow.created_at))


def of_project(project_id: str | None) -> list[Item]:
    """Inside a transaction: the items of a project (None: of all), in their order."""
    query = ItemRow.select(*_COLUMNS)
    if project_id is not None:
        query = query.where(ItemRow.project == project_id)
    return _listed(query.order_by(ItemRow.sort_order, ItemRow.created_at))


def children(store: Store, item_id: str) -> list[Item]:
    """Direct children, in their order."""
    with store.read():
        return records_of(ItemRow.select().where(ItemRow.parent == item_id).order_by(ItemRow.sort_order))


def ancestors(store: Store, item_id: str) -> list[Item]:
    """From the root down to the parent."""
    found: list[ItemRow] = []
    with store.read():
        parent_id = row_of(item_id).parent_id
        while parent_id is not None:
            found.insert(0, row_of(parent_id))
            parent_id = found[0].parent_id
        return records_of(found)


def row_of(item_id: str) -> ItemRow:
    """Inside a transaction: the row. Raises NotFound."""
    row: ItemRow | None = ItemRow.get_or_none(ItemRow.id == item_id)
    if row is None:
        raise NotFound(f"There is no task {item_id!r}.", id=item_id)
    return row


def descendants(path: str) -> list[ItemRow]:
    """Inside a transaction: every item below ``path``, by a range scan over the index (PAM-DATA-041)."""
    # "0" is the character behind "/", so the range holds exactly what starts with "<path>/".
    return list(ItemRow.select().where(ItemRow.path > path + "/", ItemRow.path < path + "0"))


def path_below(parent: ItemRow | None, item_id: str) -> str:
    """The materialised path of an item under ``parent`` (PAM-PATH-001)."""
    return short(item_id) if parent is None else f"{parent.path}/{short(item_id)}"


def last_sort_order(project_id: str) -> int:
    """Inside a transaction: the greatest ``sort_order`` of a project, 0 when it is empty."""
    return int(ItemRow.select(fn.MAX(ItemRow.sort_order)).where(ItemRow.project == project_id).scalar() or 0)


def check_parent(parent: ItemRow, project_id: str, kind: Kind) -> None:
    """Raise InvalidValue when an item of this kind and project may not stand below ``parent`` (PAM-DATA-023)."""
    if parent.project_id != project_id:
        raise InvalidValue(
            "The parent is in another project. Items move within their project only.", parent_id=parent.id
        )
    if KINDS.index(kind) < KINDS.index(parent.kind):
        raise InvalidValue(
            f"An item of kind {kind} cannot stand below one of kind {parent.kind}. The order is {' > '.join(KINDS)}.",
            kind=kind,
            parent_kind=parent.kind,
        )


def labels_of(item_ids: Sequence[str] | None) -> dict[str, list[str]]:
    """Inside a transaction: labels by item, sorted; None reads them all."""
    query = LabelRow.select(LabelRow.item, LabelRow.name).order_by(LabelRow.name)
    if item_ids is not None and len(item_ids) <= 500:
        query = query.where(LabelRow.item.in_(item_ids))
    found: dict[str, list[str]] = {}
    for item_id, name in values(query):
        found.setdefault(item_id, []).append(name)
    return found


def record(row: ItemRow, labels: Iterable[str]) -> Item:
    """The frozen form of a row."""
    return Item(
        id=row.id,
        project_id=row.project_id,
        parent_id=row.parent_id,
        kind=row.kind,
        title=row.title,
        description=row.description,
        status=row.status,
        assignee=row.assignee,
        path=row.path,
        sort_order=row.sort_order,
        labels=tuple(labels),
        created_at=row.created_at,
        updated_at=row.updated_at,
    )


def records_of(rows: Iterable[ItemRow]) -> list[Item]:
    """Inside a transaction: rows with their labels."""
    listed = list(rows)
    labels = labels_of([row.id for row in listed])
    return [record(row, labels.get(row.id, ())) for row in listed]


def _fresh(item_id: str) -> Item:
    return record(row_of(item_id), labels_of([item_id]).get(item_id, ()))


def _set_labels(item_id: str, words: list[str]) -> None:
    LabelRow.delete().where(LabelRow.item == item_id).execute()
    if words:
        LabelRow.insert_many([{"item": item_id, "name": word} for word in words]).execute()


def _checked_kind(row: ItemRow, kind: Kind) -> Kind:
    if row.parent_id is not None:
        check_parent(row_of(row.parent_id), row.project_id, kind)
    for child in ItemRow.select().where(ItemRow.parent == row.id):
        if KINDS.index(child.kind) < KINDS.index(kind):
            raise InvalidValue(
                f"It has an item of kind {child.kind} below it, which cannot stand below one of kind {kind}.", kind=kind
            )
    if kind not in RUNNABLE and RunRow.select().where(RunRow.task == row.id).exists():
        raise Conflict(
            f"It has runs, and an item of kind {kind} cannot have any. Keep it a task or subtask.", kind=kind
        )
    return kind


_COLUMNS = (
    *(ItemRow.id, ItemRow.project, ItemRow.parent, ItemRow.kind, ItemRow.title, ItemRow.description, ItemRow.status),
    *(ItemRow.assignee, ItemRow.path, ItemRow.sort_order, ItemRow.created_at, ItemRow.updated_at),
)


def _listed(query: ModelSelect[ItemRow]) -> list[Item]:
    """Many items of ``_COLUMNS``, which stand as the fields of Item do."""
    rows = values(query)
    labels = labels_of([row[0] for row in rows])
    return [Item(*(*row[:10], tuple(labels.get(row[0], ())), *map(from_text, row[10:]))) for row in rows]
