"""The command palette finds actions, items and runs (PAM-UI-010)."""

from __future__ import annotations

from dataclasses import replace

from textual.command import CommandPalette

from screens.board import BoardScreen
from screens.dialogs import StartRun
from screens.item import ItemScreen
from screens.run import RunScreen
from tests.screens.driving import driving
from tests.screens.fake_model import item, run, sample, uid


async def test_an_action_is_found_and_run() -> None:
    async with driving(sample()) as driver:
        await driver.press("ctrl+p")
        await driver.at(CommandPalette)
        await driver.write("start a run")
        await driver.until(lambda: "Provider, host, model and prompt  ·  s" in driver.text())
        await driver.press("enter")
        await driver.at(StartRun)


async def test_an_item_is_found_by_its_title_from_anywhere() -> None:
    async with driving(sample()) as driver:
        await driver.press("o")
        await driver.at(ItemScreen)
        await driver.press("ctrl+p")
        await driver.at(CommandPalette)
        await driver.write("rotate sign")
        await driver.until(lambda: "task in done" in driver.text())
        await driver.press("enter")
        await driver.at(BoardScreen)
        await driver.until(lambda: driver.title == "Rotate signing keys")


async def test_a_live_run_is_found_by_its_session() -> None:
    async with driving(sample()) as driver:
        await driver.press("ctrl+p")
        await driver.at(CommandPalette)
        await driver.write(f"run pam-{uid(202)[:6]}")
        await driver.until(lambda: "● codex 3m working (hook)" in driver.text())
        await driver.press("enter")
        place = await driver.at(RunScreen)
        assert place.run_id == uid(202)


async def test_an_action_that_cannot_act_is_offered_to_nobody_but_found_with_its_reason() -> None:
    async with driving(sample()) as driver:
        await driver.press("h", "j", "ctrl+p")
        await driver.at(CommandPalette)
        await driver.until(lambda: "New item" in driver.text())
        assert "Stop the run" not in driver.text()
        await driver.write("stop the run")
        await driver.until(lambda: "It has no run yet. Press s to start one." in driver.text())
        await driver.press("enter")
        await driver.at(BoardScreen)
        await driver.said("It has no run yet. Press s to start one.")


async def test_the_theme_can_be_changed_at_once() -> None:
    async with driving(sample()) as driver:
        before = driver.room.screen.styles.background
        driver.room.theme = "pam-light"
        await driver.until(lambda: driver.room.screen.styles.background != before)
        await driver.until(lambda: "Fix flaky auth tests" in driver.text())


async def test_square_brackets_in_a_title_are_text_everywhere() -> None:
    """Textual's markup must not be read out of what operators and agents write."""
    title = "Fix [red]it[/] [/nope] [@click=app.quit]now"
    model = sample()
    model.items[uid(10)] = replace(model.items[uid(10)], title=title, labels=("[b]",))
    model.runs[uid(201)] = replace(model.runs[uid(201)], activity_note="[/x] ok?")
    async with driving(model) as driver:
        assert "[/x] ok?" in driver.text()
        for key in ("s", "e", "x", "D"):
            if key == "D":  # refused while an agent is at work
                model.add(run(201, 10, status="exited", exit_code=0))
                model.happen(("run.finished", {"run_id": uid(201), "task_id": uid(10)}))
                await driver.until(lambda: "[/x] ok?" not in driver.text())
            await driver.press(key)
            await driver.until(lambda: driver.room.screen.is_modal)
            await driver.until(lambda: "Fix [red]it[/] [/nope]" in driver.text())
            await driver.press("escape")
            await driver.at(BoardScreen)
        await driver.press("ctrl+p")
        await driver.at(CommandPalette)
        await driver.write("fix red it")
        await driver.until(lambda: "task in doing  #[b]" in driver.text())
        await driver.press("escape", "o")
        await driver.at(ItemScreen)
        await driver.until(lambda: title in driver.text())


async def test_what_stands_in_another_project_is_found_and_opened_there() -> None:
    model = sample()
    model.add(item(700, "Pick another_project colour", labels=("ui",), of=model.the_projects[1]))
    async with driving(model) as driver:
        await driver.press("ctrl+p")
        await driver.at(CommandPalette)
        await driver.write("another_project colour")
        await driver.until(lambda: "task in todo  #ui  in design-tokens" in driver.text())
        await driver.press("enter")
        assert (await driver.at(ItemScreen)).item_id == uid(700)
