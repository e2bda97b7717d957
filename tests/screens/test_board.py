"""The board by its keys: model calls first, then what is seen (PAM-UI-004, PAM-WI-009, FR-2, FR-3, FR-9)."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from screens.board import BoardScreen
from screens.dialogs import Confirm, EditLine, NewItemDialog, NewProject, ProjectPicker
from screens.model import NewItem
from screens.run import RunScreen
from screens.widgets import card as card_lines
from screens.widgets import peek
from store.errors import ArchivedProject, StoreUnavailable
from store.records import ITEM_STATUSES
from tests.screens.driving import driving
from tests.screens.fake_model import FakeModel, bare, crowded, empty, host, item, project, run, sample, uid


async def test_the_board_opens_where_work_goes_on() -> None:
    async with driving(sample()) as driver:
        assert driver.board.active.status == "doing"
        assert driver.title == "Fix flaky auth tests"
        for part in ("TODO · 5", "DOING · 6", "⚑ claude 12m waiting (hook)", "May I run", "2/3 subtasks", "#api"):
            assert part in driver.text()


async def test_hjkl_and_arrows_both_walk_over_cards_and_columns() -> None:
    async with driving(sample()) as driver:
        for keys, title in (
            (("j",), "Upgrade the ORM to 3.1 and drop the compatibility shims"),
            (("down",), "Measure checkout latency"),
            (("k", "up"), "Fix flaky auth tests"),
            (("h",), "Add rate limiting to the public API"),
            (("right", "l"), "Rotate signing keys"),
            (("G",), "Give each test its own session"),
            (("g",), "Rotate signing keys"),
            (("left", "left", "left", "left"), "Add rate limiting to the public API"),
        ):
            await driver.press(*keys)
            assert driver.title == title


async def test_a_card_moves_at_once_while_the_store_is_still_writing() -> None:
    model = sample()
    model.hold = asyncio.Event()
    async with driving(model) as driver:
        await driver.press("L")
        await driver.until(lambda: model.calls)
        assert model.calls == [("move_item", uid(10), "done")]
        assert "Fix flaky auth tests" in driver.titles("done")
        assert model.items[uid(10)].status == "doing", "nothing is written yet"
        assert driver.title == "Fix flaky auth tests", "the cursor goes with the card"
        await driver.said("Moving to done…")
        model.hold.set()
        await driver.until(lambda: model.items[uid(10)].status == "done")
        assert driver.title == "Fix flaky auth tests"


async def test_a_refused_move_goes_back_with_its_reason() -> None:
    model = sample()
    model.refuse = ArchivedProject("checkout-service is archived; unarchive it first.")
    async with driving(model) as driver:
        await driver.press("L")
        await driver.said("checkout-service is archived; unarchive it first.")
        await driver.until(lambda: "Fix flaky auth tests" in driver.titles("doing"))
        assert "Fix flaky auth tests" not in driver.titles("done")
        await driver.until(lambda: driver.title == "Fix flaky auth tests")


async def test_two_moves_in_a_row_reach_the_store_in_order() -> None:
    model = sample()
    async with driving(model) as driver:
        await driver.press("h", "L", "L")
        await driver.until(lambda: model.items[uid(1)].status == "done")
        assert model.calls == [("move_item", uid(1), "doing"), ("move_item", uid(1), "done")]
        await driver.until(lambda: driver.board.active.status == "done" and not driver.board.state._moving)  # type: ignore[union-attr]
        assert driver.title == "Add rate limiting to the public API"


async def test_keys_that_arrive_in_one_burst_each_act_on_what_the_one_before_did() -> None:
    """A fast typist's second press is not taken for the first one again."""
    async with driving(sample()) as driver:
        title = driver.title
        driver.board.action_shift(1)
        driver.board.action_shift(-1)
        driver.board.action_shift(-1)
        assert (driver.title, driver.board.active.status) == (title, "todo")
        await driver.until(lambda: len(driver.model.calls) == 3)
        assert [call[2] for call in driver.model.calls] == ["done", "doing", "todo"]


async def test_an_illegal_move_says_which_are_legal() -> None:
    model = sample()
    async with driving(model) as driver:
        await driver.press("l", "l", "H")
        await driver.said("A cancelled item can't become done; it can become todo.")
        await driver.press("L")
        await driver.said("There is no column to the right of cancelled.")
        await driver.press("g", "H")
        assert model.calls == []


