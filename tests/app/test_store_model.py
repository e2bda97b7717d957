"""The screens' model over a real store: one view of it per answer, one write per deed."""

from __future__ import annotations

import shlex
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from app.config_file import read_config
from app.model import StoreModel
from screens.model import StartRequest
from store import board, items, journal, projects, runs
from store.database import Store
from store.errors import InvalidValue
from store.records import Item


@pytest.fixture
def item(store: Store, tmp_path: Path) -> Item:
    project = projects.add(store, "Apollo", cwd=str(tmp_path), actor="operator")
    return items.create(store, project.id, "Fix it", actor="operator")


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


async def test_a_start_in_a_directory_that_is_not_there_names_the_field_that_helps(
    model: StoreModel, store: Store, item: Item, tmp_path: Path
) -> None:
    gone = tmp_path / "gone"
    projects.edit(store, item.project_id, cwd=str(gone), actor="operator")
    with pytest.raises(InvalidValue, match=f"There is no directory {gone}. Make it, or name another under Directory."):
        await model.start_run(StartRequest(item.id, "demo", cwd=str(gone)))
    assert runs.list_all(store) == []
    run = await model.start_run(StartRequest(item.id, "demo", cwd=str(tmp_path)))
    assert run.cwd == str(tmp_path)


async def test_what_the_last_run_of_an_item_was_started_with_stands_there_again(
    model: StoreModel, item: Item, tmp_path: Path
) -> None:
    first = await model.start_choices(item.id)
    assert (first.cwd, first.arguments) == (str(tmp_path), "")
    there = tmp_path / "there"
    there.mkdir()
    await model.start_run(StartRequest(item.id, "shell", arguments=("sh", "-c", "echo 'a b'"), cwd=str(there)))
    again = await model.start_choices(item.id)
    assert (again.provider, again.cwd) == ("shell", str(there))
    assert shlex.split(again.arguments) == ["sh", "-c", "echo 'a b'"]


@pytest.mark.parametrize(("named", "trouble"), [("", ""), ("gone", "There is no directory"), ("relative", "")])
async def test_a_directory_is_doubted_only_where_it_can_be_seen(
    model: StoreModel, tmp_path: Path, named: str, trouble: str
) -> None:
    asked = named if named == "relative" else str(tmp_path / named)
    assert (await model.directory_trouble(asked)).startswith(trouble)
    assert bool(await model.directory_trouble(asked)) == bool(trouble)
    assert await model.directory_trouble("~nobody-of-this-name/x") == ""


async def test_a_theme_is_kept_in_the_config(model: StoreModel, tmp_path: Path) -> None:
    await model.remember_theme("pam-light")
    assert read_config(tmp_path / "home" / "config.toml", required=True).values["ui.theme"] == "pam-light"
