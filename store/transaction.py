"""What a verb holds while it writes: the moment, the actor, and the pen for the journal."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from store.models import EventRow
from store.restart_rules import Backoff


@dataclass(slots=True)
class Transaction:
    """One write; everything in it happened at ``now`` and was done by ``actor``."""

    now: datetime
    actor: str
    new_id: Callable[[], str]
    backoff: Backoff
    """Pauses before restarts of runs that fail in it."""
    journaled: int = field(default=0)
    """How many events this transaction has written."""

    def journal(self, topic: str, **payload: object) -> None:
        """Append an event; it commits or vanishes with the rows beside it (PAM-SIG-006)."""
        EventRow.insert(topic=topic, actor=self.actor, payload=payload, created_at=self.now).execute()
        self.journaled += 1
