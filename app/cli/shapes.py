"""From the store's records to the JSON that scripts rely on, and to the ids that people type."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import pairwise
from operator import attrgetter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from executor.metrics import Usage
    from store.records import Applied, Event, Host, Item, Lease, Project, Run
    from store.silence import Silence

    Record = Project | Item | Run | Host | Event | Lease | Applied | Silence | Usage

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


def short_ids(ids: Iterable[str]) -> Callable[[str], str]:
    """Cuts an id of ``ids`` to the shortest prefix that is unique among them, 8 digits at least (PAM-PATH-006)."""
    known = sorted(set(ids))
    length = SHORTEST
    for one, next_one in pairwise(known):
        while one[:length] == next_one[:length]:
            length += 1
    return lambda id_: id_[:length]
