"""The tree by its keys: model calls first, then what is seen (PAM-UI-003, PAM-DATA-023, PAM-WI-003)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from screens.board import BoardScreen
from screens.dialogs import Confirm, EditLine, FilterPicker, NewItemDialog, ProjectPicker, StartRun
from screens.item import ItemScreen
from screens.model import NewItem
from screens.run import RunScreen
from screens.tree import TreeScreen
from screens.tree_state import TreeState
from screens.widgets import peek
from store.errors import ArchivedProject, StoreUnavailable
from store.records import Usage
from tests.screens.driving import Driver, driving
from tests.screens.fake_model import FakeModel, bare, empty, item, project, run, sample, uid


@asynccontextmanager
async def at_tree(
    model: FakeModel, size: tuple[int, int] = (160, 45)
) -> AsyncIterator[tuple[Driver, TreeScreen, TreeState]]:
    """The control room at the tree of the board's project."""
    async with driving(model, size=size) as driver:
        await driver.press("2")
        tree = await driver.at(TreeScreen)
        await driver.until(lambda: tree.state is not None, "the tree is read")
        assert tree.state is not None
        yield driver, tree, tree.state


def title(state: TreeState) -> str:
    """The title under the cursor; empty when there is none."""
    return state.chosen.item.title if state.chosen else ""


async def test_the_tree_opens_on_the_card_that_the_board_had_the_cursor_on() -> None:
    async with at_tree(sample()) as (driver, _, state):
        assert title(state) == "Fix flaky auth tests"
        await driver.until(lambda: "● 3 at work" in driver.text())
        for part in ("TREE · 18", "⚑ 1 waiting", "└── ○ ▫ Run the suite 200 times", "▰▰▱ 2/3"):
            assert part in driver.text()


async def test_hjkl_and_arrows_walk_over_rows_and_branches() -> None:
    async with at_tree(sample()) as (driver, _, state):
        for keys, at in (
            (("j",), "Freeze the clock"),
            (("h",), "Fix flaky auth tests"),
            (("l",), "Freeze the clock"),
            (("down", "up", "left"), "Fix flaky auth tests"),
            (("left", "j"), "Measure checkout latency"),
            (("k", "right", "right"), "Freeze the clock"),
            (("g",), "Split the billing worker"),
            (("G",), "Port to gRPC"),
            (("pageup",), "Split the billing worker"),
            (("pagedown",), "Port to gRPC"),
        ):
            await driver.press(*keys)
            assert title(state) == at, keys


async def test_tab_folds_and_a_fold_says_what_works_in_it() -> None:
    model = sample()
    async with at_tree(model) as (driver, _, state):
        await driver.press("g", "tab")
        await driver.until(lambda: "▸ ○ ▣ Split the billing worker  3 below" in driver.text())
        assert len(state.rows) == 15
        await driver.press("tab")
        assert len(state.rows) == 18
        await driver.press("G", "tab")
        await driver.said("Nothing is below it. n makes a child.")


async def test_all_folds_at_once_and_back() -> None:
    async with at_tree(sample()) as (driver, _, state):
        await driver.press("j", "Z")
        await driver.said("Every branch is folded.")
        assert title(state) == "Fix flaky auth tests", "what hides it has the cursor"
        assert len(state.rows) == 9
        await driver.press("Z")
        assert len(state.rows) == 18


@pytest.mark.parametrize("key", ["o", "enter"])
async def test_an_item_opens(key: str) -> None:
    async with at_tree(sample()) as (driver, _, _state):
        await driver.press(key)
        assert (await driver.at(ItemScreen)).item_id == uid(10)
        await driver.press("escape")
        await driver.at(TreeScreen)


async def test_a_status_changes_at_once_along_legal_edges_and_goes_back_when_refused() -> None:
    model = sample()
    async with at_tree(model) as (driver, _, state):
        await driver.press("j", "j", "j")
        assert title(state) == "Run the suite 200 times"
        model.hold = asyncio.Event()
        await driver.press("L")
        assert state.chosen is not None
        assert state.chosen.item.status == "doing"
        assert model.items[uid(103)].status == "todo", "nothing is written yet"
        await driver.said("Changing it to doing…")
        model.hold.set()
        await driver.until(lambda: model.items[uid(103)].status == "doing")
        model.refuse = ArchivedProject("checkout-service is archived; unarchive it first.")
        await driver.press("L")
        await driver.said("checkout-service is archived; unarchive it first.")
        await driver.until(lambda: state.chosen and state.chosen.item.status == "doing")
        await driver.press("H", "H")
        await driver.said("There is no way back from todo.")


