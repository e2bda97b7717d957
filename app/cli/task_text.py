"""Items as people read them: a tree, a flat list, a page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from app.cli.shapes import short_ids
from app.cli.table import facts, section, table
from store.records import Item

if TYPE_CHECKING:
    from store.database import Store
    from store.records import Run, Usage
    from store.usage import RollUp

EMPTY = "No items. Add one with `pam task add TITLE --project P`."
Slugs = Mapping[str, str] | None
"""Slugs by project id, where items of several projects stand together."""


def tree_order(found: Sequence[Item]) -> Iterator[tuple[Item, int]]:
    """Items with their depth, each below its parent; one whose parent is not among them stands at the root."""
    known = {item.id for item in found}
    below: dict[str | None, list[Item]] = {}
    for item in found:
        below.setdefault(item.parent_id if item.parent_id in known else None, []).append(item)
    open_ = [(item, 0) for item in reversed(below.get(None, []))]
    while open_:
        item, depth = open_.pop()
        yield item, depth
        open_ += [(child, depth + 1) for child in reversed(below.get(item.id, []))]


def tree_list(found: Sequence[Item], slugs: Slugs) -> str:
    """Titles indented below their parents'."""
    return _list([(item, "  " * depth) for item, depth in tree_order(found)], slugs, paths=False)


def flat_list(found: Sequence[Item], slugs: Slugs) -> str:
    """One item a line, with its path."""
    return _list([(item, "") for item in found], slugs, paths=True)


def page(
    store: Store, item: Item, children: Sequence[Item], runs: Sequence[Run], used: Mapping[str, Usage], total: RollUp
) -> str:
    """Everything about one item; ``used`` is what is known of its runs, ``total`` that of all below it, too."""
    from app.cli.said import ago, run_table
    from screens import amounts
    from store import items, projects

    above = " > ".join(parent.title for parent in items.ancestors(store, item.id))
    head = facts(
        [
            (item.kind, item.title),
            ("id", item.id),
            ("project", projects.get(store, item.project_id).slug),
            ("below", above),
            ("status", item.status),
            ("assignee", item.assignee),
            ("labels", " ".join(f"#{label}" for label in item.labels)),
            ("path", item.path),
            ("tokens", amounts.all_tokens(total)),
            ("cost", amounts.all_cost(total)),
            ("created", ago(item.created_at)),
            ("changed", ago(item.updated_at)),
            ("about", item.description),
        ]
    )
    mine = run_table(runs, short_ids(run.id for run in runs), {}, used) if runs else ""
    return head + section("Below it", flat_list(children, None) if children else "") + section("Runs", mine)


def _list(found: Sequence[tuple[Item, str]], slugs: Slugs, *, paths: bool) -> str:
    short = short_ids(item.id for item, _ in found)
    heads = ["ID", "KIND", "STATUS", "ASSIGNEE", "LABELS", *(["PATH"] if paths else []), "TITLE"]
    rows = [
        [
            short(item.id),
            item.kind,
            item.status,
            item.assignee or "-",
            " ".join(item.labels) or "-",
            *([item.path] if paths else []),
            indent + item.title,
        ]
        for item, indent in found
    ]
    if slugs is not None:
        heads.insert(1, "PROJECT")
        for row, (item, _) in zip(rows, found, strict=True):
            row.insert(1, slugs.get(item.project_id, "-"))
    return table(heads, rows, empty=EMPTY)