async def test_the_key_that_was_refused_moves_the_card_to_the_next_legal_column_when_pressed_again() -> None:
    """What is cancelled can be taken up again by keys, though no column beside it is legal."""
    model = sample()
    async with driving(model) as driver:
        await driver.press("l", "l", "H")
        await driver.said("H again moves it to todo.")
        await driver.press("H")
        await driver.until(lambda: model.calls == [("move_item", uid(40), "todo")])
        await driver.until(lambda: (driver.title, driver.board.active.status) == ("Port to gRPC", "todo"))


async def test_a_folded_column_hides_its_cards_from_the_keys_until_one_is_looked_for() -> None:
    async with driving(sample()) as driver:
        await driver.press("z", "x")
        await driver.said("The column is folded. Press z to unfold it.")
        await driver.press("l")
        driver.board.find(driver.model.items[uid(11)])
        await driver.until(lambda: "DOING · 6" in driver.text() and driver.title.startswith("Upgrade the ORM"))


async def test_a_filter_that_is_kept_leads_to_what_it_found() -> None:
    async with driving(sample(), size=(80, 24)) as driver:
        await driver.press("slash")
        await driver.write("#api")
        await driver.until(lambda: " TODO 1 of 5   DOING 0 of 6   DONE 1 of 6 " in driver.text())
        assert driver.board.active.status == "doing"
        await driver.press("enter")
        await driver.until(lambda: driver.title == "Add rate limiting to the public API")


async def test_the_footer_says_what_the_keys_do_while_a_filter_is_typed() -> None:
    async with driving(sample()) as driver:
        await driver.press("slash")
        await driver.until(lambda: "↵ keep  ^s save  esc clear" in driver.text().splitlines()[-1])
        await driver.press("escape")
        await driver.until(lambda: "n new" in driver.text().splitlines()[-1])


async def test_a_change_elsewhere_does_not_pull_the_operator_back_from_where_the_wheel_went() -> None:
    model = crowded(400)
    async with driving(model) as driver:
        column = driver.board.columns["todo"]
        column.scroll_to(y=60, animate=False, immediate=True)
        model.add(item(9000, "Made elsewhere"))
        model.happen(("work_item.created", {"item_id": uid(9000)}))
        await driver.until(lambda: "Made elsewhere" in driver.titles("todo"))
        assert column.scroll_offset.y == 60
        await driver.press("h", "j")
        await driver.until(lambda: column.scroll_offset.y < 10)


async def test_a_window_too_low_for_a_peek_shows_the_board_and_says_why() -> None:
    async with driving(sample(), size=(80, 24)) as driver:
        await driver.press("space")
        await driver.until(lambda: driver.board.peek.display)
        await driver.pilot.resize_terminal(60, 10)
        await driver.until(lambda: not driver.board.peek.display)
        await driver.press("space")
        await driver.said("The window is too low for a peek.")
        await driver.pilot.resize_terminal(80, 24)
        await driver.until(lambda: driver.board.peek.display)


async def test_an_archived_project_says_so_in_the_top_line() -> None:
    model = sample()
    async with driving(model) as driver:
        model.the_projects[0] = replace(model.the_projects[0], status="archived")
        model.happen(("project.archived", {"project_id": project().id}))
        await driver.until(lambda: "checkout-service (archived)" in driver.text())


async def test_what_is_pasted_where_nothing_takes_it_says_which_key_does() -> None:
    async with driving(sample()) as driver:
        await driver.write("some text")
        await driver.said("Press n first")


async def test_who_the_executor_is_now_is_said_and_shown() -> None:
    model = sample()
    async with driving(model) as driver:
        await driver.open_run()
        model.facts = replace(model.facts, executor="down")
        model.seats.put_nowait("The executor is gone (pid 7); agents go on.")
        await driver.said("The executor is gone (pid 7)")
        assert "✗ executor down" in driver.text()
        await driver.press("escape")
        await driver.at(BoardScreen)
        assert "✗ executor down" in driver.text(), "places below hear of it, too"


