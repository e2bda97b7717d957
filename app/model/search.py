"""Search over everything: the palette's part of the model."""

from __future__ import annotations

from collections.abc import Sequence

from app.model.access import Access
from store.search import Hit, search


class SearchParts(Access):
    """Implements ``screens.model.search.SearchModel``."""

    async def search(self, text: str, limit: int = 30) -> Sequence[Hit]:
        """As the protocol says."""
        return await self._reads.call(search, text, limit=limit)
