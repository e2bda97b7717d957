"""Several cards at once, all projects on one board, and what a card tells of its run beside its state."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from screens.board import BoardScreen
from screens.dialogs import Confirm, NewItemDialog, ProjectPicker, StartRun
from screens.model import NewItem, StartRequest
from store.errors import Conflict
from store.records import Usage
from store.silence import Silence
from tests.screens.driving import Driver, driving
from tests.screens.fake_model import NOW, FakeModel, item, project, run, sample, uid


def selected(driver: Driver) -> set[str]:
    assert driver.board.state is not None
    return set(driver.board.state.selected)


async def test_cards_are_selected_counted_and_let_go() -> None:
    async with driving(sample()) as driver:
        await driver.press("v", "v")
        await driver.until(lambda: "2 selected" in driver.text())
        assert selected(driver) == {uid(10), uid(11)}
        assert driver.text().count("✓ selected") == 2
        assert driver.title == "Measure checkout latency", "it goes on to the next card"
        await driver.press("k", "v")
        assert selected(driver) == {uid(10)}
        await driver.press("escape")
        await driver.until(lambda: "✓ selected" not in driver.text())
        assert selected(driver) == set()


async def test_a_whole_column_is_selected_as_far_as_the_filter_shows_it() -> None:
    async with driving(sample()) as driver:
        await driver.press("slash", *"#tests", "enter", "V")
        await driver.until(lambda: selected(driver) == {uid(10)})
        await driver.press("V")
        await driver.until(lambda: selected(driver) == set())
        await driver.press("v", "escape", "escape")
        await driver.until(lambda: not driver.board.filter.text)


async def test_selected_cards_move_together_and_are_drawn_at_once() -> None:
    model = sample()
    async with driving(model) as driver:
        await driver.press("v", "v", "L")
        await driver.until(lambda: {"Fix flaky auth tests"} <= set(driver.titles("done")))
        await driver.said("Moved 2 items.")
        assert [model.items[uid(number)].status for number in (10, 11)] == ["done", "done"]
        assert selected(driver) == {uid(10), uid(11)}, "they stay selected, for the next key"
        await driver.press("H")
        await driver.until(lambda: [model.items[uid(number)].status for number in (10, 11)] == ["doing", "doing"])


async def test_what_a_move_is_refused_for_is_said_and_the_others_go() -> None:
    model = sample()
    model.refuse = Conflict("Somebody holds it.")
    async with driving(model) as driver:
        await driver.press("v", "v", "L")
        said = await driver.said("Moved 1 item. 1 not: “Fix flaky auth tests”: Somebody holds it.")
        assert said
        await driver.until(lambda: "Fix flaky auth tests" in driver.titles("doing"))
        assert model.items[uid(11)].status == "done"


async def test_several_agents_are_stopped_after_one_question() -> None:
    model = sample()
    async with driving(model) as driver:
        await driver.press("V", "x")
        await driver.at(Confirm)
        assert "Stop 5 agents?" in driver.text(), "the milestone has none"
        await driver.press("y")
        await driver.at(BoardScreen)
        await driver.said("Asked 5 agents to stop.")
        assert len([call for call in model.calls if call[0] == "stop_run"]) == 5
        assert selected(driver) == set()


async def test_a_selection_without_agents_says_so() -> None:
    async with driving(sample()) as driver:
        await driver.press("l", "V", "x")
        await driver.said("has an agent to stop.")


async def test_several_are_deleted_with_what_is_lost_named_and_those_at_work_stay() -> None:
    model = sample()
    async with driving(model) as driver:
        await driver.press("h", "V", "D")
        await driver.at(Confirm)
        assert "Delete 4 items?" in driver.text()
        assert "everything under them (3" in driver.text()
        assert "1 item with agents at work stay." in driver.text()
        await driver.press("enter")
        await driver.at(BoardScreen)
        assert model.calls == [], "the safe answer has the focus"
        await driver.press("D")
        await driver.at(Confirm)
        await driver.press("y")
        await driver.said("Deleted 4 items.")
        assert uid(1) in model.items and uid(2) not in model.items


async def test_several_are_started_with_one_dialog() -> None:
    model = sample()
    async with driving(model) as driver:
        await driver.press("h", "V", "s")
        await driver.at(StartRun)
        assert "4 items, a run each" in driver.text()
        await driver.press("right", "enter")
        await driver.at(BoardScreen)
        await driver.said("Asked for 4 runs. 1 can have none.")
        assert model.calls == [("start_run", StartRequest(uid(number), "codex")) for number in (1, 3, 4, 103)], (
            "each with its own title and description"
        )


async def test_all_projects_stand_on_one_board_and_cards_name_theirs() -> None:
    model = sample()
    model.add(item(61, "Name the greys", "doing", of=model.the_projects[1]))
    async with driving(model) as driver:
        assert "Name the greys" not in driver.text()
        await driver.press("P")
        await driver.until(lambda: "Name the greys" in driver.titles("doing"))
        await driver.said("The cards of 2 projects; P shows one.")
        assert "All projects" in driver.text() and "◇ checkout-service" in driver.text()
        await driver.press("slash", *"project:design", "enter")
        await driver.until(lambda: driver.titles("doing") == ["Name the greys"])
        await driver.until(lambda: "◇ design-tokens" in driver.text())
        await driver.press("n")
        await driver.at(NewItemDialog)
        assert "New item in design-tokens" in driver.text()
        await driver.press(*"Pick a blue", "enter")
        await driver.at(BoardScreen)
        assert model.calls == [("create_item", NewItem(project(2).id, "Pick a blue"))]
        await driver.press("P")
        await driver.until(lambda: "All projects" not in driver.text() and "Pick a blue" not in driver.titles("todo"))


async def test_changes_of_every_project_are_seen_on_the_board_of_all() -> None:
    model = sample()
    model.add(item(61, "Name the greys", "doing", of=model.the_projects[1]))
    async with driving(model) as driver:
        await driver.press("P")
        await driver.until(lambda: "Name the greys" in driver.titles("doing"))
        model.add(replace(model.items[uid(61)], title="Name the blues"))
        model.happen(("work_item.updated", {"item_id": uid(61), "fields": ["title"]}))
        await driver.until(lambda: "Name the blues" in driver.titles("doing"))
        await driver.press("G", "K")
        await driver.said("of another project")
        await driver.press("p")
        await driver.at(ProjectPicker)
        await driver.press("enter")
        await driver.until(lambda: driver.board.everything is False and "Name the blues" not in driver.titles("doing"))


def flagged() -> FakeModel:
    model = sample()
    model.usages = {uid(202): Usage(input_tokens=812_000, output_tokens=22_000)}
    model.silences = {uid(203): Silence(uid(203), 1, "silent", NOW - timedelta(minutes=45))}
    model.alive = {uid(211)}
    return model


async def test_cards_tell_tokens_silence_and_agents_that_outlived_their_run() -> None:
    for size in ((200, 50), (160, 45)):
        async with driving(flagged(), size=size) as driver:
            await driver.until(lambda: "! agent still alive" in driver.text())
            assert "… silent 45m, hangs?" in driver.text()
            assert {200: "834k tok", 160: "Σ 834k"}.get(size[0], "") in driver.text()


async def test_a_narrow_board_tells_them_too() -> None:
    async with driving(flagged(), size=(80, 24)) as driver:
        await driver.until(lambda: "… silent 45m, hangs?" in driver.text() and "834k tok" in driver.text())


async def test_approvals_are_offered_by_the_providers_names_and_remembered() -> None:
    model = sample()
    model.last_approvals = "edits"
    async with driving(model) as driver:
        await driver.press("s")
        await driver.at(StartRun)
        await driver.until(lambda: "its own default   plan   edits   all" in driver.text())
        await driver.press("enter")
        await driver.at(BoardScreen)
        first = model.calls[-1][1]
        assert isinstance(first, StartRequest) and first.approvals == "edits"
        await driver.press("s")
        await driver.at(StartRun)
        await driver.press("tab", "tab", "tab", "right", "enter")
        await driver.at(BoardScreen)
        second = model.calls[-1][1]
        assert isinstance(second, StartRequest) and second.approvals == "all"


async def test_a_provider_without_names_offers_no_approvals() -> None:
    async with driving(sample()) as driver:
        await driver.press("s")
        await driver.at(StartRun)
        await driver.press("right")
        await driver.until(lambda: "its own default" not in driver.text())


async def test_a_kind_stands_in_the_line_too() -> None:
    model = FakeModel().add(project(), item(1, "One", "doing"), run(5, 1))
    async with driving(model) as driver:
        await driver.press("n")
        await driver.at(NewItemDialog)
        await driver.press(*"Land it !epic")
        await driver.until(lambda: "▣ epic" in driver.text())
        await driver.press("enter")
        await driver.at(BoardScreen)
        assert model.calls == [("create_item", NewItem(project().id, "Land it", "epic"))]
