"""What runs have used of their models: tokens, cost and context, told by their CLIs, rolled up for items and projects.

A CLI counts by conversation, and a conversation may outlive an attempt, even a run: it is resumed. So there is a row
for each conversation of an attempt, and a roll-up counts every conversation once, as it was last heard of. What nobody
told is unknown: it is never counted as nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from peewee import JOIN, Expression, fn

from store.database import Store
from store.items import row_of as item_of
from store.models import ItemRow, ProcessedSignalRow, RunRow, RunUsageRow, tuples
from store.records import LIVE_RUN_STATUSES, Run, Usage
from store.run_rows import joined, journal, once, record, row_of
from store.transaction import Transaction

TOPIC = "run.usage_updated"
READ = "usage_read"
TELL_EVERY = timedelta(seconds=10)
"""How often the journal says so while an agent works; when it rests, at once."""
LOOK_BACK = timedelta(days=1)
"""Ends older than this are looked into by nobody any more."""
MOST = 2**53
"""No count of a CLI is as large; one that says so is damaged."""

WHOLE = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")
"""All tokens together: what was thought is in the output."""
SUMS = (*WHOLE, "reasoning_tokens")
"""What adds up over conversations, beside the cost."""
_FIELDS: tuple[str, ...] = Usage.__slots__


@dataclass(frozen=True, slots=True)
class RollUp:
    """What several runs have used, as far as it was told."""

    usage: Usage
    """Sums; without context and model. A sum of which nothing was told is None."""
    runs: int
    """Runs that have begun."""
    unknown: int
    """Those of which no tokens are known."""
    cost_unknown: int
    """Those of which no cost is known."""


@dataclass(frozen=True, slots=True)
class _Told:
    """One conversation as an attempt of a run had it."""

    run_id: str
    at: datetime
    usage: Usage


@dataclass(slots=True)
class _Found:
    """What the rows of some runs say together."""

    begun: set[str] = field(default_factory=set)
    counted: set[str] = field(default_factory=set)
    """Runs of which tokens are known, and below of which a cost is."""
    priced: set[str] = field(default_factory=set)
    newest: dict[tuple[str, ...], _Told] = field(default_factory=dict)

    def add(self, conversation: tuple[str, ...], told: _Told) -> None:
        """One row more."""
        if tokens(told.usage) is not None:
            self.counted.add(told.run_id)
        if told.usage.cost_usd is not None:
            self.priced.add(told.run_id)
        known = self.newest.get(conversation)
        if told.usage != Usage() and (known is None or known.at < told.at):
            self.newest[conversation] = told


def record_usage(
    store: Store,
    run_id: str,
    attempt: int,
    usage: Usage | None,
    *,
    source: str | None = None,
    offset: int | None = None,
    actor: str,
) -> bool:
    """Remember the totals of one conversation of an attempt; whether the journal has now been told of all of it.

    ``source`` names the conversation: the path of its transcript, or else its id; by default what the run has of them.
    What ``usage`` leaves open stays as it was known. ``offset`` is how far the transcript was read, in bytes. The
    journal is told as ``TELL_EVERY`` says. Raises NotFound.
    """
    with store.read():
        row = row_of(run_id)
        known = _row(run_id, attempt, _source(row, source))
        if not _changes(row, known, usage, offset, store.clock()):
            return known is None or _is_told(known)
    with store.write(actor) as tx:
        return _write(tx, row_of(run_id), attempt, usage, source, offset)


def offset_of(store: Store, run_id: str, attempt: int, source: str) -> int:
    """How far this transcript was read for the attempt, in bytes."""
    with store.read():
        known = _row(run_id, attempt, source)
        return int(known.offset) if known is not None else 0


def unread(store: Store, host_id: str) -> list[Run]:
    """Runs of a host that ended within ``LOOK_BACK`` and whose transcript was not read to its end, the oldest first."""
    done = ProcessedSignalRow.select().where(
        ProcessedSignalRow.run == RunRow.id,
        ProcessedSignalRow.attempt == RunRow.attempt,
        ProcessedSignalRow.kind == READ,
    )
    with store.read():
        query = joined().where(
            RunRow.host == host_id,
            RunRow.status.not_in(LIVE_RUN_STATUSES),
            RunRow.transcript.is_null(False),
            RunRow.finished_at > store.clock() - LOOK_BACK,
            ~fn.EXISTS(done),
        )
        return [record(row) for row in query.order_by(RunRow.finished_at, RunRow.id)]


def read_to_end(store: Store, run_id: str, attempt: int, *, actor: str) -> None:
    """The transcript of an ended attempt needs not be read again; nothing when the attempt is over. Raises NotFound."""
    with store.write(actor) as tx:
        row = row_of(run_id)
        if row.attempt == attempt and row.status not in LIVE_RUN_STATUSES:
            once(tx, row, READ)


def of_run(store: Store, run_id: str) -> Usage | None:
    """What a run has used over all of its attempts, with the context of its newest conversation; None when unknown."""
    return of_runs(store, [run_id]).get(run_id)


def of_runs(store: Store, run_ids: Sequence[str] | None = None) -> dict[str, Usage]:
    """The same of many runs, None for all; those of which nothing is known are missing."""
    which = RunRow.id.in_(run_ids) if run_ids is not None and len(run_ids) <= 500 else None
    with store.read():
        found = _read(which, by_run=True)
    by_run: dict[str, list[_Told]] = {}
    for told in found.newest.values():
        by_run.setdefault(told.run_id, []).append(told)
    return {run_id: _of_one(told) for run_id, told in by_run.items()}


def of_item(store: Store, item_id: str) -> RollUp:
    """What the runs of an item and of everything below it have used. Raises NotFound."""
    with store.read():
        path = item_of(item_id).path
        below = (ItemRow.path > path + "/") & (ItemRow.path < path + "0")
        items = ItemRow.select(ItemRow.id).where((ItemRow.id == item_id) | below)
        return _rolled_up(_read(RunRow.task.in_(items)))


def of_project(store: Store, project_id: str) -> RollUp:
    """What the runs of a project have used."""
    with store.read():
        items = ItemRow.select(ItemRow.id).where(ItemRow.project == project_id)
        return _rolled_up(_read(RunRow.task.in_(items)))


# -- writing ------------------------------------------------------------------------------------------------------


def _row(run_id: str, attempt: int, source: str) -> RunUsageRow | None:
    return RunUsageRow.get_or_none(
        RunUsageRow.run == run_id, RunUsageRow.attempt == attempt, RunUsageRow.source == source
    )


def _source(row: RunRow, source: str | None) -> str:
    return source if source is not None else row.transcript or row.conversation_id or ""


def _changes(row: RunRow, known: RunUsageRow | None, usage: Usage | None, offset: int | None, now: datetime) -> bool:
    if known is None:
        return usage is not None or offset is not None
    return _merged(known, usage) != _usage(known) or offset not in (None, known.offset) or _tells(row, known, now)


def _write(
    tx: Transaction, row: RunRow, attempt: int, usage: Usage | None, source: str | None, offset: int | None
) -> bool:
    source = _source(row, source)
    key = {"run": row.id, "attempt": attempt, "source": source}
    RunUsageRow.insert(**key, updated_at=tx.now).on_conflict_ignore().execute()
    known = RunUsageRow.get(**key)
    before, after = _usage(known), _merged(known, usage)
    for name in _FIELDS:
        setattr(known, name, getattr(after, name))
    known.updated_at = tx.now if after != before else known.updated_at
    known.offset = known.offset if offset is None else offset
    if _tells(row, known, tx.now):
        known.told_at = tx.now
        journal(tx, row, TOPIC, usage={name: value for name in _FIELDS if (value := getattr(after, name)) is not None})
    columns = {name: getattr(known, name) for name in (*_FIELDS, "offset", "updated_at", "told_at")}
    RunUsageRow.update(columns).where(
        RunUsageRow.run == row.id, RunUsageRow.attempt == attempt, RunUsageRow.source == source
    ).execute()
    return _is_told(known)


def _tells(row: RunRow, known: RunUsageRow, now: datetime) -> bool:
    """Whether the journal is told now of what it does not know yet."""
    if _is_told(known):
        return False
    told: datetime | None = known.told_at
    resting = row.activity != "working" or row.status not in LIVE_RUN_STATUSES
    return resting or told is None or now - told >= TELL_EVERY


def _is_told(known: RunUsageRow) -> bool:
    return _usage(known) == Usage() or (known.told_at is not None and known.updated_at <= known.told_at)


def _merged(known: RunUsageRow, usage: Usage | None) -> Usage:
    before = _usage(known)
    if usage is None:
        return before
    said = {name: _number(getattr(usage, name)) for name in _FIELDS if name != "model"} | {"model": _name(usage.model)}
    return replace(before, **{name: value for name, value in said.items() if value is not None})  # type: ignore[arg-type]


def _number(value: object) -> float | None:
    """What a CLI counted, if it can be: nothing below nothing, nothing without end."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return value if math.isfinite(value) and 0 <= value <= MOST else None


