"""The item place's part of the model: fields of an item, and drafts that an editor works on."""

from __future__ import annotations

import asyncio
import os
import tempfile
from pathlib import Path

from app.model.access import ACTOR, Access
from screens.model.item import ItemChange
from store import items
from store.errors import InvalidValue, StoreUnavailable
from store.unset import UNSET


class ItemParts(Access):
    """Implements ``screens.model.item.ItemModel``."""

    async def change_item(self, item_id: str, change: ItemChange) -> None:
        """As the protocol says."""
        await self._writes.call(
            items.edit,
            item_id,
            title=UNSET if change.title is None else change.title,
            description=UNSET if change.description is None else change.description,
            assignee=UNSET if change.assignee is None else change.assignee or None,
            labels=UNSET if change.labels is None else change.labels,
            actor=ACTOR,
        )

    async def draft(self, item_id: str, text: str) -> str:
        """As the protocol says."""
        return await asyncio.to_thread(_draft, f"pam-{item_id[:8]}-", text)

    async def read_draft(self, path: str) -> str:
        """As the protocol says."""
        return await asyncio.to_thread(_read, Path(path))

    async def drop_draft(self, path: str) -> None:
        """As the protocol says."""
        await asyncio.to_thread(Path(path).unlink, missing_ok=True)


def _draft(prefix: str, text: str) -> str:
    """In a name that ends as editors know it; nobody else can read it."""
    try:
        descriptor, path = tempfile.mkstemp(prefix=prefix, suffix=".md")
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text + "\n" if text else "")
    except OSError as error:
        raise StoreUnavailable(f"No draft can be written for the editor: {error.strerror}. e edits it here.") from error
    return path


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8").strip("\n")
    except (OSError, ValueError) as error:
        raise InvalidValue(f"{path} can't be read as text: {error}. The description is as it was.") from error
