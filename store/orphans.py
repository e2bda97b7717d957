"""Orphans as the journal knows them: sessions that no run explains, when each was found, and what became of it.

There is no table: what was detected is what was journaled and neither removed nor forgotten since, so it outlives the
executor. A session is known by its tmux server and a pane of it, never by its name alone (PAM-ORPH-001 to 003).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import cast

from store.database import Store
from store.models import EventRow, RunRow
from store.transaction import Transaction

DETECTED, FORGOTTEN, REMOVED = "run.orphan_detected", "run.orphan_forgotten", "run.orphan_removed"


@dataclass(frozen=True, slots=True)
class Orphan:
    """A session found without a run."""

    host: str
    session: str
    server: str
    """Which tmux server it is in; pane ids mean nothing in another one."""
    panes: tuple[str, ...]
    at: datetime
    """When it was detected."""


def known(store: Store, host: str) -> dict[str, Orphan]:
    """Orphans of a host that are detected, by session name."""
    with store.read():
        return _known(host)


def detect(store: Store, host: str, session: str, server: str, panes: Sequence[str], *, actor: str) -> bool:
    """Journal an orphan, once. False when it is known already, or has a run by now."""
    with store.write(actor) as tx:
        before = _known(host).get(session)
        if _has_run(session) or (before is not None and before.server == server and set(before.panes) & set(panes)):
            return False
        _journal(tx, DETECTED, host, session, server=server, panes=list(panes))
        return True


def forget(store: Store, host: str, session: str, *, actor: str) -> bool:
    """Journal that a detected session has a run after all; should it lose it, its time begins anew."""
    with store.write(actor) as tx:
        if session not in _known(host):
            return False
        _journal(tx, FORGOTTEN, host, session)
        return True


def may_end(store: Store, orphan: Orphan) -> bool:
    """Both parts of rule 3 (PAM-TMUX-009), asked right before the end: detected by us, and still in no run."""
    with store.read():
        return _known(orphan.host).get(orphan.session) == orphan and not _has_run(orphan.session)


def note_removed(store: Store, orphan: Orphan, facts: dict[str, object], *, actor: str) -> None:
    """Journal that an orphan was ended with all that ran in it; no row changes on its account (PAM-ORPH-003)."""
    with store.write(actor) as tx:
        _journal(tx, REMOVED, orphan.host, orphan.session, **facts)


def _known(host: str) -> dict[str, Orphan]:
    found: dict[str, Orphan] = {}
    events = EventRow.select().where(EventRow.topic.in_((DETECTED, FORGOTTEN, REMOVED))).order_by(EventRow.seq)
    for event in events:
        facts = cast("dict[str, object]", event.payload)
        session = str(facts.get("session_name"))
        if facts.get("host") != host:
            continue
        if event.topic == DETECTED:
            panes = cast("list[object]", facts.get("panes") or [])
            found[session] = Orphan(host, session, str(facts.get("server")), tuple(map(str, panes)), event.created_at)
        else:
            found.pop(session, None)
    return found


def _has_run(session: str) -> bool:
    return RunRow.select().where(RunRow.session_name == session).exists()


def _journal(tx: Transaction, topic: str, host: str, session: str, **facts: object) -> None:
    # Every run.* event carries a run and an attempt (PAM-EVT-024); an orphan is what has neither.
    tx.journal(topic, run_id=None, attempt=None, host=host, session_name=session, **facts)