async def test_a_question_and_a_long_word_take_a_second_line() -> None:
    model = FakeModel().add(project(), host(0, "local"))
    model.add(item(1, "重构支付网关并保留向后兼容的接口同时更新所有文档", "doing"), item(2, "x" * 50, "doing"))
    question = "May I delete rows that have no owner at all?"
    model.add(run(5, 1, activity="waiting", source="hook:claude", note=question))
    async with driving(model, size=(130, 40)) as driver:
        lines = [line[34:64] for line in driver.text().splitlines()]
        assert any("重构支付网关" in line for line in lines)
        assert any("新所有文档" in line for line in lines)
        assert sum("xxxxxxxx" in line for line in lines) == 2
        assert any("no owner at all?" in line for line in lines)


async def test_a_narrow_card_keeps_labels_and_the_exit_code() -> None:
    model = FakeModel().add(project(), item(1, "It", "doing", labels=("storage",), assignee="claude"), host(0, "local"))
    model.add(run(5, 1, "opencode", status="failed", exit_code=129))
    async with driving(model, size=(108, 40)) as driver:
        assert "▪  @claude  #storage" in driver.text()
        assert "✗ opencode exit 129" in driver.text()


async def test_reordering_places_the_card_beside_its_neighbour() -> None:
    model = sample()
    async with driving(model) as driver:
        await driver.press("K")
        await driver.said("It is the first card of the column.")
        await driver.press("J")
        await driver.until(lambda: model.calls)
        assert model.calls == [("reorder_item", uid(10), None, uid(11))]
        await driver.until(lambda: driver.titles("doing")[1] == "Fix flaky auth tests")
        assert driver.title == "Fix flaky auth tests"
        await driver.press("K")
        await driver.until(lambda: len(model.calls) == 2)
        assert model.calls[1] == ("reorder_item", uid(10), uid(11), None)
        await driver.until(lambda: driver.titles("doing")[0] == "Fix flaky auth tests")


async def test_one_line_makes_an_item_and_the_cursor_finds_it() -> None:
    model = sample()
    async with driving(model) as driver:
        await driver.press("n")
        await driver.at(NewItemDialog)
        await driver.write("Retry refunds #billing @codex ^split")
        assert "task under Split the billing worker" in driver.text()
        await driver.press("enter")
        await driver.at(BoardScreen)
        new = NewItem(project().id, "Retry refunds", "task", uid(2), "codex", ("billing",))
        assert model.calls == [("create_item", new)]
        await driver.until(lambda: driver.title == "Retry refunds")
        assert driver.board.active.status == "todo"


async def test_a_title_is_edited_in_place() -> None:
    model = sample()
    async with driving(model) as driver:
        await driver.press("e")
        await driver.at(EditLine)
        await driver.write("!")
        await driver.press("enter")
        await driver.until(lambda: driver.title == "Fix flaky auth tests!")
        assert model.calls == [("edit_item", uid(10), "Fix flaky auth tests!", None)]


async def test_deleting_asks_and_the_safe_answer_has_the_focus() -> None:
    model = sample()
    model.add(run(201, 10, status="exited", exit_code=0))
    async with driving(model) as driver:
        await driver.press("D")
        await driver.at(Confirm)
        assert "everything under it and its history" in driver.text()
        await driver.press("enter")
        await driver.at(BoardScreen)
        assert model.calls == []
        await driver.press("D")
        await driver.at(Confirm)
        await driver.press("y")
        await driver.until(lambda: "Fix flaky auth tests" not in driver.titles("doing"))
        assert model.calls == [("delete_item", uid(10))]


async def test_keys_that_cannot_act_say_why_and_call_nothing() -> None:
    model = sample()
    async with driving(model) as driver:
        await driver.press("D")
        await driver.said("Its agent is at work. Press x to stop it first.")
        await driver.press("h", "j", "s")
        await driver.said("this is an epic")
        await driver.press("x")
        await driver.said("It has no run yet. Press s to start one.")
        await driver.press("escape")
        await driver.said("No filter is set.")
        assert model.calls == []


async def test_the_filter_narrows_while_one_types_and_escape_clears_it() -> None:
    async with driving(sample()) as driver:
        await driver.press("slash")
        await driver.write("#api")
        await driver.until(lambda: driver.titles("todo") == ["Add rate limiting to the public API"])
        assert "TODO · 1 of 5" in driver.text()
        assert "Nothing matches the filter." in driver.text()
        await driver.press("enter", "l", "l")
        await driver.until(lambda: driver.title == "Cache exchange rates")
        await driver.press("escape")
        await driver.until(lambda: len(driver.titles("todo")) == 5)


