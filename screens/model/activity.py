"""What the activity place asks for."""

from __future__ import annotations

from typing import Protocol

from store.history import Page, Wanted


class ActivityModel(Protocol):
    """The journal by pages, and how far the operator has looked at it."""

    async def older_events(self, before: int | None, wanted: Wanted, limit: int) -> Page:
        """The newest matching events below a ``seq`` (None: from the newest on), as far as one look reaches."""

    async def newer_events(self, after: int, wanted: Wanted, limit: int) -> Page:
        """The oldest matching events above a ``seq``, as far as one look reaches; newest first."""

    async def journal_ends(self) -> tuple[int, int]:
        """``seq`` of the oldest and of the newest event."""

    async def saw_events(self, seq: int) -> None:
        """The operator has looked at everything up to ``seq``: ``HeaderFacts.unread`` counts from there."""
