"""Much of everything, written in one go: items, ended runs and events by the thousand, for large homes."""

from __future__ import annotations

import json
import sqlite3
import uuid
from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import cast

from store.clock import to_text
from store.database import Store
from store.records import ItemStatus

_ITEM = "INSERT INTO work_items (id, project_id, kind, title, description, status, assignee, path, sort_order, \
created_at, updated_at) VALUES (?, ?, 'task', ?, ?, ?, ?, ?, ?, ?, ?)"
_LABEL = "INSERT INTO labels (item_id, name) VALUES (?, ?)"
_RUN = "INSERT INTO runs (id, task_id, host_id, provider, session_name, status, attempt, max_attempts, \
restart_policy, pending_since, cwd, args, exit_code, activity, activity_source, activity_at, started_at, finished_at, \
created_at, updated_at) VALUES (?, ?, (SELECT id FROM hosts WHERE name = 'local'), 'claude', ?, 'exited', 1, 3, \
'infrastructure', ?, '/', '[]', 0, 'idle', 'hook:claude', ?, ?, ?, ?, ?)"
_EVENT = "INSERT INTO events (topic, actor, payload, created_at) VALUES (?, ?, ?, ?)"
_PEOPLE = ("mara", "codex", "claude", None)
_LABELS = ("api", "billing", "tests", "docs")
_FIRST = 1_000_000
"""Order of the first one: below everything that is made by the store's own verbs."""


def fill(store: Store, project_id: str, columns: dict[ItemStatus, int], *, runs: int = 0, events: int = 0) -> None:
    """Add to a project so many items in each column, ended runs of the first ones, and events about all of them."""
    statuses = [status for status, count in columns.items() for _ in range(count)]
    ids = [str(uuid.uuid4()) for _ in statuses]
    said = to_text(store.clock() - timedelta(days=2))
    with store.write("operator"):
        connection = cast("sqlite3.Connection", store._database.connection())  # type: ignore[no-untyped-call]
        connection.executemany(_ITEM, _items(project_id, ids, statuses, said))
        connection.executemany(_LABEL, ((id_, _LABELS[n % 4]) for n, id_ in enumerate(ids)))
        connection.executemany(_RUN, _runs(ids[:runs], said))
        connection.executemany(_EVENT, _events(project_id, ids, events, said))


def title(number: int) -> str:
    """Of the item with this place among those that ``fill`` made."""
    return f"Card {number:05} of a long backlog"


def _items(project: str, ids: Sequence[str], statuses: Sequence[str], at: str) -> Iterator[tuple[object, ...]]:
    for number, (id_, status) in enumerate(zip(ids, statuses, strict=True)):
        order = _FIRST + number * 1024
        yield (
            id_,
            project,
            title(number),
            "What is to be done.\n" * 5,
            status,
            _PEOPLE[number % 4],
            id_[:8],
            order,
            at,
            at,
        )


def _runs(tasks: Sequence[str], at: str) -> Iterator[tuple[object, ...]]:
    for task in tasks:
        id_ = str(uuid.uuid4())
        yield id_, task, f"pam-{id_[:8]}", at, at, at, at, at, at


def _events(project: str, ids: Sequence[str], count: int, at: str) -> Iterator[tuple[object, ...]]:
    for number in range(count):
        payload = {"item_id": ids[number % len(ids)], "project_id": project, "fields": ["title"]}
        yield "work_item.updated", _PEOPLE[number % 3], json.dumps(payload), at