async def test_cancelling_a_branch_asks_once_and_says_how_much_goes_with_it() -> None:
    model = sample()
    async with at_tree(model) as (driver, _, state):
        await driver.press("L", "L")
        await driver.at(Confirm)
        await driver.until(lambda: "1 open item below it is cancelled with it" in driver.text())
        await driver.press("n")
        await driver.at(TreeScreen)
        assert model.items[uid(10)].status == "done"
        await driver.press("L", "y")
        await driver.until(lambda: model.items[uid(10)].status == "cancelled")
        assert title(state) == "Fix flaky auth tests"


async def test_an_item_is_hung_below_another_by_going_there() -> None:
    model = sample()
    async with at_tree(model) as (driver, tree, state):
        await driver.press("m")
        await driver.until(lambda: "⌂ Top level, below nothing" in driver.text())
        await driver.press("enter")
        await driver.said("Nothing hangs below itself.")
        await driver.press("j")
        await driver.said("“Freeze the clock” is part of what you move.")
        await driver.press("s")
        await driver.said("You are moving an item: press enter where it should hang, or esc to leave it.")
        await driver.press("slash", *"release", "enter")
        await driver.until(lambda: title(state) == "Release 4.0")
        await driver.press("enter")
        await driver.until(lambda: model.calls == [("reparent_item", uid(10), uid(20))])
        await driver.said("It hangs below “Release 4.0” now.")
        assert not tree.picking
        assert state.card(uid(10)).item.parent_id == uid(20)  # type: ignore[union-attr]
        assert "⌂" not in driver.text()


async def test_an_item_goes_to_the_top_level_and_comes_back_when_the_store_refuses() -> None:
    model = sample()
    async with at_tree(model) as (driver, _, state):
        await driver.press("j", "m", "g")
        await driver.said("enter hangs it here.")
        model.refuse = StoreUnavailable("The store is locked; nothing was changed.")
        await driver.press("enter")
        await driver.said("The store is locked; nothing was changed.")
        assert model.calls == [("reparent_item", uid(101), None)]
        await driver.until(lambda: state.card(uid(101)).item.parent_id == uid(10))  # type: ignore[union-attr]
        assert title(state) == "Freeze the clock"


async def test_escape_leaves_a_move_then_a_filter_then_the_tree() -> None:
    async with at_tree(sample()) as (driver, tree, state):
        await driver.press("slash", *"auth", "enter", "m", "escape")
        assert not tree.picking
        assert title(state) == "Fix flaky auth tests"
        await driver.press("escape")
        assert tree.filter.text == ""
        await driver.press("escape")
        await driver.at(BoardScreen)


async def test_an_item_that_is_deleted_while_it_is_moved_is_said_so() -> None:
    model = sample()
    async with at_tree(model) as (driver, tree, _):
        await driver.press("m")
        del model.items[uid(10)]
        model.happen(("work_item.deleted", {"item_id": uid(10), "ids": [uid(10)]}))
        await driver.said("The item that you were moving was deleted.")
        assert not tree.picking


async def test_a_child_is_made_below_the_cursor_and_a_sibling_beside_it() -> None:
    model = sample()
    async with at_tree(model) as (driver, _, state):
        await driver.press("n")
        await driver.at(NewItemDialog)
        await driver.press(*"Retry", "enter")
        await driver.until(lambda: title(state) == "Retry")
        assert model.calls[-1] == ("create_item", NewItem(project().id, "Retry", "subtask", uid(10), None, ()))
        await driver.press("N")
        await driver.at(NewItemDialog)
        await driver.press(*"Again", "enter")
        await driver.until(lambda: title(state) == "Again")
        assert state.chosen is not None
        assert state.chosen.item.parent_id == uid(10)


async def test_runs_are_started_stopped_and_attached_from_a_row() -> None:
    model = sample()
    async with at_tree(model) as (driver, _, state):
        await driver.press("s")
        await driver.at(StartRun)
        await driver.press("escape")
        await driver.at(TreeScreen)
        await driver.press("x")
        await driver.at(Confirm)
        await driver.press("y")
        await driver.until(lambda: ("stop_run", uid(201)) in model.calls)
        await driver.press("g", "s")
        await driver.said("Agents work on tasks and subtasks; this is an epic.")
        await driver.press("j", "j", "a")
        await driver.said("It has no run yet. Press s to start one.")
        assert title(state) == "Document the refund flow"
        await driver.press("j", "j", "a")
        assert (await driver.at(RunScreen)).run_id == uid(201)


