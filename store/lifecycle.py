"""Both state machines as tables; the only code that decides whether an edge is legal.

Work items: PAM-WI-001. Runs: PAM-RUN-001 to 012, with pending→stopped, spawning→stopped, spawning→failed and
running→failed added on purpose (a stop or a loss can come at any moment of a run's life).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from store.errors import IllegalTransition
from store.records import ItemStatus, RunStatus

_S = TypeVar("_S", bound=str)

ITEM_EDGES: Mapping[ItemStatus, tuple[ItemStatus, ...]] = {
    "todo": ("doing", "done", "cancelled"),
    "doing": ("todo", "done", "cancelled"),
    "done": ("doing", "cancelled"),
    "cancelled": ("todo",),
}

RUN_EDGES: Mapping[RunStatus, tuple[RunStatus, ...]] = {
    "pending": ("spawning", "failed", "stopped"),
    "spawning": ("running", "failed", "stopped"),
    "running": ("exited", "failed", "stopped"),
    "exited": (),
    "failed": ("pending",),
    "stopped": (),
}


def check_item(current: ItemStatus, target: str) -> ItemStatus:
    """Return ``target`` when an item may go there from ``current``; raise IllegalTransition otherwise."""
    return _check("item", ITEM_EDGES, current, target)


def check_run(current: RunStatus, target: str) -> RunStatus:
    """Return ``target`` when a run may go there from ``current``; raise IllegalTransition otherwise."""
    return _check("run", RUN_EDGES, current, target)


def _check(noun: str, edges: Mapping[_S, tuple[_S, ...]], current: _S, target: str) -> _S:
    for legal in edges[current]:
        if legal == target:
            return legal
    raise IllegalTransition(
        f"A {noun} cannot go from {current} to {target}. From {current} it can go to: {_named(edges[current])}.",
        **{"from": current, "to": target, "legal": list(edges[current])},
    )


def _named(statuses: tuple[str, ...]) -> str:
    return ", ".join(statuses) if statuses else "nowhere, it has ended"
