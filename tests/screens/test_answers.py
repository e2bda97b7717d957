"""Runs that wait are the centre: ``!`` walks them, and they are answered without leaving the place (PAM-UI-009)."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from functools import partial

import pytest

from screens.board import BoardScreen
from screens.dialogs import AnswerRun, PromptRun
from screens.dialogs.start_run import PromptArea
from screens.run import RunScreen
from screens.wall import WallScreen
from store.errors import Conflict
from store.records import DeliveryStatus, RunStatus
from tests.screens.driving import Driver, driving
from tests.screens.fake_model import NOW, FakeModel, host, item, project, run, sample, uid
from tests.screens.fakes.answers import delivery

FIRST = uid(201)


def queue() -> FakeModel:
    """Three that wait, 1 the longest, and one that works."""
    model = FakeModel().add(project(), host(0, "local"))
    for number in (1, 2, 3, 4):
        activity = "working" if number == 4 else "waiting"
        one = run(100 + number, number, activity=activity, source="hook:claude", note=f"Bash: step {number}")  # type: ignore[arg-type]
        model.add(
            item(number, f"Task {number}", "doing"), replace(one, activity_at=NOW - timedelta(minutes=9 - number))
        )
        model.screens[one.id] = [f"screen {number}"]
    return model


async def asked(driver: Driver, key: str = "w") -> AnswerRun:
    await driver.press(key)
    return await driver.at(AnswerRun)


async def at_run(driver: Driver, number: int) -> None:
    await driver.until(
        lambda: isinstance(driver.room.screen, RunScreen) and driver.room.screen.run_id == uid(100 + number)
        and driver.room.screen.view is not None,
        f"run {number}",
    )  # fmt: skip


@pytest.mark.parametrize("place", ["1", "2", "4", "5", "6"])
async def test_the_longest_wait_comes_first_from_every_place(place: str) -> None:
    async with driving(queue()) as driver:
        if place != "1":
            await driver.press(place)
            await driver.until(lambda: not isinstance(driver.room.screen, BoardScreen))
        await driver.press("exclamation_mark")
        await at_run(driver, 1)


async def test_the_next_one_takes_the_place_of_the_one_that_is_seen() -> None:
    async with driving(queue()) as driver:
        for number in (1, 2, 3, 1):
            await driver.press("exclamation_mark")
            await at_run(driver, number)
        await driver.press("q")
        await driver.at(BoardScreen)


async def test_on_the_wall_the_cursor_walks_them() -> None:
    async with driving(queue()) as driver:
        await driver.press("3")
        wall = await driver.at(WallScreen)
        await driver.until(lambda: wall.state.count == 4)
        await driver.press("G")
        for number in (1, 2, 3, 1):
            await driver.press("exclamation_mark")
            await driver.until(partial(_chosen, wall, number), f"tile {number}")
        assert driver.room.screen is wall


def _chosen(wall: WallScreen, number: int) -> bool:
    return wall.state.chosen is not None and wall.state.chosen.run.id == uid(100 + number)


async def test_nobody_else_and_nobody_at_all() -> None:
    async with driving(sample()) as driver:
        await driver.press("exclamation_mark")
        place = await driver.at(RunScreen)
        await driver.until(lambda: place.view is not None)
        await driver.press("exclamation_mark")
        await driver.said("Nobody else waits for you. Press w to answer.")
        driver.model.runs.clear()
    async with driving(FakeModel().add(project(), item(1, "A"))) as driver:
        await driver.press("exclamation_mark")
        await driver.said("Nobody waits for you.")


@pytest.mark.parametrize(("key", "pressed"), [("y", ("Enter",)), ("Y", ("p",)), ("n", ("Escape",))])
async def test_enter_on_a_card_that_waits_asks_and_one_key_answers(key: str, pressed: tuple[str, ...]) -> None:
    async with driving(sample()) as driver:
        await asked(driver, "enter")
        await driver.until(lambda: "❯ 1. Yes" in driver.text(), "its screen is seen")
        assert "⚑ Bash: May I run `pytest -x tests/auth`?" in driver.text()
        await driver.press(key)
        await driver.at(BoardScreen)
        assert ("answer", FIRST, pressed, "") in driver.model.calls
        await driver.said("Answered; claude goes on with “Fix flaky auth tests”.")
        await driver.until(lambda: driver.place.header.facts.waiting == 0)


async def test_enter_pressed_twice_answers_nothing() -> None:
    """The safe button has the focus, and the second of two keys is no answer to what the first one opened."""
    async with driving(sample()) as driver:
        driver.burst("enter", "enter")
        await driver.at(AnswerRun)
        await driver.until(lambda: driver.room.focused is not None and driver.room.focused.id == "leave")
        await driver.press("escape")
        await driver.at(BoardScreen)
        assert not [call for call in driver.model.calls if call[0] == "answer"]


async def test_a_question_is_answered_in_words() -> None:
    model = sample()
    model.asks = "question"
    async with driving(model) as driver:
        await asked(driver)
        await driver.press("enter")
        await driver.until(lambda: "Type an answer first" in driver.text())
        await driver.press(*"yes, both", "enter")
        await driver.at(BoardScreen)
        assert ("answer", FIRST, ("Enter",), "yes, both") in driver.model.calls


async def test_while_it_is_under_way_that_is_said_and_no_second_answer_goes_out() -> None:
    model = sample()
    model.hold = asyncio.Event()
    async with driving(model) as driver:
        await asked(driver)
        await driver.press("y")
        await driver.until(lambda: "Typing, then waiting until it goes on…" in driver.text())
        await driver.press("y", "n")
        model.hold.set()
        await driver.at(BoardScreen)
        assert [call for call in model.calls if call[0] == "answer"] == [("answer", FIRST, ("Enter",), "")]


async def test_one_that_waits_all_the_same_offers_its_terminal() -> None:
    model = sample()
    async with driving(model) as driver:
        await asked(driver)
        model.refuse = Conflict("It was typed, and it still waits. Attach to see what it wants.")
        await driver.press("y")
        await driver.until(lambda: "it still waits" in driver.text())
        assert "Typing, then" not in driver.text()
        await driver.press("f")
        place = await driver.at(RunScreen)
        assert place.run_id == FIRST


async def prompting(driver: Driver) -> PromptRun:
    """At the dialog of a run that works."""
    await driver.press("G", "w")
    return await driver.at(PromptRun)


async def test_who_asks_nothing_is_given_a_prompt() -> None:
    """Of several lines if need be; its screen is there to be read meanwhile."""
    async with driving(queue()) as driver:
        await prompting(driver)
        await driver.until(lambda: "screen 4" in driver.text())
        await driver.press("enter")
        await driver.until(lambda: "Type what it is to do" in driver.text())
        await driver.press(*"run it", "ctrl+j", *"twice", "enter")
        await driver.at(BoardScreen)
        assert ("prompt", uid(104), "run it\ntwice") in driver.model.calls
        await driver.said("claude has taken it up, for “Task 4”.")


@pytest.mark.parametrize(
    ("status", "reason", "says"),
    [
        ("unconfirmed", "The agent is at work and has not said that it took this up.", "has not said that it took"),
        ("typed", None, "It was typed into claude, for “Task 4”."),
        ("queued", None, "It is typed once claude takes prompts, for “Task 4”."),
    ],
)
async def test_what_became_of_a_prompt_is_said(status: DeliveryStatus, reason: str | None, says: str) -> None:
    model = queue()
    model.told = delivery(status, reason=reason)
    async with driving(model) as driver:
        await prompting(driver)
        await driver.press(*"go on", "enter")
        await driver.said(says)


async def test_a_prompt_that_was_refused_is_kept_with_the_reason_and_sent_once() -> None:
    model = queue()
    model.hold = asyncio.Event()
    async with driving(model) as driver:
        dialog = await prompting(driver)
        await driver.press(*"go on", "enter")
        await driver.until(lambda: "Typing, then waiting until it is taken up…" in driver.text())
        await driver.press("enter")
        model.refuse = Conflict("Nothing was typed. It asks something.")
        model.hold.set()
        await driver.until(lambda: "Nothing was typed. It asks something." in driver.text())
        assert "Typing, then" not in driver.text()
        assert dialog.query_one(PromptArea).text == "go on"
        assert len([call for call in model.calls if call[0] == "prompt"]) == 1


@pytest.mark.parametrize(
    ("status", "says"), [("pending", "The session is not up yet"), ("exited", "nobody reads what is written")]
)
async def test_nothing_is_written_to_a_run_that_does_not_run(status: RunStatus, says: str) -> None:
    model = queue()
    model.runs[uid(104)] = replace(model.runs[uid(104)], status=status, activity="unknown")
    async with driving(model) as driver:
        await driver.press("G", "w")
        await driver.said(says)


async def test_one_that_was_answered_elsewhere_says_so() -> None:
    model = sample()
    async with driving(model) as driver:
        model.runs[FIRST] = replace(model.runs[FIRST], activity="working")
        await driver.press("w")
        await driver.said("asks nothing now")
