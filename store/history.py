"""The journal read backwards: a page at a time, narrowed, and never as a whole however long it is.

A page is looked for in slices of ``seq``, which is the table's own order. So the first page of a million events costs
what the first of a hundred does, and a search for something rare gives up after ``LOOK`` events and says how far it
came, for the caller to go on or to let others read in between.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from peewee import Expression, ModelSelect, fn

from store.database import Store
from store.journal import COUNTED, record
from store.models import EventRow, ItemRow, ProjectRow, tuples
from store.records import Event

LOOK: Final = 50_000
"""Events that one page looks at, at most: 10 to 20 ms."""
LOOK_FOR_WORDS: Final = 10_000
"""The same where words are looked for, which costs more."""
MOST_NAMED: Final = 8
"""Items that a word finds events by, the ones changed last."""
MOST_UNREAD: Final = 1000
"""Counting goes no further."""
AT_ONCE: Final = 500
"""SQLite takes a bounded number of values in one query."""
_ABOUT: Final = ("task_id", "item_id", "project_id")
"""Keys of a payload that name an item or a project."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What narrows the journal; empty lets through everything but what only counts on."""

    topics: tuple[str, ...] = ()
    """Beginnings of topics, of which one has to match: ``run.``, ``work_item.status``."""
    without: tuple[str, ...] = ()
    """Beginnings of topics that are left out."""
    actors: tuple[str, ...] = ()
    """Beginnings of actors, of which one has to match."""
    words: tuple[str, ...] = ()
    """Each has to stand in what the event says, or in the title of the item it is about."""


@dataclass(frozen=True, slots=True)
class Page:
    """Some events, and how far was looked for them."""

    events: Sequence[Event] = ()
    """Newest first."""
    reached: int = 0
    """Everything between where the page begins and this ``seq`` was looked at."""
    more: bool = False
    """Whether there may be more beyond."""
    names: Mapping[str, str] = field(default_factory=dict)
    """Titles of items and slugs of projects that the events are about, by id; what is gone has none."""


def older(store: Store, before: int | None, wanted: Wanted, *, limit: int) -> Page:
    """The newest matching events below ``before`` (None: from the newest on)."""
    with store.read():
        first, last = _ends()
        top = last + 1 if before is None else before
        floor = max(top - _stretch(wanted), first)
        rows = _matching(wanted, EventRow.seq < top, EventRow.seq >= floor).order_by(EventRow.seq.desc())
        events = [record(row) for row in rows.limit(limit)]
        reached = events[-1].seq if len(events) == limit else floor
        return Page(events, reached, reached > first, _names(events))


def newer(store: Store, after: int, wanted: Wanted, *, limit: int) -> Page:
    """The oldest matching events above ``after``; newest first all the same."""
    with store.read():
        first, last = _ends()
        bottom = max(after, first - 1)
        ceiling = min(bottom + _stretch(wanted), last)
        rows = _matching(wanted, EventRow.seq > bottom, EventRow.seq <= ceiling).order_by(EventRow.seq)
        events = [record(row) for row in rows.limit(limit)]
        reached = events[-1].seq if len(events) == limit else ceiling
        return Page(events[::-1], reached, reached < last, _names(events))


def ends(store: Store) -> tuple[int, int]:
    """``seq`` of the oldest and of the newest event; 0 and 0 in an empty journal."""
    with store.read():
        return _ends()


def unread(store: Store, seen: int) -> int:
    """How many events there are above ``seen``, ``MOST_UNREAD`` at most, without those that only count on."""
    with store.read():
        fresh = EventRow.select(EventRow.seq).where(EventRow.seq > seen, _uncounted()).limit(MOST_UNREAD)
        return int(fresh.count())


def _ends() -> tuple[int, int]:
    # One by one: SQLite finds each at an end of the table, and both together only by reading all of it.
    first = EventRow.select(fn.MIN(EventRow.seq)).scalar()
    return int(first or 0), int(EventRow.select(fn.MAX(EventRow.seq)).scalar() or 0)


def _stretch(wanted: Wanted) -> int:
    return LOOK_FOR_WORDS if wanted.words else LOOK


def _matching(wanted: Wanted, *within: Expression) -> ModelSelect[EventRow]:
    named = _any_beginning(EventRow.topic, wanted.topics) if wanted.topics else _uncounted()
    query = EventRow.select().where(*within, named)
    if wanted.without:
        query = query.where(~_any_beginning(EventRow.topic, wanted.without))
    if wanted.actors:
        query = query.where(_any_beginning(EventRow.actor, wanted.actors))
    for word in wanted.words:
        query = query.where(_speaks_of(word))
    return query


def _uncounted() -> Expression:
    # As a function of the column, for which SQLite uses no index: the order of ``seq`` is worth more.
    return fn.SUBSTR(EventRow.topic, 1).not_in(COUNTED)


def _any_beginning(column: object, beginnings: Sequence[str]) -> Expression:
    """As a function of the column, likewise; topics and actors are written small."""
    first, *rest = (fn.SUBSTR(column, 1, len(each)) == each.lower() for each in beginnings)
    for each in rest:
        first |= each
    return first


def _speaks_of(word: str) -> Expression:
    """In the event's own facts, or in the title of its item: those are looked up first, and few of them."""
    said = _contains(EventRow.payload, word)
    titled = ItemRow.select(ItemRow.id).where(_contains(ItemRow.title, word)).order_by(ItemRow.updated_at.desc())
    for (item_id,) in tuples(titled.limit(MOST_NAMED)):
        said |= _contains(EventRow.payload, item_id)
    return said


def _contains(column: object, word: str) -> Expression:
    if word.isascii():
        return fn.INSTR(fn.LOWER(column), word.lower()) > 0
    # SQLite knows small and capital letters of ASCII only.
    return (fn.INSTR(column, word) > 0) | (fn.INSTR(column, word.lower()) > 0)


def _names(events: Sequence[Event]) -> dict[str, str]:
    wanted = {str(event.payload[key]) for event in events for key in _ABOUT if event.payload.get(key)}
    ids, found = sorted(wanted), dict[str, str]()
    for start in range(0, len(ids), AT_ONCE):
        some = ids[start : start + AT_ONCE]
        found |= dict(tuples(ItemRow.select(ItemRow.id, ItemRow.title).where(ItemRow.id.in_(some))))
        found |= dict(tuples(ProjectRow.select(ProjectRow.id, ProjectRow.slug).where(ProjectRow.id.in_(some))))
    return found
