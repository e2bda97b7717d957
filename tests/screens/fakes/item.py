"""The item place's part of the fake model."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from screens.model.item import ItemChange
from tests.screens.fakes.core import FakeCore


@dataclass
class FakeItem(FakeCore):
    """Implements ``screens.model.item.ItemModel``; drafts are kept in memory."""

    drafts: dict[str, str] = field(default_factory=dict)

    async def change_item(self, item_id: str, change: ItemChange) -> None:
        await self._verb("change_item", item_id, change)
        subject = self._item(item_id)
        self.items[item_id] = replace(
            subject,
            title=subject.title if change.title is None else change.title,
            description=subject.description if change.description is None else change.description,
            assignee=subject.assignee if change.assignee is None else change.assignee or None,
            labels=subject.labels if change.labels is None else tuple(change.labels),
        )
        self.happen(("work_item.updated", {"item_id": item_id, "fields": ["title"]}))

    async def draft(self, item_id: str, text: str) -> str:
        path = f"/tmp/pam-{item_id[:8]}.md"
        self.drafts[path] = text
        return path

    async def read_draft(self, path: str) -> str:
        return self.drafts[path].strip("\n")

    async def drop_draft(self, path: str) -> None:
        self.drafts.pop(path)
