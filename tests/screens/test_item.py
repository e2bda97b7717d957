"""The item screen: description, runs, children, and what can be done from there (PAM-UI-006)."""

from __future__ import annotations

from dataclasses import replace

from screens.board import BoardScreen
from screens.dialogs import NewItemDialog
from screens.item import ItemScreen
from screens.model import NewItem
from screens.run import RunScreen
from tests.screens.driving import Driver, driving
from tests.screens.fake_model import project, run, sample, uid


async def opened(driver: Driver) -> ItemScreen:
    await driver.press("o")
    place = await driver.at(ItemScreen)
    await driver.until(lambda: place.view is not None and "RUNS" in driver.text())
    return place


async def test_an_item_shows_all_around_it() -> None:
    async with driving(sample()) as driver:
        await opened(driver)
        await driver.until(lambda: "Do you want to proceed?" in driver.text())
        for part in ("Three tests in tests/auth", "@claude", "#tests", "RUNS · 2", "failed, exit 1", "CHILDREN · 3",
                     "Freeze the clock", "made 9d ago"):  # fmt: skip
            assert part in driver.text()


async def test_the_cursor_goes_over_runs_and_children_and_opens_them() -> None:
    async with driving(sample()) as driver:
        place = await opened(driver)
        await driver.press("j", "j")
        await driver.press("enter")
        await driver.until(lambda: driver.room.screen is not place)
        child = await driver.at(ItemScreen)
        assert child.item_id == uid(101)
        await driver.until(lambda: child.view is not None)
        assert (
            "checkout-service › … › Freeze the clock" in driver.text()
            or "Fix flaky auth tests › Freeze" in driver.text()
        )
        await driver.press("enter")
        await driver.said("Nothing to open yet")
        await driver.press("escape")
        await driver.press("k", "k", "enter")
        run_place = await driver.at(RunScreen)
        assert run_place.run_id == uid(201)


async def test_a_card_without_a_run_opens_as_an_item_and_empty_parts_name_their_key() -> None:
    async with driving(sample()) as driver:
        await driver.press("h", "G", "enter")
        await driver.at(ItemScreen)
        await driver.until(lambda: "No run yet. s starts one." in driver.text())
        assert "No children. n makes one." in driver.text()
        assert "No description." in driver.text()


async def test_a_new_child_goes_under_the_item() -> None:
    model = sample()
    async with driving(model) as driver:
        await opened(driver)
        await driver.press("n")
        await driver.at(NewItemDialog)
        await driver.write("Check CI")
        await driver.press("enter")
        await driver.at(ItemScreen)
        assert model.calls == [("create_item", NewItem(project().id, "Check CI", "subtask", uid(10)))]
        await driver.until(lambda: "CHILDREN · 4" in driver.text())


async def test_the_journal_keeps_it_fresh() -> None:
    model = sample()
    async with driving(model) as driver:
        await opened(driver)
        model.items[uid(103)] = replace(model.items[uid(103)], status="done")
        model.happen(("work_item.status_changed", {"item_id": uid(103)}))
        await driver.until(lambda: driver.text().count("✓ done") == 3)
        model.add(run(300, 10, "codex", "pending", minutes=0))
        model.happen(("run.created", {"run_id": uid(300), "task_id": uid(10), "attempt": 1}))
        await driver.until(lambda: "RUNS · 3" in driver.text())


async def test_control_characters_in_a_description_never_reach_the_terminal() -> None:
    model = sample()
    hostile = "safe \x1b[2Jtext\x07 \u202ereversed"
    model.items[uid(10)] = replace(model.items[uid(10)], description=hostile, title="A\x1b]0;x\x07B\u202e")
    async with driving(model) as driver:
        assert "A]0;xB" in driver.text()
        await opened(driver)
        await driver.until(lambda: "safe" in driver.text())
        assert not set("\x1b\x07\u202e") & set(driver.text())


async def test_a_narrow_window_stacks_the_parts() -> None:
    async with driving(sample(), size=(80, 24)) as driver:
        await opened(driver)
        assert "Three tests" in driver.text()
        assert "RUNS · 2" in driver.text()
        await driver.press("escape")
        await driver.at(BoardScreen)


async def test_an_item_that_is_deleted_elsewhere_closes_and_says_so() -> None:
    model = sample()
    async with driving(model) as driver:
        await opened(driver)
        model.items.pop(uid(10))
        model.happen(("work_item.deleted", {"item_id": uid(10)}))
        await driver.at(BoardScreen)
        await driver.said("“Fix flaky auth tests” was deleted.")


async def test_it_closes_behind_the_dialog_that_lies_over_it() -> None:
    model = sample()
    async with driving(model) as driver:
        place = await opened(driver)
        await driver.press("n")
        await driver.at(NewItemDialog)
        model.items.pop(uid(10))
        model.happen(("work_item.deleted", {"item_id": uid(10)}))
        await driver.until(lambda: place.deleted)
        await driver.at(NewItemDialog)
        await driver.press("escape")
        await driver.at(BoardScreen)
        await driver.said("was deleted.")


async def test_a_long_description_is_scrolled_by_keys() -> None:
    model = sample()
    model.items[uid(10)] = replace(model.items[uid(10)], description="\n\n".join(f"Line {n}" for n in range(80)))
    async with driving(model) as driver:
        await opened(driver)
        await driver.until(lambda: "Line 1 " in driver.text())
        await driver.press("pagedown", "pagedown", "pagedown")
        await driver.until(lambda: "Line 1 " not in driver.text() and "Line 15" in driver.text())
        await driver.press("ctrl+u", "ctrl+u", "ctrl+u")
        await driver.until(lambda: "Line 1 " in driver.text())