def _name(value: object) -> str | None:
    return " ".join(value.split())[:100] or None if isinstance(value, str) else None


# -- reading ------------------------------------------------------------------------------------------------------


def _usage(row: RunUsageRow) -> Usage:
    return Usage(**{name: getattr(row, name) for name in _FIELDS})


def _read(which: Expression | None, *, by_run: bool = False) -> _Found:
    """Inside a transaction: the runs that have begun, and each conversation once, or once for each run.

    A conversation counts as it was last heard of.
    """
    columns = [getattr(RunUsageRow, name) for name in _FIELDS]
    query = RunRow.select(
        *(RunRow.id, RunRow.attempt, RunRow.started_at),
        *(RunUsageRow.attempt.alias("of"), RunUsageRow.source, RunUsageRow.updated_at, *columns),
    ).join(RunUsageRow, JOIN.LEFT_OUTER, on=(RunUsageRow.run == RunRow.id))
    found = _Found()
    for run_id, attempt, started, of, source, at, *said in tuples(query if which is None else query.where(which)):
        if started is not None or attempt > 1 or of is not None:
            found.begun.add(run_id)
        if of is not None:
            conversation = (run_id if by_run else "", source) if source else (run_id, "", str(of))
            found.add(conversation, _Told(run_id, at, Usage(*said)))
    return found


def _of_one(told: Iterable[_Told]) -> Usage:
    by_age = sorted(told, key=lambda each: each.at)
    last = by_age[-1].usage
    summed = _sum(each.usage for each in by_age)
    return replace(summed, context_tokens=last.context_tokens, context_limit=last.context_limit, model=last.model)


def _rolled_up(found: _Found) -> RollUp:
    unknown, cost_unknown = len(found.begun - found.counted), len(found.begun - found.priced)
    return RollUp(_sum(told.usage for told in found.newest.values()), len(found.begun), unknown, cost_unknown)


def _sum(usages: Iterable[Usage]) -> Usage:
    listed = list(usages)
    sums = {name: _added(getattr(usage, name) for usage in listed) for name in (*SUMS, "cost_usd")}
    return Usage(**sums)  # type: ignore[arg-type]


def _added(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def tokens(usage: Usage) -> int | None:
    """All tokens that went in or came out, as far as they are known; None when none of them is."""
    known = [part for name in WHOLE if (part := getattr(usage, name)) is not None]
    return sum(known) if known else None
