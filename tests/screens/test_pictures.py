"""Pictures of the board and the run screen, empty and full, in each theme at both sizes.

A picture that changes on purpose is taken anew with ``pytest --snapshot-update`` and looked at before it is kept.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest
from textual.pilot import Pilot

from app.control_room import ControlRoom
from screens.board import BoardScreen
from screens.dialogs import StartRun
from screens.item import ItemScreen
from screens.run import RunScreen
from tests.screens.driving import Driver
from tests.screens.fake_model import FakeModel, bare, clock, empty, host, item, project, run, sample

Compare = Callable[..., bool]
Steps = Callable[[Driver], Awaitable[None]]
THEMES = ("pam-dark", "pam-light", "pam-contrast")
SIZES = {"80x24": (80, 24), "160x45": (160, 45)}


async def board(driver: Driver) -> None:
    at = await driver.at(BoardScreen)
    await driver.until(lambda: at.state is not None or at.has_class("-empty"))
    if at.peek.display and driver.model.screens:
        await driver.until(lambda: "Do you want to proceed?" in driver.text())


async def run_screen(driver: Driver) -> None:
    await board(driver)
    await driver.press("enter")
    place = await driver.at(RunScreen)
    await driver.until(lambda: place.view is not None)


async def run_full(driver: Driver) -> None:
    await run_screen(driver)
    await driver.until(lambda: "Do you want to proceed?" in driver.text())


async def run_empty(driver: Driver) -> None:
    await run_screen(driver)
    await driver.until(lambda: "The session is not up yet." in driver.text())


async def item_screen(driver: Driver) -> None:
    await board(driver)
    await driver.press("o")
    await driver.at(ItemScreen)
    await driver.until(lambda: "Three tests" in driver.text())


async def start_dialog(driver: Driver) -> None:
    await board(driver)
    await driver.press("s")
    await driver.at(StartRun)


def waiting_for_a_host() -> FakeModel:
    return FakeModel().add(project(), host(0, "local"), item(1, "Only item", "todo"), run(5, 1, status="pending"))


PICTURES: dict[str, tuple[Callable[[], FakeModel], Steps]] = {
    "board-full": (sample, board),
    "board-bare": (bare, board),
    "board-no-project": (empty, board),
    "run-full": (sample, run_full),
    "run-empty": (waiting_for_a_host, run_empty),
    "item": (sample, item_screen),
    "start-dialog": (sample, start_dialog),
}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("picture", PICTURES)
def test_it_looks_as_it_did(snap_compare: Compare, picture: str, theme: str, size: str) -> None:
    make, steps = PICTURES[picture]
    model = make()
    room = ControlRoom(model, theme=theme, clock=clock)

    async def before(pilot: Pilot[None]) -> None:
        await steps(Driver(room, pilot, model))
        await pilot.pause(0.05)

    assert snap_compare(room, terminal_size=SIZES[size], run_before=before)
