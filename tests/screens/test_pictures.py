"""Pictures of the board and the run screen, empty and full, in each theme at both sizes.

A picture that changes on purpose is taken anew with ``pytest --snapshot-update`` and looked at before it is kept.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import timedelta

import pytest
from textual.pilot import Pilot

from app.control_room import ControlRoom
from screens.activity import ActivityDrawer, ActivityScreen
from screens.board import BoardScreen
from screens.dialogs import AnswerRun, EditItem, PromptRun, StartAgain, StartRun
from screens.dialogs.reconcile import ReconcilePlan
from screens.hosts import HostsScreen
from screens.item import ItemScreen
from screens.messages import OpenItem, OpenRun
from screens.model.hosts import Orphan, Plan, PlanStep
from screens.providers import ProvidersScreen
from screens.run import RunScreen
from screens.tree import TreeScreen
from screens.wall import WallScreen
from store.errors import StoreUnavailable
from store.records import Lease, Usage
from store.silence import Silence
from tests.screens.contrast import measured
from tests.screens.driving import Driver
from tests.screens.fake_model import NOW, FakeModel, bare, clock, empty, host, item, project, run, sample, uid
from tests.screens.fakes.activity import eventful
from tests.screens.fakes.providers import FAULT

Compare = Callable[..., bool]
Steps = Callable[[Driver], Awaitable[None]]
THEMES = ("pam-dark", "pam-light", "pam-contrast")
SIZES = {"80x24": (80, 24), "120x35": (120, 35), "200x50": (200, 50)}


async def board(driver: Driver) -> None:
    at = await driver.at(BoardScreen)
    await driver.until(lambda: at.state is not None or at.has_class("-empty"))
    if at.peek.display and driver.model.screens:
        await driver.until(lambda: "Do you want to proceed?" in driver.text())


async def run_screen(driver: Driver) -> None:
    await board(driver)
    place = await driver.open_run()
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


async def wall(driver: Driver) -> None:
    await board(driver)
    await driver.press("3")
    place = await driver.at(WallScreen)
    await driver.until(lambda: place.state.count or place.has_class("-nobody"))
    tiles = place.tiles.tiles
    await driver.until(lambda: all(tile.sight for tile in tiles.values()))


async def answer(driver: Driver) -> None:
    await board(driver)
    await driver.press("w")
    await driver.at(AnswerRun)
    await driver.until(lambda: "❯ 1. Yes" in driver.text())


async def prompt(driver: Driver) -> None:
    await board(driver)
    await driver.press("w")
    await driver.at(PromptRun)
    await driver.until(lambda: "❯ 1. Yes" in driver.text())
    await driver.write("Now run the whole suite twice,\nand say what still flickers.")


def at_rest() -> FakeModel:
    model = sample()
    model.runs[uid(201)] = replace(model.runs[uid(201)], activity="idle", activity_note=None)
    return model


def asking_in_words() -> FakeModel:
    model = sample()
    model.asks = "question"
    return model


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
    "wall-full": (sample, wall),
    "wall-empty": (empty, wall),
    "answer-permission": (sample, answer),
    "answer-question": (asking_in_words, answer),
    "prompt": (at_rest, prompt),
}


# The tree


async def tree(driver: Driver) -> None:
    await board(driver)
    await driver.press("2")
    place = await driver.at(TreeScreen)
    await driver.until(lambda: place.state is not None or place.has_class("-empty"))
    if place.side.display and driver.model.screens:
        await driver.until(lambda: "Do you want to proceed?" in driver.text() and "Three tests in" in driver.text())
        await driver.until(lambda: "43.1k" in driver.text())


async def tree_filtered(driver: Driver) -> None:
    await tree(driver)
    await driver.press("slash")
    await driver.write("status:todo,doing -kind:epic #api")
    await driver.until(lambda: "Add rate limiting" in driver.text() and "Freeze" not in driver.text())


async def tree_moving(driver: Driver) -> None:
    await tree(driver)
    await driver.press("m", "j")
    await driver.said("is part of what you move")


def told() -> FakeModel:
    """Some of its runs say what they use."""
    model = sample()
    model.usages = {
        uid(201): Usage(input_tokens=41_900, output_tokens=1_200, cost_usd=1.34),
        uid(202): Usage(input_tokens=812_000, output_tokens=22_000),
    }
    return model


PICTURES |= {
    "tree-full": (told, tree),
    "tree-filtered": (told, tree_filtered),
    "tree-moving": (told, tree_moving),
    "tree-bare": (bare, tree),
}


# The activity


async def activity(driver: Driver) -> None:
    await board(driver)
    await driver.press("6")
    place = await driver.at(ActivityScreen)
    await driver.until(lambda: place.state.events or not place.state.below)
    await driver.press("j", "j", "j")


async def activity_narrowed(driver: Driver) -> None:
    await activity(driver)
    await driver.press("tab", "slash", *"@hook")
    await driver.until(lambda: "prompt taken up" in driver.text() and "asked to compare" not in driver.text())


async def drawer(driver: Driver) -> None:
    await board(driver)
    await driver.press("A")
    place = await driver.at(ActivityDrawer)
    await driver.until(lambda: place.state.events)
    await driver.press("j", "j", "j")


async def activity_broken(driver: Driver) -> None:
    await board(driver)
    await driver.press("6")
    await driver.at(ActivityScreen)
    await driver.said("is locked")


def locked() -> FakeModel:
    """Another process holds the database."""
    model = sample()
    model.unreadable = StoreUnavailable("The database /home/mara/pam.db is locked. Nothing was written; try again.")
    return model


PICTURES |= {
    "activity-full": (lambda: eventful(sample()), activity),
    "activity-narrowed": (lambda: eventful(sample()), activity_narrowed),
    "activity-drawer": (lambda: eventful(sample()), drawer),
    "activity-bare": (bare, activity),
    "activity-error": (locked, activity_broken),
}


# The hosts and the providers


async def hosts(driver: Driver) -> None:
    await board(driver)
    await driver.press("4")
    place = await driver.at(HostsScreen)
    await driver.until(lambda: place.views and place.machine.cores)


async def hosts_plan(driver: Driver) -> None:
    await hosts(driver)
    await driver.press("R")
    await driver.at(ReconcilePlan)


async def providers(driver: Driver) -> None:
    await board(driver)
    await driver.press("5")
    place = await driver.at(ProvidersScreen)
    await driver.until(lambda: "○ not here" in driver.text())
    place.table.find("claude")
    await driver.until(lambda: isinstance(place._checks.get("claude"), list))


def flagged() -> FakeModel:
    """Hosts with something the matter."""
    model = sample()
    model.flag("gpu-1")
    model.orphans["local"] = [Orphan("pam-deadbeef", NOW - timedelta(minutes=14))]
    model.leftovers["local"] = [uid(211)]
    model.runs[uid(211)] = replace(model.runs[uid(211)], agent_pid=48_213)
    model.plan = Plan(
        [
            PlanStep("pam-deadbeef", "in no run", "alive", "wait", "it is held until 13:04", False),
            PlanStep("pam-1c54a3b2", "running", "no session", "report_lost", "its wrapper is gone", True),
        ],
        3,
    )
    return model


def faulty() -> FakeModel:
    model = sample()
    model.the_catalog = replace(model.the_catalog, fault=FAULT)
    return model


PICTURES |= {
    "hosts-full": (flagged, hosts),
    "hosts-bare": (bare, hosts),
    "hosts-plan": (flagged, hosts_plan),
    "providers-full": (sample, providers),
    "providers-fault": (faulty, providers),
}


# A run's tabs, an item's page, several cards


def working() -> FakeModel:
    """Runs that have written much, told much and used much."""
    model = told()
    first = {"run_id": uid(201), "task_id": uid(10), "attempt": 1}
    model.leases = {uid(201): Lease(uid(201), "mara@desk", NOW - timedelta(minutes=3), NOW, NOW)}
    model.silences = {uid(203): Silence(uid(203), 1, "silent", NOW - timedelta(minutes=45))}
    model.alive = {uid(211), uid(210)}
    model.logs = {uid(201): [line for number in range(60) for line in _written(number)]}
    model.add(item(61, "Name the greys", "doing", of=model.the_projects[1], labels=("colour",)))
    model.items[uid(10)] = replace(model.items[uid(10)], description=PROSE)
    for number in range(12):
        said = {"activity": "working" if number % 2 else "waiting", "note": f"May I run `make test-{number}`?"}
        facts = {"kind": "progress", "source": "hook:claude", "seq": 100 + number, "said": said}
        model.happen(("run.signal_received", {**first, **facts}))
    late = {"kind": "started", "source": "wrapper", "seq": None, "said": {"pid": 48_213}}
    model.happen(("run.signal_received", {**first, **late}))
    return model


def _written(number: int) -> list[str]:
    begun = f"● Read(tests/auth/test_login_{number}.py)"
    return [begun, f"  ⎿  Read {number * 7} lines", "", "  Do you want to proceed?"]


PROSE = """# What happens
Three tests in `tests/auth` fail about **once in ten runs**, see [the board](https://ci.example/42).

- They sleep instead of moving the clock.
- One shares a session between tests.
  - [x] found it
  - [ ] mended it

> It was green yesterday. *Honest.*

```
frozen_time.tick(seconds=2)
```
"""


async def at_run(driver: Driver, number: int = 201) -> RunScreen:
    await board(driver)
    driver.board.post_message(OpenRun(uid(number)))
    place = await driver.at(RunScreen)
    await driver.until(lambda: place.view is not None)
    return place


async def run_log(driver: Driver) -> None:
    await at_run(driver)
    await driver.press("slash", *"proceed")
    await driver.until(lambda: "60 of 60 lines with" in driver.text())
    await driver.press("enter", "N", "N")
    await driver.until(lambda: "58 of 60" in driver.text())


async def run_log_empty(driver: Driver) -> None:
    await at_run(driver, 202)
    await driver.press("right_square_bracket")
    await driver.until(lambda: "Nothing was written yet." in driver.text())


async def run_signals(driver: Driver) -> None:
    await at_run(driver)
    await driver.press("right_square_bracket", "right_square_bracket")
    await driver.until(lambda: "too late" in driver.text())


async def run_stopping(driver: Driver) -> None:
    run_ = driver.model.runs[uid(201)]
    driver.model.runs[uid(201)] = replace(run_, stop_requested_at=NOW - timedelta(seconds=4))
    await at_run(driver)
    await driver.until(lambda: "killed after 10s" in driver.text() and "Do you want to proceed?" in driver.text())


async def run_again(driver: Driver) -> None:
    driver.model.runs[uid(211)] = replace(driver.model.runs[uid(211)], conversation_id="c-1")
    await at_run(driver, 211)
    await driver.press("r")
    await driver.at(StartAgain)


async def item_page(driver: Driver) -> None:
    await board(driver)
    driver.board.post_message(OpenItem(uid(10)))
    place = await driver.at(ItemScreen)
    await driver.until(lambda: place.view is not None and "HISTORY" in driver.text())
    if place.peek.display:
        await driver.until(lambda: "Do you want to proceed?" in driver.text())


async def item_form(driver: Driver) -> None:
    await item_page(driver)
    await driver.press("e")
    await driver.at(EditItem)


async def several(driver: Driver) -> None:
    await board(driver)
    await driver.press("v", "j", "v")
    await driver.until(lambda: "2 selected" in driver.text())


async def every_project(driver: Driver) -> None:
    await board(driver)
    await driver.press("P")
    await driver.said("The cards of 2 projects")


PICTURES |= {
    "run-log": (working, run_log),
    "run-log-empty": (working, run_log_empty),
    "run-signals": (working, run_signals),
    "run-stopping": (working, run_stopping),
    "run-again": (working, run_again),
    "item-page": (working, item_page),
    "item-form": (working, item_form),
    "board-several": (working, several),
    "board-all": (working, every_project),
}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("picture", PICTURES)
def test_it_looks_as_it_did(snap_compare: Compare, picture: str, theme: str, size: str) -> None:
    make, steps = PICTURES[picture]
    model = make()
    room = ControlRoom(model, theme=theme, clock=clock)

    async def before(pilot: Pilot[None]) -> None:
        driver = Driver(room, pilot, model)
        await steps(driver)
        await pilot.pause(0.05)
        # WCAG AA of whatever is pictured: each place, each dialog, empty, full and in error (PAM-UI-012).
        _, dim = measured(driver)
        assert not dim

    assert snap_compare(room, terminal_size=SIZES[size], run_before=before)
