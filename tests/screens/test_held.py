"""Nothing that is read or written answers: keys act all the same, and each place says that it is still reading."""

from __future__ import annotations

import asyncio
import inspect
import statistics
import time
from collections.abc import Awaitable, Callable
from functools import wraps

import pytest

from screens.place import PlaceScreen
from tests.screens.driving import driving
from tests.screens.fake_model import FakeModel, sample

ANSWER_S = 0.05
Verb = Callable[..., Awaitable[object]]


def holding(model: FakeModel, answers: asyncio.Event) -> FakeModel:
    """The model, every read and verb of which waits for the event."""
    for name in dir(model):
        verb = getattr(model, name)
        if not name.startswith("_") and inspect.iscoroutinefunction(verb):
            setattr(model, name, _waiting(verb, answers))
    return model


def _waiting(verb: Verb, answers: asyncio.Event) -> Verb:
    @wraps(verb)
    async def held(*args: object, **options: object) -> object:
        await answers.wait()
        return await verb(*args, **options)

    return held


async def test_keys_act_while_nothing_is_answered() -> None:
    answers = asyncio.Event()
    answers.set()
    async with driving(holding(sample(), answers)) as driver:
        answers.clear()
        taken = []
        for number in range(20):
            before, began = driver.title, time.perf_counter()
            driver.burst("k" if number % 2 else "j")
            while driver.title == before:
                await asyncio.sleep(0)
            taken.append(time.perf_counter() - began)
        assert statistics.median(taken) <= ANSWER_S
        answers.set()


@pytest.mark.parametrize("key", ["2", "3", "4", "5", "6"])
async def test_a_place_that_cannot_read_says_so_and_lets_go(key: str) -> None:
    answers = asyncio.Event()
    answers.set()
    async with driving(holding(sample(), answers)) as driver:
        answers.clear()
        began = time.perf_counter()
        await driver.press(key)
        await driver.until(lambda: isinstance(driver.room.screen, PlaceScreen) and driver.place.PLACE != "board")
        assert time.perf_counter() - began < 20 * ANSWER_S
        await driver.said("Reading…")
        answers.set()
        await driver.until(lambda: "Reading…" not in driver.place.footer.said)


async def test_a_move_is_drawn_at_once_and_says_that_it_is_under_way() -> None:
    answers = asyncio.Event()
    answers.set()
    async with driving(holding(sample(), answers)) as driver:
        answers.clear()
        moved = driver.title
        await driver.press("L")
        assert moved in driver.titles("done")
        await driver.until(lambda: driver.place.footer.said, "it says something")
        answers.set()
        await driver.until(lambda: driver.model.calls)
        assert moved in driver.titles("done")
