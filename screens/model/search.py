"""What the palette asks for: anything by a few letters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from store.search import Hit


class SearchModel(Protocol):
    """Search over everything there is, in all projects."""

    async def search(self, text: str, limit: int = 30) -> Sequence[Hit]:
        """Projects, items and runs that hold every word of ``text``, the best first."""