async def test_the_id_is_copied_and_the_title_edited() -> None:
    model = sample()
    async with at_tree(model) as (driver, _, _state):
        await driver.press("y")
        await driver.said(f"Copied the item's id: {uid(10)}")
        await driver.press("e")
        await driver.at(EditLine)
        await driver.press("!", "enter")
        await driver.until(lambda: model.items[uid(10)].title == "Fix flaky auth tests!")
        await driver.until(lambda: "Fix flaky auth tests!" in driver.text())


async def test_the_cursor_stays_on_its_item_when_the_journal_changes_the_tree() -> None:
    model = sample()
    async with at_tree(model) as (driver, _, state):
        model.add(replace(item(99, "Very first"), sort_order=0))
        model.happen(("work_item.created", {"item_id": uid(99), "parent_id": None}))
        await driver.until(lambda: state.rows[0].id == uid(99))
        assert title(state) == "Fix flaky auth tests"
        model.items[uid(10)] = replace(model.items[uid(10)], parent_id=uid(20))
        model.happen(("work_item.reparented", {"item_id": uid(10), "from": None, "to": uid(20)}))
        await driver.until(lambda: state.rows[state.place].depth == 1)
        assert title(state) == "Fix flaky auth tests"


async def test_a_small_change_reads_only_what_it_touched() -> None:
    model = sample()
    async with at_tree(model) as (driver, _, state):
        boards = sum(read[0] == "board" for read in model.reads)
        model.runs[uid(203)] = replace(model.runs[uid(203)], activity="waiting", activity_source="agent")
        model.happen(("run.activity_changed", {"run_id": uid(203), "task_id": uid(12)}))
        await driver.until(lambda: state.branch(uid(12)).waiting == 1)
        assert sum(read[0] == "board" for read in model.reads) == boards
        await driver.until(lambda: "⚑ 2 waiting" in driver.text())


async def test_a_filter_narrows_and_says_what_can_never_match() -> None:
    async with at_tree(sample()) as (driver, _, state):
        await driver.press("slash", *"kind:subtask status:done")
        await driver.until(lambda: state.matches == 2)
        assert title(state) == "Freeze the clock", "the cursor goes to what was found"
        await driver.until(lambda: "TREE · 2 of 18" in driver.text())
        await driver.press(*" kind:tsk")
        await driver.said("No kind is called “tsk”")
        await driver.until(lambda: "Nothing matches the filter." in driver.text())


async def test_a_filter_is_saved_with_a_name_and_picked_at_another_place() -> None:
    model = sample()
    async with at_tree(model) as (driver, _, _state):
        await driver.press("F")
        await driver.said("No filter has a name yet. Press / to type one; ctrl+s saves it.")
        await driver.press("ctrl+s")
        await driver.said("No filter is set. Press / to set one.")
        await driver.press("slash", *"#api", "ctrl+s")
        await driver.at(EditLine)
        await driver.press(*"my api", "enter")
        await driver.said("Saved as “my api”; F picks it.")
        assert model.remembered["filters"] == {"my api": "#api"}
        await driver.press("escape", "1")
        board = await driver.at(BoardScreen)
        await driver.press("F")
        await driver.at(FilterPicker)
        await driver.press("enter")
        await driver.at(BoardScreen)
        await driver.until(lambda: driver.titles("doing") == [])
        assert driver.titles("todo") == ["Add rate limiting to the public API"]
        assert board.filter.text == "#api"


async def test_a_saved_filter_is_found_by_its_name_and_forgotten() -> None:
    model = sample()
    model.remembered = {"filters": {"one": "#one", "two": "#two", "bad": 3}}
    async with at_tree(model) as (driver, tree, _):
        await driver.press("F")
        await driver.at(FilterPicker)
        await driver.press(*"tw", "enter")
        await driver.at(TreeScreen)
        assert tree.filter.text == "#two"
        await driver.press("F")
        await driver.at(FilterPicker)
        await driver.press("ctrl+d")
        await driver.until(lambda: model.remembered["filters"] == {"two": "#two"})
        await driver.press("ctrl+d")
        await driver.until(lambda: "filters" not in model.remembered)
        await driver.until(lambda: "No filter is saved any more; escape leaves." in driver.text())


