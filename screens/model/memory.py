"""What the control room remembers of itself between two starts: filters by name, what was folded and looked at."""

from __future__ import annotations

from typing import Protocol


class MemoryModel(Protocol):
    """Values by key, kept in the home: text, numbers, truth values, None, and lists and mappings of these."""

    async def recall(self, key: str) -> object | None:
        """What was remembered last under ``key``, by any control room of this home; None when there is nothing.

        What comes back was read from a file that anybody may have written: look at it before you trust its shape.
        """

    async def remember(self, key: str, value: object) -> None:
        """Keep ``value`` under ``key``; None forgets it. Raises StoreUnavailable where the home can't be written."""
