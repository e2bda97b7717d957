"""The tree place's part of the model."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from app.model.access import ACTOR, Access, of_one_moment
from store import moves, usage
from store.database import Store
from store.errors import NotFound
from store.usage import RollUp


class TreeParts(Access):
    """Implements ``screens.model.tree.TreeModel``."""

    async def amounts(self, item_ids: Collection[str]) -> Mapping[str, RollUp]:
        """As the protocol says."""
        return await self._reads.call(_amounts, list(item_ids))

    async def reparent_item(self, item_id: str, parent_id: str | None) -> None:
        """As the protocol says."""
        await self._writes.call(moves.reparent, item_id, parent_id, actor=ACTOR)


@of_one_moment
def _amounts(store: Store, item_ids: Sequence[str]) -> dict[str, RollUp]:
    found: dict[str, RollUp] = {}
    for item_id in item_ids:
        try:
            found[item_id] = usage.of_item(store, item_id)
        except NotFound:
            continue  # deleted since the outline was drawn; the journal says so next
    return found