async def test_what_is_remembered_may_be_anything() -> None:
    model = sample()
    model.remembered = {"filters": ["no", "mapping"]}
    async with at_tree(model) as (driver, _, _state):
        await driver.press("F")
        await driver.said("No filter has a name yet.")


async def test_amounts_are_read_for_what_is_seen_and_anew_when_they_change() -> None:
    model = sample()
    model.usages = {uid(201): Usage(input_tokens=41_900, output_tokens=1_200, cost_usd=1.34)}
    async with at_tree(model, (200, 50)) as (driver, _, _state):
        await driver.until(lambda: "43.1k+" in driver.text())
        assert "$1.34+" in driver.text(), "one of its runs tells nothing"
        await driver.until(lambda: "1 of 2 runs unknown" in driver.text())
        model.usages = {uid(201): Usage(input_tokens=2_000_000)}
        model.happen(("run.usage_updated", {"run_id": uid(201), "task_id": uid(10)}))
        await driver.until(lambda: "2M+" in driver.text())
        assert "$1.34" not in driver.text()


async def test_the_side_shows_what_the_cursor_rests_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peek, "SETTLE", 0.01)
    model = sample()
    async with at_tree(model) as (driver, tree, _):
        await driver.until(lambda: "Do you want to proceed?" in driver.text())
        await driver.until(lambda: "Three tests in" in driver.text())
        await driver.press("space")
        await driver.until(lambda: model.watched == [])
        assert not tree.side.display
        await driver.press("space", "j")
        await driver.until(lambda: "No description." in driver.text())


async def test_a_narrow_window_keeps_the_side_for_who_asks_for_it() -> None:
    async with at_tree(sample(), (80, 24)) as (driver, tree, _):
        assert not tree.side.display
        await driver.press("space")
        await driver.until(lambda: "Do you want to proceed?" in driver.text())
        assert "Run the suite 200 times" in driver.text()


async def test_a_project_that_is_chosen_here_is_shown_here() -> None:
    model = sample()
    model.add(replace(item(500, "Name the colours"), project_id=project(2).id))
    async with at_tree(model) as (driver, first, _):
        await driver.press("p")
        await driver.at(ProjectPicker)
        await driver.press(*"design", "enter")
        await driver.until(lambda: isinstance(driver.room.screen, TreeScreen) and driver.room.screen is not first)
        await driver.until(lambda: "Name the colours" in driver.text())
        assert driver.board.project_id == project(2).id


async def test_empty_places_say_what_to_press() -> None:
    async with at_tree(bare()) as (driver, _, _state):
        await driver.until(lambda: "n makes an item" in driver.text())
        await driver.press("j")
        await driver.said("No card here. Press n to make one.")
    async with driving(empty()) as driver:
        await driver.press("2")
        await driver.at(TreeScreen)
        await driver.until(lambda: "No project yet." in driver.text())
        await driver.press("n")
        await driver.said("No project is open. Press p to make or choose one.")


async def test_hostile_words_break_no_border() -> None:
    evil = "\x1b[31mred\x00 \u202eevil 👩‍👩‍👧 ＷＩＤＥ " * 5
    model = bare().add(
        item(1, evil, "doing", labels=(evil,), assignee=evil, description=evil * 50),
        run(2, 1, activity="waiting", source="hook", note=evil),
    )
    async with at_tree(model) as (driver, _, _state):
        await driver.until(lambda: "red" in driver.text())
        for line in driver.text().splitlines()[2:-2]:
            assert line.rstrip().endswith("│") or "╮" in line or "╯" in line
        assert "\x1b" not in driver.text()
        assert "\u202e" not in driver.text()


async def test_rows_and_folds_answer_the_mouse() -> None:
    async with at_tree(sample()) as (driver, tree, state):
        await driver.pilot.click(tree.outline, offset=(20, 1))
        assert title(state) == "Retry webhooks with backoff"
        await driver.pilot.click(tree.outline, offset=(1, 0))
        await driver.until(lambda: len(state.rows) == 15)
        await driver.pilot.click(tree.outline, offset=(20, 1), times=2)
        await driver.at(ItemScreen)
