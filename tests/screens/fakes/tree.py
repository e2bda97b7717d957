"""The tree place's part of the fake model."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from store.errors import InvalidValue
from store.records import KINDS, Usage
from store.usage import SUMS, RollUp
from tests.screens.fakes.core import FakeCore


@dataclass
class FakeTree(FakeCore):
    """Implements ``screens.model.tree.TreeModel``."""

    async def amounts(self, item_ids: Collection[str]) -> Mapping[str, RollUp]:
        self.reads.append(("amounts", frozenset(item_ids)))
        return {item_id: self._rolled_up(item_id) for item_id in item_ids if item_id in self.items}

    async def reparent_item(self, item_id: str, parent_id: str | None) -> None:
        await self._verb("reparent_item", item_id, parent_id)
        subject = self._item(item_id)
        if parent_id and KINDS.index(subject.kind) < KINDS.index(self._item(parent_id).kind):
            raise InvalidValue(f"An item of kind {subject.kind} cannot stand there.")
        self.items[item_id] = replace(subject, parent_id=parent_id)
        self.happen(("work_item.reparented", {"item_id": item_id, "from": subject.parent_id, "to": parent_id}))

    def _rolled_up(self, item_id: str) -> RollUp:
        below = [item_id]
        for each in below:
            below.extend(child.id for child in self.items.values() if child.parent_id == each)
        runs = [run for run in self.runs.values() if run.task_id in below]
        told = [self.usages[run.id] for run in runs if run.id in self.usages]
        names = (*SUMS, "cost_usd")
        sums = {name: [value for usage in told if (value := getattr(usage, name)) is not None] for name in names}
        total = Usage(**{name: sum(values) if values else None for name, values in sums.items()})
        priced = sum(usage.cost_usd is not None for usage in told)
        return RollUp(total, len(runs), len(runs) - len(told), len(runs) - priced)
