"""What the operator looked at, folded and filtered comes back at the next start (issue 5: session restore)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.control_room import ControlRoom
from screens.activity import ActivityScreen
from screens.board import BoardScreen
from screens.item import ItemScreen
from screens.messages import OpenItem, OpenProject, OpenRun
from screens.place import PlaceScreen
from screens.run import RunScreen
from screens.session import KEY, MOST_PLACES, Session
from screens.tree import TreeScreen
from screens.wall import WallScreen
from store.errors import StoreUnavailable
from tests.screens.driving import Driver
from tests.screens.fake_model import FakeModel, clock, project, sample, uid

P = TypeVar("P", bound=PlaceScreen)


@asynccontextmanager
async def at_work(model: FakeModel, kind: type[P]) -> AsyncIterator[tuple[Driver, P]]:
    """A control room that opens on a place of this kind, and is left in the proper way."""
    room = ControlRoom(model, clock=clock)
    async with room.run_test(size=(160, 45)) as pilot:
        driver = Driver(room, pilot, model)
        place = await opened(driver, kind)
        yield driver, place
        room.exit()


async def opened(driver: Driver, kind: type[P]) -> P:
    place = await driver.at(kind)
    await driver.until(lambda: place._opened)
    return place


async def test_the_board_comes_back_as_it_was_left() -> None:
    """Column, card, folds, peek and filter."""
    model = sample()
    async with at_work(model, BoardScreen) as (driver, board):
        await driver.press("l", "l", "z", "h", "h", "space", "slash", *"or", "enter", "j")
        left = board.active.card
        assert left is not None
    async with at_work(model, BoardScreen) as (_, board):
        assert board.active.card == left
        assert (board.active.status, board.filter.text, board.peek.display) == ("doing", "or", False)
        assert [status for status, column in board.columns.items() if column.folded] == ["cancelled"]


async def test_the_project_that_was_open_is_opened_each_with_its_own_memory() -> None:
    model = sample()
    other = model.the_projects[1].id
    async with at_work(model, BoardScreen) as (driver, _):
        await driver.press("slash", *"auth", "enter", "p")
        await driver.until(lambda: "design-tokens" in driver.text())
        await driver.press("down", "enter")
        await driver.until(lambda: driver.board.project_id == other and driver.board._opened)
        assert driver.board.filter.text == ""
    async with at_work(model, BoardScreen) as (driver, board):
        assert board.project_id == other
        driver.room.post_message(OpenProject(project().id))
        await driver.until(lambda: driver.board.project_id == project().id and driver.board._opened)
        assert driver.board.filter.text == "auth"


async def test_tree_wall_and_activity_come_back_in_sight() -> None:
    model = sample()
    async with at_work(model, BoardScreen) as (driver, _):
        await driver.press("3")
        wall = await opened(driver, WallScreen)
        await driver.press("o", "slash", *"codex", "enter", "l")
        left = wall.remembers()
        assert (left["order"], left["filter"]) == ("start", "codex")
    async with at_work(model, WallScreen) as (driver, wall):
        assert wall.remembers() == left
        await driver.press("2")
        tree = await opened(driver, TreeScreen)
        await driver.press("g", "left")
        left = tree.remembers()
        assert left["folded"]
    async with at_work(model, TreeScreen) as (driver, tree):
        assert tree.remembers() == left
        await driver.press("6")
        activity = await opened(driver, ActivityScreen)
        await driver.press("tab", "slash", *"@hook", "enter")
        left = activity.remembers()
        assert left == {"kind": "Runs", "filter": "@hook"}
    async with at_work(model, ActivityScreen) as (_, activity):
        assert activity.remembers() == left


async def test_the_item_and_the_run_that_were_open_come_back_over_their_place() -> None:
    model = sample()
    async with at_work(model, BoardScreen) as (driver, _):
        await driver.press("2")
        await opened(driver, TreeScreen)
        driver.room.post_message(OpenItem(uid(10)))
        await opened(driver, ItemScreen)
        driver.room.post_message(OpenRun(uid(201)))
        await opened(driver, RunScreen)
    async with at_work(model, RunScreen) as (driver, run):
        assert run.run_id == uid(201)
        await driver.press("q")
        assert (await opened(driver, ItemScreen)).item_id == uid(10)
        await driver.press("q")
        await opened(driver, TreeScreen)
        del model.runs[uid(201)]
    async with at_work(model, TreeScreen) as (driver, _):
        pass


async def test_a_run_that_is_gone_is_not_opened_again() -> None:
    model = sample()
    async with at_work(model, BoardScreen) as (driver, _):
        await driver.open_run()
        await opened(driver, RunScreen)
        del model.runs[uid(201)]
    async with at_work(model, BoardScreen):
        pass


async def test_the_board_of_every_project_comes_back() -> None:
    model = sample()
    async with at_work(model, BoardScreen) as (driver, board):
        await driver.press("P")
        await driver.until(lambda: "All projects" in driver.text())
    async with at_work(model, BoardScreen) as (driver, board):
        assert board.everything
        await driver.until(lambda: "All projects" in driver.text())


async def test_the_room_that_is_left_last_decides_what_comes_back() -> None:
    model = sample()
    async with at_work(model, BoardScreen) as (first, _):
        await first.press("3")
        await opened(first, WallScreen)
        other = sample()
        async with at_work(other, BoardScreen) as (second, _):
            await second.press("2")
            await opened(second, TreeScreen)
        model.remembered = dict(other.remembered)
    assert model.remembered[KEY]["place"] == "wall"  # type: ignore[index]


async def test_what_is_gone_is_not_missed() -> None:
    model = sample()
    model.remembered = {
        KEY: {
            "place": "nowhere",
            "project": uid(4242),
            "places": {
                f"board {project().id}": {"column": "doing", "card": uid(4242), "folded": ["nowhere"], "peek": "?"}
            },
        }
    }
    async with at_work(model, BoardScreen) as (driver, board):
        assert board.project_id == project().id
        assert driver.title == "Fix flaky auth tests"


@pytest.mark.parametrize("known", [1, [], "x", {"places": 3}, {"places": {"board": [1]}}, {"place": ["wall"]}])
async def test_a_damaged_session_begins_anew(known: object) -> None:
    model = sample()
    model.remembered = {KEY: known}
    async with at_work(model, BoardScreen) as (_, board):
        assert board.project_id == project().id


async def test_what_was_done_is_written_soon_and_a_home_that_takes_no_writing_hurts_nobody() -> None:
    model = sample()
    async with at_work(model, BoardScreen) as (driver, _):
        model.refuse_memory = StoreUnavailable("room.json cannot be written")
        await driver.press("j")
        await driver.until(lambda: model.refuse_memory is None)
        await driver.press("j")
        await driver.until(lambda: KEY in model.remembered)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
)


@given(known=_JSON | st.fixed_dictionaries({"place": _JSON, "project": _JSON, "places": _JSON}))
def test_whatever_stands_in_the_file_is_taken_or_left(known: object) -> None:
    session = Session()
    session.take(known)
    again = Session()
    again.take(session.whole())
    assert again.whole() == session.whole()


def test_of_many_places_the_oldest_are_forgotten() -> None:
    session = Session()
    for number in range(100):
        session.note(f"board {number}", {"filter": "x"})
    assert session.of("board 0") == {}
    assert session.of("board 99") == {"filter": "x"}
    places = session.whole()["places"]
    assert isinstance(places, dict)
    assert len(places) == MOST_PLACES
