"""Silences of agents: told in the journal when they grow long, found there by whoever shows them.

A silence is a hint and never an end (PAM-COMP-004): an agent that thinks and one that hangs print the same. It stands
in the journal alone: ``run.silent`` when it has lasted, ``run.silence_ended`` when output comes again, or the agent
says that it waits for the operator.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal, cast

from store.clock import from_text, to_text
from store.database import Store
from store.models import EventRow, HostRow, RunRow, tuples
from store.run_rows import ask_to_stop, journal, row_of

SilenceLevel = Literal["idle", "silent"]
"""``idle`` is a hint that the agent may be done; ``silent`` has lasted so long that it may hang (PAM-FLEET-003)."""

HUNG = "hung"
"""Why a silent run is asked to stop (rulings X-16)."""

BEGAN, ENDED = "run.silent", "run.silence_ended"


@dataclass(frozen=True, slots=True)
class Silence:
    """A running agent that has printed nothing for a while."""

    run_id: str
    attempt: int
    level: SilenceLevel
    since: datetime


def tell(
    store: Store,
    run_id: str,
    attempt: int,
    level: SilenceLevel,
    silent_s: float,
    *,
    heard_within_s: float,
    stop: bool = False,
    actor: str,
) -> bool:
    """Journal that a running attempt has been silent for ``silent_s``; with ``stop`` also ask it to stop as hung.

    False, and nothing is written, when the attempt does not run any more or its host was not heard of within the last
    ``heard_within_s`` seconds: the silence of a host says nothing about its agents (PAM-FLEET-002, 003).
    """
    with store.write(actor) as tx:
        row = row_of(run_id)
        host: HostRow | None = row.host
        if row.status != "running" or row.attempt != attempt or host is None or host.last_seen_at is None:
            return False
        if cast("datetime", host.last_seen_at) < tx.now - timedelta(seconds=heard_within_s):
            return False
        since = tx.now - timedelta(seconds=silent_s)
        journal(tx, row, BEGAN, level=level, since=to_text(since), silent_s=round(silent_s))
        if stop:
            ask_to_stop(tx, row, reason=HUNG, silent_s=round(silent_s))
        return True


def ended(store: Store, run_id: str, attempt: int, *, actor: str) -> None:
    """Journal that a silence which was told is over; nothing when the attempt does not run any more."""
    with store.write(actor) as tx:
        row = row_of(run_id)
        if row.status == "running" and row.attempt == attempt:
            journal(tx, row, ENDED)


def current(store: Store) -> Mapping[str, Silence]:
    """The silences that last, by run id."""
    with store.read():
        running = {
            run_id: (attempt, started_at)
            for run_id, attempt, started_at in tuples(
                RunRow.select(RunRow.id, RunRow.attempt, RunRow.started_at).where(RunRow.status == "running")
            )
        }
        if not running:
            return {}
        oldest = min(started_at for _, started_at in running.values())
        told = EventRow.select().where(EventRow.topic.in_((BEGAN, ENDED)), EventRow.created_at >= oldest)
        silences: dict[str, Silence] = {}
        for event in told.order_by(EventRow.seq):
            facts = cast("dict[str, str]", event.payload)
            run_id, attempt = facts["run_id"], int(facts["attempt"])
            if event.topic == ENDED:
                silences.pop(run_id, None)
            elif run_id in running and running[run_id][0] == attempt:
                level: SilenceLevel = "silent" if facts["level"] == "silent" else "idle"
                silences[run_id] = Silence(run_id, attempt, level, from_text(facts["since"]))
        return silences
