"""The tree's part of the model over a real store (PAM-DATA-023, PAM-PATH-003)."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.model import StoreModel
from store import items, projects
from store.database import Store
from store.errors import InvalidValue
from store.records import Item


@pytest.fixture
def family(store: Store) -> tuple[Item, Item]:
    project = projects.add(store, "Apollo", actor="operator")
    epic = items.create(store, project.id, "Land", kind="epic", actor="operator")
    return epic, items.create(store, project.id, "Fix it", parent_id=epic.id, actor="operator")


async def test_an_item_hangs_where_it_is_put_and_not_where_it_may_not(
    model: StoreModel, store: Store, family: tuple[Item, Item]
) -> None:
    epic, task = family
    await model.reparent_item(task.id, None)
    assert items.get(store, task.id).parent_id is None
    with pytest.raises(InvalidValue):
        await model.reparent_item(epic.id, task.id)


async def test_amounts_of_items_that_are_gone_are_left_out(model: StoreModel, family: tuple[Item, Item]) -> None:
    epic, _ = family
    found = await model.amounts([epic.id, "0" * 8])
    assert set(found) == {epic.id}
    assert (found[epic.id].runs, found[epic.id].usage.cost_usd) == (0, None)


async def test_what_is_remembered_lies_in_the_home(model: StoreModel, tmp_path: Path) -> None:
    await model.remember("filters", {"mine": "@ann"})
    assert await model.recall("filters") == {"mine": "@ann"}
    assert (tmp_path / "home" / "room.json").exists()
