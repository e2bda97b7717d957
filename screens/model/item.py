"""What the page of an item asks for beside the item itself: changes of its fields, and a draft for the editor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class ItemChange:
    """What becomes of an item; None leaves a field as it is."""

    title: str | None = None
    description: str | None = None
    assignee: str | None = None
    """Empty: nobody."""
    labels: Sequence[str] | None = None


class ItemModel(Protocol):
    """Verbs of the item place."""

    async def change_item(self, item_id: str, change: ItemChange) -> None:
        """Change what is given; raises InvalidValue."""

    async def draft(self, item_id: str, text: str) -> str:
        """A file of the operator's own with a text in it, for an editor; its path."""

    async def read_draft(self, path: str) -> str:
        """What stands in a draft now; raises InvalidValue where that is no text."""

    async def drop_draft(self, path: str) -> None:
        """It was taken, or is not wanted any more."""
