"""What the tree place asks for."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Protocol

from store.usage import RollUp


class TreeModel(Protocol):
    """Reads and verbs of the tree place; its items are those of ``CoreModel.board``."""

    async def amounts(self, item_ids: Collection[str]) -> Mapping[str, RollUp]:
        """What each of the items and everything below it has used; those that are gone are left out."""

    async def reparent_item(self, item_id: str, parent_id: str | None) -> None:
        """Hang an item below another, or at the top level (None); raises InvalidValue where it may not stand."""