async def test_a_folded_column_shows_its_name_only() -> None:
    async with driving(sample()) as driver:
        await driver.press("l", "z")
        await driver.until(lambda: "Rotate signing keys" not in driver.text())
        assert driver.board.columns["done"].size.width == 3
        await driver.press("z")
        await driver.until(lambda: "Rotate signing keys" in driver.text())


async def test_peek_shows_the_selected_run_and_watches_it_alone() -> None:
    model = sample()
    async with driving(model) as driver:
        await driver.until(lambda: "Do you want to proceed?" in driver.text())
        assert model.watched == [uid(201)]
        model.draw(uid(201), ["\x1b[32mall green\x1b[0m"])
        await driver.until(lambda: "all green" in driver.text())
        await driver.press("j")
        await driver.until(lambda: model.watched == [uid(202)])
        await driver.press("space")
        await driver.until(lambda: model.watched == [])
        assert "pam-" not in driver.text().rsplit("\n", 2)[0]


async def test_scrolling_past_cards_asks_for_no_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Observation costs what is looked at (design §4)."""
    monkeypatch.setattr(peek, "SETTLE", 0.8)
    model = sample()
    async with driving(model) as driver:
        await driver.until(lambda: model.watched == [uid(201)])
        await driver.press("j", "j", "j", "j", "k", "k", "k", "k")
        await driver.until(lambda: model.watched == [uid(201)])
        assert set(model._watchers) == {uid(201)}


async def test_no_screen_is_watched_under_another_place() -> None:
    model = sample()
    async with driving(model) as driver:
        await driver.until(lambda: model.watched == [uid(201)])
        await driver.press("j", "o")
        await driver.until(lambda: driver.room.screen is not driver.board and model.watched == [uid(202)])
        await driver.press("escape")
        await driver.at(BoardScreen)
        await driver.until(lambda: model.watched == [uid(202)])
        assert len(model._watchers[uid(202)]) == 1


async def test_the_journal_alone_brings_changes_in_and_only_their_cards_are_read() -> None:
    model = sample()
    async with driving(model) as driver:
        model.reads.clear()
        model.add(run(202, 11, "codex", "exited", minutes=0, exit_code=0, host="gpu-1"))
        model.happen(("run.finished", {"run_id": uid(202), "attempt": 1, "exit_code": 0}))
        await driver.until(lambda: "✓ codex now exited 0" in driver.text())
        assert model.reads == [("cards", frozenset({uid(202), uid(11), uid(20)}))]


async def test_a_burst_of_events_is_one_read() -> None:
    """FR-1: late ticks coalesce."""
    model = sample()
    async with driving(model) as driver:
        model.reads.clear()
        for _ in range(200):
            model.happen(("run.signal_received", {"run_id": uid(201), "attempt": 1}))
        model.add(item(10, "Fixed"))
        model.happen(("work_item.updated", {"item_id": uid(10)}))
        await driver.until(lambda: "Fixed" in driver.titles("todo"))
        assert len(model.reads) <= 2


async def test_an_item_of_another_project_does_not_appear() -> None:
    model = sample()
    async with driving(model) as driver:
        model.add(item(77, "Elsewhere", of=project(2, "design-tokens")), item(78, "Here"))
        model.happen(("work_item.created", {"item_id": uid(77)}), ("work_item.created", {"item_id": uid(78)}))
        await driver.until(lambda: "Here" in driver.titles("todo"))
        assert "Elsewhere" not in driver.titles("todo")


async def test_a_store_that_fails_is_said_and_the_board_stays() -> None:
    model = sample()
    model.refuse = StoreUnavailable("The disk is full; nothing was written. Free some space and try again.")
    async with driving(model) as driver:
        await driver.press("L")
        await driver.said("The disk is full; nothing was written.")
        await driver.until(lambda: len(driver.titles("doing")) == 6)


async def test_enter_opens_the_run_and_escape_comes_back_to_the_card() -> None:
    async with driving(sample()) as driver:
        await driver.press("j")
        await driver.press("enter")
        await driver.at(RunScreen)
        await driver.press("escape")
        await driver.at(BoardScreen)
        assert driver.title == "Upgrade the ORM to 3.1 and drop the compatibility shims"


async def test_a_narrow_window_shows_one_column_with_tabs() -> None:
    async with driving(sample(), size=(80, 24)) as driver:
        text = driver.text()
        assert " TODO 5 " in text
        assert " CANCELLED 1 " in text
        assert "Rotate signing keys" not in text
        await driver.press("l")
        await driver.until(lambda: "Rotate signing keys" in driver.text())
        assert "Fix flaky" not in driver.text()
        await driver.press("space")
        await driver.until(lambda: "session is gone" in driver.text())


async def test_an_empty_home_says_what_to_press_and_the_key_makes_a_project() -> None:
    model = empty()
    async with driving(model) as driver:
        await driver.until(lambda: "p makes a project" in driver.text())
        await driver.press("n")
        await driver.said("No project is open. Press p")
        await driver.press("p")
        await driver.at(NewProject)
        await driver.write("shop")
        await driver.press("tab")
        await driver.write("/srv/shop")
        await driver.press("enter")
        await driver.until(lambda: isinstance(driver.room.screen, BoardScreen) and driver.board.state)
        assert model.calls == [("create_project", "shop", "/srv/shop")]
        await driver.until(lambda: "n makes an item" in driver.text())


async def test_an_empty_project_offers_the_first_key() -> None:
    async with driving(bare(), size=(80, 24)) as driver:
        assert "Nothing to do." in driver.text()
        assert "n new" in driver.text().splitlines()[-1]


async def test_the_next_waiting_run_is_one_key_away() -> None:
    model = sample()
    async with driving(model) as driver:
        await driver.press("h", "exclamation_mark")
        place = await driver.at(RunScreen)
        assert place.run_id == uid(201)
        await driver.press("escape")
        model.runs.pop(uid(201))
        await driver.press("exclamation_mark")
        await driver.said("Nobody waits for you.")


async def test_a_click_selects_a_card_and_a_double_click_opens_it() -> None:
    async with driving(sample()) as driver:
        await driver.pilot.click("#column-doing", offset=(6, 8))
        await driver.until(lambda: driver.title.startswith("Upgrade the ORM"))
        await driver.pilot.click("#column-todo", offset=(6, 2))
        await driver.until(lambda: driver.title.startswith("Add rate limiting"))
        await driver.pilot.click("#column-doing", offset=(6, 8), times=2)
        place = await driver.at(RunScreen)
        assert place.run_id == uid(202)


async def test_header_and_footer_can_be_clicked() -> None:
    async with driving(sample()) as driver:
        column = driver.text().splitlines()[0].index("checkout-service")
        await driver.pilot.click("HeaderBar", offset=(column, 0))
        await driver.at(ProjectPicker)
        await driver.press("escape")
        await driver.at(BoardScreen)
        column = driver.text().splitlines()[-1].index("new")
        await driver.pilot.click("FooterLine", offset=(column, 0))
        await driver.at(NewItemDialog)


async def test_walking_a_thousand_cards_draws_only_what_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """FR-9: 1,000 cards in one column; a step draws the two cards it concerns."""
    drawn: list[str] = []
    draw = card_lines.lines

    def counted(card, *rest, **more):  # type: ignore[no-untyped-def]
        drawn.append(card.item.id)
        return draw(card, *rest, **more)

    monkeypatch.setattr(card_lines, "lines", counted)
    async with driving(crowded(2000)) as driver:
        await driver.press("h")
        await driver.until(lambda: driver.board.active.status == "todo")
        assert driver.board.state is not None
        assert driver.board.state.count("todo") == 1500
        await driver.drawn()
        assert len(set(drawn)) < 60
        drawn.clear()
        await driver.press("j")
        await driver.drawn()
        assert len(drawn) <= 4
        drawn.clear()
        await driver.press("G")
        await driver.until(lambda: driver.title == "Item 2000 of a long backlog")
        await driver.until(lambda: "Item 2000 of" in driver.text())
        assert len(set(drawn)) < 20


async def test_resizing_keeps_the_cursor_on_its_card() -> None:
    async with driving(crowded(400)) as driver:
        await driver.press("h", "pagedown", "pagedown")
        title = driver.title
        await driver.pilot.resize_terminal(80, 24)
        await driver.until(lambda: title in driver.text())
        await driver.pilot.resize_terminal(200, 60)
        await driver.until(lambda: title in driver.text())


def test_the_fake_keeps_the_protocol() -> None:
    from screens.model import ControlRoomModel

    model: ControlRoomModel = FakeModel()
    assert model is not None
    assert ITEM_STATUSES
