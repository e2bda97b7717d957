"""What is typed ahead acts where it was meant to, and nowhere else."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest

from app.control_room import ControlRoom
from screens import keys_in_order
from screens.board import BoardScreen
from screens.dialogs import Confirm, NewProject, ProjectPicker, StartRun
from screens.item import ItemScreen
from screens.model import ProjectView
from screens.run import RunScreen
from tests.screens.driving import driving
from tests.screens.fake_model import FakeModel, empty, sample, uid


class Slow(FakeModel):
    """One whose projects are read only once ``hold`` is set."""

    async def projects(self) -> Sequence[ProjectView]:
        self.reads.append(("projects",))
        if self.hold is not None:
            await self.hold.wait()
        return await super().projects()


def slow_projects() -> Slow:
    model = sample()
    return Slow(model.the_projects, model.items, model.runs, model.hosts, model.screens, model.events)


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine under load opens nothing within a second."""
    monkeypatch.setattr(keys_in_order, "LONGEST", 10.0)
    monkeypatch.setattr(keys_in_order, "STUCK", 10.0)


async def test_a_title_typed_in_one_go_with_its_key_is_all_in_the_dialog() -> None:
    model = sample()
    async with driving(model) as driver:
        driver.burst("n", *"xDq s #api", "enter")
        await driver.until(lambda: model.calls)
        (call,) = model.calls
        assert (call[0], call[1].title, call[1].labels) == ("create_item", "xDq s", ("api",))  # type: ignore[attr-defined]
        await driver.at(BoardScreen)


async def test_two_items_are_made_by_one_burst() -> None:
    model = sample()
    async with driving(model) as driver:
        driver.burst("n", *"one", "enter", "n", *"two", "enter", "s")
        dialog = await driver.at(StartRun)
        await driver.until(lambda: dialog.query("#provider:focus"))
        assert [call[1].title for call in model.calls] == ["one", "two"]  # type: ignore[attr-defined]
        assert dialog._item.title == "two"


async def test_a_key_pressed_twice_opens_one_dialog() -> None:
    async with driving(sample()) as driver:
        driver.burst("p", "p")
        await driver.at(ProjectPicker)
        await driver.until(lambda: driver.typed("line") == "p")
        driver.burst("escape", "j")
        await driver.at(BoardScreen)
        await driver.until(lambda: driver.title.startswith("Upgrade the ORM"))


async def test_a_dialog_behind_a_dialog_gets_its_keys() -> None:
    model = sample()
    async with driving(model) as driver:
        driver.burst("p", *"Web", "enter", *"/srv/web")
        await driver.at(NewProject)
        await driver.until(lambda: driver.typed("cwd") == "/srv/web")
        assert driver.typed("name") == "Web"


async def test_what_is_typed_after_a_new_project_acts_on_its_board() -> None:
    model = empty()
    async with driving(model) as driver:
        driver.burst("p", *"Web", "tab", *"/srv/web", "enter", "n", *"first", "enter", "n", *"second", "enter")
        await driver.until(lambda: len(model.calls) == 3)
        assert [call[1].title for call in model.calls[1:]] == ["first", "second"]  # type: ignore[attr-defined]


async def test_a_filter_typed_in_one_go_is_a_filter() -> None:
    async with driving(sample()) as driver:
        driver.burst("/", *"#api", "enter", "h", "j")
        await driver.until(lambda: driver.titles("todo") == ["Add rate limiting to the public API"])
        await driver.until(lambda: driver.board.active.status == "todo")
        assert driver.room.screen is driver.board


async def test_a_key_behind_the_one_that_opens_a_place_acts_there() -> None:
    model = sample()
    model.runs[uid(201)] = replace(model.runs[uid(201)], activity="working")
    async with driving(model) as driver:
        driver.burst("enter", "x")
        dialog = await driver.at(Confirm)
        assert any(isinstance(screen, RunScreen) for screen in driver.room.screen_stack)
        assert "Stop claude" in dialog._question
        driver.burst("n", "o", "y")
        await driver.at(ItemScreen)
        await driver.said("Copied the item's id")


async def test_help_leads_to_the_commands_and_other_dialogs_keep_their_keys() -> None:
    async with driving(sample()) as driver:
        driver.burst("?", "ctrl+p", *"start a run", "enter")
        dialog = await driver.at(StartRun)
        await driver.until(lambda: dialog.query("#provider:focus"))
        driver.burst("ctrl+p")
        await driver.press("escape")
        await driver.at(BoardScreen)


async def test_what_was_typed_for_a_dialog_that_does_not_come_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    """A store that answers late must not turn a title into commands; the keys are free again meanwhile."""
    monkeypatch.setattr(keys_in_order, "LONGEST", 0.05)

    slow = slow_projects()
    async with driving(slow) as driver:
        slow.hold = asyncio.Event()
        slow.reads.clear()
        driver.burst("p", "L", "D")
        await driver.until(lambda: ("projects",) in slow.reads and not driver.room._held, "the keys were dropped")
        assert isinstance(driver.room.screen, BoardScreen)
        driver.burst("j")
        await driver.until(lambda: driver.title.startswith("Upgrade the ORM"))
        assert slow.calls == []
        slow.hold.set()
        await driver.at(ProjectPicker)


async def test_escape_does_not_wait_for_what_takes_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keys_in_order, "PATIENCE", 0.0)
    model = slow_projects()
    async with driving(model) as driver:
        model.hold = asyncio.Event()
        driver.burst("p", "L", "D")
        await driver.until(lambda: driver.room._waiting and not driver.room._passing)
        driver.burst("escape", "j")
        await driver.until(lambda: driver.title.startswith("Upgrade the ORM"))
        assert model.calls == []
        model.hold.set()
        await driver.at(ProjectPicker)


async def test_keys_go_on_where_the_one_that_had_them_is_gone() -> None:
    """A widget that closes while a key is on its way to it doesn't keep the others waiting."""
    async with driving(sample()) as driver:
        room: ControlRoom = driver.room
        driver.burst("?", "escape", "escape", "j")
        await driver.until(lambda: driver.title.startswith("Upgrade the ORM"))
        assert room._passing is None or not room._waiting
        assert driver.board.state is not None
        assert uid(10) in {card.item.id for card in driver.board.state.cards()}
