"""The wall: every live run as a tile, as many as there is room for, only those captured (PAM-UI-008, PAM-OBS-002)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.geometry import Region, Size

from screens.board import BoardScreen
from screens.dialogs import AnswerRun
from screens.run import RunScreen
from screens.wall import WallScreen
from screens.wall_grid import LEAST_HEIGHT, LEAST_WIDTH, grid_for
from screens.widgets.tile import Sight
from tests.screens.driving import Driver, driving
from tests.screens.fake_model import CLAUDE, NOW, FakeModel, host, item, project, run, sample, uid


def many(count: int) -> FakeModel:
    """So many agents at work, the first of them started first."""
    model = FakeModel().add(project(), host(0, "local"))
    for number in range(1, count + 1):
        agent = run(100 + number, number, activity="working", source="hook:claude", minutes=30)
        agent = replace(agent, created_at=NOW - timedelta(minutes=600 - number))
        model.add(item(number, f"Task {number:02}", "doing"), agent)
        model.screens[agent.id] = [f"screen {number:02}"]
    return model


async def opened(driver: Driver) -> WallScreen:
    await driver.press("3")
    wall = await driver.at(WallScreen)
    await driver.until(lambda: wall.state.count or wall.has_class("-nobody"), "the wall is read")
    await driver.until(lambda: wall.footer._hints)
    return wall


def seen(wall: WallScreen) -> list[str]:
    """Titles of the tiles, in order."""
    return [tile.view.item.title for tile in wall.tiles.tiles.values()]


def chosen(wall: WallScreen) -> str:
    assert wall.state.chosen is not None
    return wall.state.chosen.item.title


@given(count=st.integers(0, 60), width=st.integers(1, 400), height=st.integers(1, 120))
def test_tiles_fill_the_window_and_never_overlap(count: int, width: int, height: int) -> None:
    grid = grid_for(count, Size(width, height))
    places = grid.places(count)
    assert len(places) == min(count, grid.capacity)
    window = Region(0, 0, width, height)
    for index, place in enumerate(places):
        assert window.contains_region(place)
        assert place.width >= min(width, LEAST_WIDTH)
        assert place.height >= min(height, LEAST_HEIGHT)
        assert not any(place.overlaps(other) for other in places[:index])
    if places and len(places) == count:
        assert sum(place.width for place in places if place.y == 0) == width


@given(count=st.integers(1, 60), cursor=st.integers(0, 59), first=st.integers(-5, 20))
def test_the_chosen_tile_is_always_seen(count: int, cursor: int, first: int) -> None:
    cursor = min(cursor, count - 1)
    grid = grid_for(count, Size(160, 40))
    begin = grid.first_row(first, cursor, count) * grid.columns
    assert 0 <= begin <= cursor < begin + grid.capacity


async def test_each_tile_has_chip_item_host_and_the_bottom_of_its_screen() -> None:
    async with driving(sample(), size=(120, 35)) as driver:
        await opened(driver)
        await driver.until(lambda: driver.text().count("Do you want to proceed?") == 4)
        text = driver.text()
        for part in ("⚑ claude 12m waiting (hook)", "Fix flaky auth tests", "May I run `pytest -x tests/auth`?",
                     "gpu-1", "◔ codex 2m pending", "no host yet", "not up yet.", "6 agents"):  # fmt: skip
            assert part in text


async def test_only_the_tiles_that_are_seen_are_captured() -> None:
    model = many(20)
    async with driving(model, size=(80, 24)) as driver:
        wall = await opened(driver)
        await driver.until(lambda: len(model.watched) == 4)
        assert seen(wall) == ["Task 01", "Task 02", "Task 03", "Task 04"]
        assert "1–4 of 20 ▼" in driver.text()
        await driver.press("G")
        await driver.until(lambda: sorted(model.watched) == sorted(uid(100 + number) for number in range(17, 21)))
        await driver.until(lambda: "screen 20" in driver.text())
        assert "▲ 17–20 of 20" in driver.text()
        await driver.press("1")
        await driver.at(BoardScreen)
        await driver.until(lambda: len(model.watched) <= 1, "the wall looks at nobody any more")


async def test_another_window_has_another_number_of_tiles() -> None:
    model = many(30)
    async with driving(model, size=(80, 24)) as driver:
        wall = await opened(driver)
        for width, height, tiles in ((200, 50, 25), (120, 35, 12), (40, 12, 1)):
            await driver.pilot.resize_terminal(width, height)
            await driver.until(partial(_all_watched, wall, model, tiles), f"{tiles} tiles")


def _all_watched(wall: WallScreen, model: FakeModel, tiles: int) -> bool:
    return len(seen(wall)) == tiles == len(model.watched)


async def test_what_several_agents_draw_is_shown_in_one_go() -> None:
    model = many(4)
    async with driving(model, size=(120, 35)) as driver:
        wall = await opened(driver)
        await driver.until(lambda: "screen 04" in driver.text())
        shown: list[int] = []
        show = wall.frames._show

        def counted(sights: Mapping[str, Sight]) -> None:
            shown.append(len(sights))
            show(sights)

        wall.frames._show = counted
        for number in range(1, 5):
            model.draw(uid(100 + number), [f"drawn {number:02}"])
        await driver.until(lambda: all(f"drawn {number:02}" in driver.text() for number in range(1, 5)))
        assert shown == [4]


async def test_arrows_and_letters_choose_and_stop_at_the_edges() -> None:
    async with driving(many(8), size=(120, 35)) as driver:
        wall = await opened(driver)
        assert (wall._grid().columns, wall._grid().rows) == (3, 3)
        for keys, title in (
            ("l", "Task 02"), ("j", "Task 05"), ("h", "Task 04"), ("k", "Task 01"), ("k", "Task 01"), ("h", "Task 01"),
            ("G", "Task 08"), ("j", "Task 08"), ("l", "Task 08"), ("g", "Task 01"), ("right", "Task 02"),
            ("right", "Task 03"), ("down", "Task 06"), ("down", "Task 08"), ("left", "Task 07"), ("up", "Task 04"),
        ):  # fmt: skip
            await driver.press(keys)
            assert chosen(wall) == title, keys


async def test_who_needs_the_operator_stands_first_or_who_was_started_first() -> None:
    model = many(4)
    for number, activity in ((2, "idle"), (3, "waiting"), (4, "waiting")):
        id_ = uid(100 + number)
        since = NOW - timedelta(minutes=number)
        model.runs[id_] = replace(model.runs[id_], activity=activity, activity_at=since)  # type: ignore[arg-type]
    async with driving(model, size=(120, 35)) as driver:
        wall = await opened(driver)
        assert seen(wall) == ["Task 04", "Task 03", "Task 02", "Task 01"]
        await driver.press("o")
        await driver.said("oldest first")
        assert seen(wall) == ["Task 01", "Task 02", "Task 03", "Task 04"]
        assert chosen(wall) == "Task 04", "the cursor stays with its agent"


async def test_a_run_that_begins_or_ends_comes_or_goes_and_no_other_is_read() -> None:
    model = many(3)
    async with driving(model, size=(120, 35)) as driver:
        wall = await opened(driver)
        await driver.press("l")
        model.runs[uid(101)] = replace(model.runs[uid(101)], status="exited")
        model.reads.clear()
        model.happen(("run.finished", {"run_id": uid(101), "task_id": uid(1)}))
        await driver.until(lambda: seen(wall) == ["Task 02", "Task 03"])
        assert ("live_runs", frozenset({uid(101)})) in model.reads
        assert ("live_runs", None) not in model.reads
        assert chosen(wall) == "Task 02"
        model.add(item(9, "Task 09"), run(109, 9, activity="unknown"))
        model.happen(("run.created", {"run_id": uid(109), "task_id": uid(9)}))
        await driver.until(lambda: "Task 09" in seen(wall))


async def test_the_filter_narrows_and_escape_clears_it_before_it_leaves() -> None:
    async with driving(sample(), size=(120, 35)) as driver:
        wall = await opened(driver)
        await driver.press("slash", *"gpu", "enter")
        await driver.until(lambda: seen(wall) == ["Upgrade the ORM to 3.1 and drop the compatibility shims"])
        await driver.press("slash", *"x", "enter")
        await driver.until(lambda: "No agent matches the filter." in driver.text())
        await driver.press("x")
        await driver.said("No agent matches the filter")
        await driver.press("escape")
        await driver.until(lambda: len(seen(wall)) == 6)
        assert driver.room.screen is wall
        await driver.press("escape")
        await driver.at(BoardScreen)


async def test_f_shows_one_agent_alone_and_back_leads_to_the_wall() -> None:
    async with driving(many(2), size=(120, 35)) as driver:
        wall = await opened(driver)
        await driver.press("l", "f")
        place = await driver.at(RunScreen)
        assert place.run_id == uid(102)
        await driver.until(lambda: place.view is not None)
        await driver.press("q")
        assert await driver.at(WallScreen) is wall
        await driver.until(lambda: len(driver.model.watched) == 2)


async def test_enter_answers_who_waits() -> None:
    async with driving(sample(), size=(120, 35)) as driver:
        await opened(driver)
        await driver.press("enter")
        await driver.at(AnswerRun)


async def test_an_empty_wall_says_what_to_press() -> None:
    async with driving(FakeModel().add(project(), host(0, "local"))) as driver:
        wall = await opened(driver)
        assert "Nobody is at work" in driver.text()
        await driver.press("enter")
        await driver.said("No agent is at work. Press 1")
        driver.model.add(item(1, "First"), run(5, 1))
        driver.model.happen(("run.created", {"run_id": uid(5), "task_id": uid(1)}))
        await driver.until(lambda: seen(wall) == ["First"] and "First" in driver.text())


HOSTILE = (
    "\x1b[41mred",
    "\x1b]0;title\x07x",
    "日本" * 200,
    "e\u0301" * 90,
    "\u202eabc",
    "👨‍👩‍👧" * 60,
    "a\x00b",
    "┃" * 300,
)


@pytest.mark.parametrize("size", [(80, 24), (121, 37)])
async def test_hostile_screens_break_no_border(size: tuple[int, int]) -> None:
    """PAM-SEC-006: neither a frame nor a neighbour moves."""
    model = many(4)
    for number in range(1, 5):
        model.screens[uid(100 + number)] = [*CLAUDE, *HOSTILE[number * 2 - 2 : number * 2], *HOSTILE]
    model.items[uid(2)] = replace(model.items[uid(2)], title="日本\x1b[31m" + "👩‍💻" * 80)
    async with driving(model, size=size) as driver:
        wall = await opened(driver)
        await driver.until(lambda: all(tile.sight for tile in wall.tiles.tiles.values()))
        await driver.drawn()
        for tile in wall.tiles.tiles.values():
            for line in tile.lines:
                assert sum(segment.cell_length for segment in line) == tile.place.width
                assert all(char.isprintable() for segment in line for char in segment.text)
            assert {line[0].text[0] for line in tile.lines[1:-1]} <= {"│", "┃"}
            assert {line[-1].text[-1] for line in tile.lines[1:-1]} <= {"│", "┃"}
