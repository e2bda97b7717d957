"""An item changed from its own page: a form, an editor, its status; and what happened to it (PAM-UI-006)."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest

from screens.dialogs import Confirm, EditItem
from screens.item import ItemScreen
from screens.messages import OpenItem
from screens.model.item import ItemChange
from screens.run import RunScreen
from screens.widgets.prose import Prose
from store.errors import InvalidValue
from store.records import Usage
from tests.screens.driving import Driver, driving
from tests.screens.fake_model import FakeModel, sample, uid


async def opened(driver: Driver, number: int = 10) -> ItemScreen:
    driver.board.post_message(OpenItem(uid(number)))
    place = await driver.at(ItemScreen)
    await driver.until(lambda: place.view is not None and "RUNS" in driver.text())
    return place


async def test_the_form_stores_what_was_changed_and_nothing_else() -> None:
    model = sample()
    async with driving(model) as driver:
        await opened(driver)
        await driver.press("e")
        await driver.at(EditItem)
        await driver.press("enter", *"More.", "ctrl+s")
        await driver.at(ItemScreen)
        text = model.items[uid(10)].description
        assert text.endswith("green.\n\nMore.")
        assert model.calls == [("change_item", uid(10), ItemChange(description=text))]
        await driver.until(lambda: "More." in driver.text())
        await driver.said("Saved.")


async def test_all_fields_are_reached_by_tab() -> None:
    model = sample()
    async with driving(model) as driver:
        await opened(driver)
        await driver.press("e")
        await driver.at(EditItem)
        await driver.press("tab", "ctrl+u", *"New title", "tab", "right", "right", "tab", "ctrl+u", *"@mara")
        await driver.press("tab", *" #slow, db", "enter")
        await driver.at(ItemScreen)
        assert model.calls == [
            ("change_item", uid(10), ItemChange("New title", None, "mara", ("tests", "slow", "db"))),
            ("move_item", uid(10), "done"),
        ]
        await driver.until(lambda: "✓ done  @mara  #tests #slow #db".replace(" ", "") in driver.text().replace(" ", ""))


async def test_what_was_typed_is_thrown_away_only_when_one_means_it() -> None:
    model = sample()
    async with driving(model) as driver:
        await opened(driver)
        await driver.press("e")
        await driver.at(EditItem)
        await driver.press("escape")
        await driver.at(ItemScreen)
        await driver.press("e")
        await driver.at(EditItem)
        await driver.press("x", "escape")
        await driver.until(lambda: "esc again throws that away" in driver.text())
        await driver.press("escape")
        await driver.at(ItemScreen)
        assert model.calls == []


async def test_a_description_that_was_changed_elsewhere_meanwhile_is_not_overwritten_unasked() -> None:
    model = sample()
    async with driving(model) as driver:
        place = await opened(driver)
        await driver.press("e")
        await driver.at(EditItem)
        await driver.press("x")
        model.items[uid(10)] = replace(model.items[uid(10)], description="theirs")
        model.happen(("work_item.updated", {"item_id": uid(10), "fields": ["description"]}))
        await driver.until(lambda: place.view is not None and place.view.card.item.description == "theirs")
        await driver.press("ctrl+s")
        await driver.until(lambda: "changed elsewhere meanwhile. ^s again puts yours" in driver.text())
        assert model.items[uid(10)].description == "theirs"
        await driver.press("ctrl+s")
        await driver.at(ItemScreen)
        assert model.items[uid(10)].description.endswith("green.\nx")


async def test_a_change_that_is_refused_says_why_with_everything_still_there() -> None:
    model = sample()
    model.refuse = InvalidValue("A label has no spaces.")
    async with driving(model) as driver:
        await opened(driver)
        await driver.press("e")
        await driver.at(EditItem)
        await driver.press("x", "ctrl+s")
        await driver.until(lambda: "A label has no spaces." in driver.text())
        await driver.press("ctrl+s")
        await driver.at(ItemScreen)
        assert len(model.calls) == 2


async def test_to_cancel_with_open_children_is_asked_once_by_key_and_in_the_form() -> None:
    model = sample()
    async with driving(model) as driver:
        await opened(driver)
        await driver.press("L")
        await driver.until(lambda: model.items[uid(10)].status == "done")
        await driver.press("H")
        await driver.until(lambda: model.items[uid(10)].status == "doing")
        await driver.press("e")
        await driver.at(EditItem)
        await driver.press("tab", "tab", "left", "ctrl+s")
        await driver.until(lambda: "1 open item below it is cancelled with it." in driver.text())
        await driver.press("ctrl+s")
        await driver.at(ItemScreen)
        await driver.until(lambda: model.items[uid(10)].status == "cancelled")
        await driver.press("L")
        await driver.said("There is no way on from cancelled.")


async def test_a_status_key_that_cancels_names_what_goes_with_it() -> None:
    model = sample()
    model.items[uid(10)] = replace(model.items[uid(10)], status="todo")
    model.items[uid(102)] = replace(model.items[uid(102)], status="todo")
    async with driving(model) as driver:
        place = await opened(driver)
        await driver.press("L", "L")
        await driver.until(lambda: place.view is not None and place.view.card.item.status == "done")
        assert [call[0] for call in model.calls] == ["move_item", "move_item"]


def editor(monkeypatch: pytest.MonkeyPatch, model: FakeModel, text: str | None, code: int = 0) -> list[str]:
    """An editor that writes this; the paths that it was opened with."""
    paths: list[str] = []

    def run(argv: list[str], check: bool, stderr: object) -> object:
        paths.append(argv[-1])
        if text is not None:
            model.drafts[argv[-1]] = text
        return type("Done", (), {"returncode": code})

    monkeypatch.setenv("VISUAL", "ed")
    monkeypatch.setattr("app.terminal_turns.subprocess.run", run)
    return paths


async def test_an_editor_of_ones_own_writes_the_description(monkeypatch: pytest.MonkeyPatch) -> None:
    model = sample()
    paths = editor(monkeypatch, model, "# Mine")
    async with driving(model) as driver:
        driver.room.suspend = nullcontext  # type: ignore[method-assign, assignment]
        await opened(driver)
        await driver.press("E")
        await driver.said("The description is saved.")
        assert model.items[uid(10)].description == "# Mine"
        assert paths and model.drafts == {}, "nothing is left lying about"
        await driver.until(lambda: "Mine" in driver.text())


async def test_an_editor_that_changes_nothing_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    model = sample()
    editor(monkeypatch, model, None)
    async with driving(model) as driver:
        driver.room.suspend = nullcontext  # type: ignore[method-assign, assignment]
        await opened(driver)
        await driver.press("E")
        await driver.said("The description is as it was.")
        assert model.calls == []


async def test_a_text_that_cannot_be_stored_stays_in_its_file(monkeypatch: pytest.MonkeyPatch) -> None:
    model = sample()
    model.refuse = InvalidValue("The description is too long.")
    paths = editor(monkeypatch, model, "x" * 100)
    async with driving(model) as driver:
        driver.room.suspend = nullcontext  # type: ignore[method-assign, assignment]
        await opened(driver)
        await driver.press("E")
        await driver.said("The description is too long. Your text is in")
        assert paths[0] in model.drafts


async def test_theirs_is_replaced_only_when_one_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    model = sample()
    editor(monkeypatch, model, "mine")
    async with driving(model) as driver:
        driver.room.suspend = nullcontext  # type: ignore[method-assign, assignment]
        await opened(driver)
        model.items[uid(10)] = replace(model.items[uid(10)], description="theirs")
        await driver.press("E")
        await driver.at(Confirm)
        await driver.press("enter")
        await driver.said("The description is as it was. Your text is in")
        assert model.items[uid(10)].description == "theirs"


async def test_runs_tell_what_they_used_and_history_what_happened() -> None:
    model = sample()
    model.usages = {uid(201): Usage(input_tokens=41_900, cost_usd=1.34), uid(212): Usage(input_tokens=9_000)}
    async with driving(model) as driver:
        await opened(driver)
        await driver.until(lambda: "41.9k tokens · $1.34" in driver.text())
        head = ("tokens 50.9k", "cost $1.34, 1 of 2 runs unknown")
        await driver.until(lambda: all(part in driver.text() for part in head))
        assert "HISTORY · newest 5" in driver.text() and "agent runs, pid 48213" in driver.text()
        await driver.press("j", "j", "j", "j", "j", "enter")
        place = await driver.at(RunScreen)
        assert place.run_id == uid(201), "what happened leads to its run"


async def test_a_long_description_opens_at_once_and_is_scrolled(tmp_path: Path) -> None:
    """FR-9: Markdown of thousands of blocks costs the lines that are seen."""
    model = sample()
    long = "\n".join(f"- point {number} of **many** with `code`\n" for number in range(3_000))
    model.items[uid(10)] = replace(model.items[uid(10)], description=long)
    async with driving(model) as driver:
        place = await opened(driver)
        await driver.until(lambda: "• point 0 of many with code" in driver.text())
        assert place.query_one(Prose).virtual_size.height > 2_000
        await driver.press("pagedown", "pagedown")
        await driver.until(lambda: "point 0 of" not in driver.text())
