"""A shell of one's own at an item, a run and a host: opened, left, come back to, over (issue 6)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest

from screens.board import BoardScreen
from screens.hosts import HostsScreen
from screens.item import ItemScreen
from screens.messages import OpenItem
from screens.place import PlaceScreen
from screens.run import RunScreen
from screens.shelling import NO_TERMINAL
from screens.terminal.line import Viewer
from store.errors import NotFound
from tests.screens.driving import Driver, driving
from tests.screens.fake_model import FakeModel, sample, uid
from tests.screens.test_terminal_widget import FakeLine

CHECKOUT = "/home/mara/code/checkout"
WAY_OUT = "ctrl+] or F12 comes back"


class Lines:
    """Every shell that was started."""

    def __init__(self, model: FakeModel) -> None:
        self.opened: list[FakeLine] = []
        model.shell_dial = self.dial

    def dial(self, columns: int, rows: int, viewer: Viewer) -> FakeLine:
        self.opened.append(FakeLine((columns, rows), viewer))
        return self.opened[-1]


async def at_item(driver: Driver, number: int = 10) -> ItemScreen:
    driver.board.post_message(OpenItem(uid(number)))
    place = await driver.at(ItemScreen)
    await driver.until(lambda: place.view is not None and "RUNS" in driver.text())
    return place


async def at_hosts(driver: Driver) -> HostsScreen:
    await driver.press("4")
    place = await driver.at(HostsScreen)
    await driver.until(lambda: place.views and place.machine.cores)
    return place


async def at_run(driver: Driver) -> RunScreen:
    place = await driver.open_run()
    await driver.until(lambda: place.view is not None)
    return place


Go = Callable[[Driver], Awaitable[PlaceScreen]]
PLACES: dict[str, tuple[Go, str | None, str, str]] = {
    "item": (at_item, CHECKOUT, f"Shell in {CHECKOUT}, {WAY_OUT}", "Three tests in tests/auth"),
    "run": (at_run, CHECKOUT, f"Shell in {CHECKOUT}, {WAY_OUT}", "May I run `pytest"),
    "hosts": (at_hosts, None, f"Shell on local, {WAY_OUT}", "● online"),
}


@pytest.mark.parametrize("where", PLACES)
async def test_it_has_the_keys_until_it_is_left_and_is_still_there_later(where: str) -> None:
    go, directory, title, page = PLACES[where]
    model = sample()
    lines = Lines(model)
    async with driving(model) as driver:
        place = await go(driver)
        await driver.press("t")
        await driver.until(lambda: lines.opened and title in driver.text())
        assert model.calls == [("shell", directory)]
        (line,) = lines.opened
        line.draw("mara@desk $ ")
        await driver.until(lambda: "mara@desk $" in driver.text())
        if where != "run":
            assert page not in driver.text(), "it has the page's room"
            assert line.size[1] > 35
        await driver.press("x", "q", "1")
        await driver.until(lambda: line.typed == b"xq1")
        assert driver.place is place
        await driver.press("f12")
        await driver.said("the shell goes on until you leave this page. t goes back to it.")
        await driver.until(lambda: page in driver.text() and "mara@desk $" not in driver.text())
        await driver.press("t", "y")
        await driver.until(lambda: line.typed == b"xq1y")
        assert len(lines.opened) == 1 and not line.closed
        await driver.press("f12")
        await driver.until(lambda: page in driver.text())
        await driver.press("1")
        await driver.at(BoardScreen)
        await driver.until(lambda: line.closed)


@pytest.mark.parametrize("where", PLACES)
async def test_its_end_is_said_and_another_can_be_opened(where: str) -> None:
    go, _, _, page = PLACES[where]
    model = sample()
    lines = Lines(model)
    async with driving(model) as driver:
        await go(driver)
        await driver.press("t")
        await driver.until(lambda: lines.opened)
        lines.opened[0].viewer.ended(0, "")
        await driver.said("The shell has ended.")
        await driver.until(lambda: page in driver.text() and lines.opened[0].closed)
        await driver.press("t")
        await driver.until(lambda: len(lines.opened) == 2)
        lines.opened[1].viewer.ended(None, "/bin/none can't be run: No such file or directory")
        await driver.said("/bin/none can't be run")


@pytest.mark.parametrize("where", PLACES)
async def test_why_there_can_be_none_is_said(where: str) -> None:
    model = sample()
    model.refuse = NotFound("There is no directory /gone. It was moved or removed, and a shell needs one to start in.")
    async with driving(model) as driver:
        place = await PLACES[where][0](driver)
        await driver.press("t")
        await driver.said("There is no directory /gone.")
        await driver.press("t")
        await driver.said(NO_TERMINAL)
        await driver.until(lambda: PLACES[where][3] in driver.text())
        assert driver.place is place


async def test_an_items_shell_starts_where_its_run_works_else_where_its_project_is() -> None:
    model = sample()
    model.runs[uid(201)] = replace(model.runs[uid(201)], cwd="/home/mara/worktrees/auth")
    async with driving(model) as driver:
        place = await at_item(driver)
        await driver.press("t")
        await driver.until(lambda: model.calls == [("shell", "/home/mara/worktrees/auth")])
        place.dismiss()
        await driver.at(BoardScreen)
        await at_item(driver, 101)
        await driver.press("t")
        await driver.until(lambda: model.calls[1:] == [("shell", CHECKOUT)])


async def test_an_item_without_a_directory_says_how_it_gets_one() -> None:
    model = sample()
    model.the_projects = [replace(each, cwd=None) for each in model.the_projects]
    async with driving(model) as driver:
        await at_item(driver, 101)
        await driver.press("t")
        await driver.said("It has no directory yet: its project names none. Press s")
        assert model.calls == []


async def test_only_this_machine_has_a_shell_at_the_hosts() -> None:
    model = sample()
    Lines(model)
    async with driving(model) as driver:
        await at_hosts(driver)
        await driver.press("j", "t")
        await driver.said("gpu-1 is another machine")
        assert model.calls == []


async def test_a_shell_that_ends_leaves_alone_what_is_read_meanwhile() -> None:
    """A run's shell has a tab; its end takes that away, and nothing else."""
    model = sample()
    model.logs = {uid(201): ["a line of the log"]}
    lines = Lines(model)
    async with driving(model) as driver:
        place = await at_run(driver)
        await driver.press("t")
        await driver.until(lambda: lines.opened and " Shell " in driver.text())
        await driver.press("f12", "slash", "l", "i")
        await driver.until(lambda: "a line of the log" in driver.text())
        lines.opened[0].viewer.ended(0, "")
        await driver.until(lambda: lines.opened[0].closed and " Shell " not in driver.text())
        await driver.press("n", "e")
        await driver.until(lambda: place.filter.text == "line")
        assert "a line of the log" in driver.text()


async def test_an_items_screen_is_not_watched_under_its_shell() -> None:
    model = sample()
    lines = Lines(model)
    async with driving(model) as driver:
        place: PlaceScreen = await at_item(driver)
        await driver.until(lambda: model.watched == [uid(201)])
        await driver.press("t")
        await driver.until(lambda: lines.opened and model.watched == [])
        place.tick()
        await driver.pilot.resize_terminal(150, 40)
        await driver.until(lambda: lines.opened[0].sizes)
        assert model.watched == []
        await driver.press("f12")
        await driver.until(lambda: model.watched == [uid(201)])
