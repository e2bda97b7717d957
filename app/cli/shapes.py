"""From the store's records to the JSON that scripts rely on, and to the ids that people type."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from operator import attrgetter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from executor.metrics import Usage
    from store.records import Applied, Delivery, Event, Host, Item, Lease, Project, Run
    from store.records import Usage as Tokens
    from store.silence import Silence
    from store.usage import RollUp

    Record = Project | Item | Run | Host | Event | Lease | Applied | Delivery | Silence | Usage | Tokens

Shape = dict[str, object]
SHORTEST = 8


def shapes(records: Iterable[Record]) -> list[Shape]:
    """Each record with all of its fields by name, in their order; times stay times for the encoder."""
    made: list[Shape] = []
    fields: tuple[str, ...] = ()
    read: Callable[[object], tuple[object, ...]] | None = None
    for record in records:
        if read is None:
            fields = type(record).__slots__
            read = attrgetter(*fields)
        made.append(dict(zip(fields, read(record), strict=True)))
    return made


def shape(record: Record) -> Shape:
    """One record, likewise."""
    return shapes([record])[0]


def with_tokens(runs: Sequence[Run], used: Mapping[str, Tokens]) -> list[Shape]:
    """Runs, each with what it has used of its model, ``null`` where nothing is known."""
    made = shapes(runs)
    for run, each in zip(runs, made, strict=True):
        each["tokens"] = shape(used[run.id]) if run.id in used else None
    return made


def summed(total: RollUp) -> Shape:
    """What several runs have used; ``null`` is unknown, and how many runs are is told beside it."""
    counts = shape(total.usage)
    sums = {name: count for name, count in counts.items() if name == "cost_usd" or name.endswith("_tokens")}
    sums.pop("context_tokens", None)
    return {**sums, "runs": total.runs, "runs_unknown": total.unknown, "runs_without_cost": total.cost_unknown}


def short_ids(ids: Iterable[str]) -> Callable[[str], str]:
    """Cuts an id of ``ids`` to the shortest prefix that is unique among them, 8 digits at least (PAM-PATH-006)."""
    known = sorted(set(ids))
    length = SHORTEST
    for one, next_one in pairwise(known):
        while one[:length] == next_one[:length]:
            length += 1
    return lambda id_: id_[:length]
