"""Asking the executor to reconcile now, and its answer: two events, so that any process can ask and read.

An answer says up to which event it looked, so it answers every request before that one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from peewee import fn

from store import hosts
from store.database import Store
from store.models import EventRow
from store.records import Event

REQUESTED, RECONCILED = "host.reconcile_requested", "host.reconciled"

LONGEST_PLAN = 300
"""Steps that an answer holds; a longer plan says how many it leaves out."""


def request(store: Store, host: str | None, *, actor: str) -> int:
    """Ask for one host, or all; returns the number of the request. Raises NotFound."""
    if host is not None:
        host = hosts.get(store, host).name
    with store.write(actor) as tx:
        tx.journal(REQUESTED, host=host)
        return int(EventRow.select(fn.MAX(EventRow.seq)).scalar())


def asked(store: Store, host: str, *, after: int) -> int:
    """The newest request for this host behind ``after``, as its number; 0 without one."""
    with store.read():
        query = EventRow.select().where(EventRow.topic == REQUESTED, EventRow.seq > after).order_by(EventRow.seq.desc())
        wanted = (event.seq for event in query if cast("dict[str, object]", event.payload).get("host") in (None, host))
        return next(wanted, 0)


def answered(store: Store, host: str) -> int:
    """The newest request that this host has answered."""
    with store.read():
        query = EventRow.select().where(EventRow.topic == RECONCILED).order_by(EventRow.seq.desc())
        for event in query:
            facts = cast("dict[str, object]", event.payload)
            if facts.get("host") == host:
                return int(cast("int", facts.get("answers") or 0))
        return 0


def answer(store: Store, host: str, plan: Sequence[dict[str, object]], *, kept: int, request: int, actor: str) -> None:
    """Journal what was done; ``request`` is the newest request that was read before the host was looked at."""
    with store.write(actor) as tx:
        left_out = max(0, len(plan) - LONGEST_PLAN)
        told = {"plan": list(plan[:LONGEST_PLAN]), "left_out": left_out, "kept": kept}
        tx.journal(RECONCILED, host=host, answers=request, **told)


def is_answer(event: Event, request: int) -> bool:
    """Whether this event answers the request."""
    answers = event.payload.get("answers")
    return event.topic == RECONCILED and isinstance(answers, int) and answers >= request
