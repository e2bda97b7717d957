"""The screens' model over a real store: one view of it per answer, one write per deed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from app.store_model import StoreModel, Surroundings
from executor.capture import PaneSource
from executor.settings import ExecutorSettings
from providers import catalog
from store import board, items, journal, projects, runs
from store.database import Store, open_store
from store.home import Home
from store.records import Item


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = open_store(tmp_path / "home" / "pam.db")
    yield opened
    opened.close()


@pytest.fixture
def item(store: Store, tmp_path: Path) -> Item:
    project = projects.add(store, "Apollo", cwd=str(tmp_path), actor="operator")
    return items.create(store, project.id, "Fix it", actor="operator")


@pytest.fixture
def model(store: Store, tmp_path: Path) -> Iterator[StoreModel]:
    home = Home(tmp_path / "home")
    around = Surroundings(home, ExecutorSettings(), lambda: catalog.load(home.path))
    made = StoreModel(store, around, PaneSource(around.settings, home.path))
    yield made
    made.close()


def elsewhere(store: Store, act: Callable[[], object]) -> None:
    """Do it on a connection of its own, as another process does."""

    def do() -> None:
        act()
        store.leave_thread()

    other = threading.Thread(target=do)
    other.start()
    other.join()


async def test_an_item_that_goes_while_it_is_read_is_still_whole(
    model: StoreModel, store: Store, item: Item, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing but a PamError may reach a screen: any other error would end the control room."""
    real = board.cards

    def cards(*args: object, **kwargs: object) -> object:
        elsewhere(store, lambda: items.delete(store, item.id, actor="operator"))
        monkeypatch.setattr(board, "cards", real)
        return real(*args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(board, "cards", cards)
    view = await model.item(item.id)
    assert (view.card.item, view.project.slug) == (item, "apollo")
    assert items.list_all(store, item.project_id) == []


async def test_a_run_whose_task_goes_while_it_is_read_is_still_whole(
    model: StoreModel, store: Store, item: Item, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = runs.start(store, item.id, "demo", "/", actor="operator")
    run = runs.request_stop(store, run.id, actor="operator")
    real = runs.get

    def get(*args: object, **kwargs: object) -> object:
        found = real(*args, **kwargs)  # type: ignore[arg-type]
        elsewhere(store, lambda: items.delete(store, item.id, actor="operator"))
        return found

    monkeypatch.setattr(runs, "get", get)
    view = await model.run(run.id)
    assert (view.run, view.item) == (run, item)


async def test_an_edit_is_one_write(model: StoreModel, store: Store, item: Item) -> None:
    """Title and description change together or not at all, and are told once."""
    before = journal.head(store)
    await model.edit_item(item.id, title="Fix them", description="All of them")
    edited = items.get(store, item.id)
    assert (edited.title, edited.description) == ("Fix them", "All of them")
    (event,) = journal.read(store, after=before)
    assert event.payload["fields"] == ["description", "title"]
    await model.edit_item(item.id, title="Fix it")
    assert items.get(store, item.id).description == "All of them"
