"""The run screen: what is said of a run, its live pane, stop, attach, events (PAM-UI-007, PAM-OBS-002, 010)."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from textual.geometry import Region

from screens.board import BoardScreen
from screens.dialogs import Confirm, StartRun
from screens.item import ItemScreen
from screens.model import RunView, StartRequest
from screens.run import RunScreen
from screens.widgets.pane import Pane
from store.errors import Conflict
from store.silence import Silence, SilenceLevel
from tests.screens.driving import Driver, driving
from tests.screens.fake_model import NOW, FakeModel, host, item, project, run, sample, uid


def one(subject: object) -> FakeModel:
    """A board with one item and this run."""
    return FakeModel().add(project(), item(1, "Only item", "doing"), host(0, "local"), subject)  # type: ignore[arg-type]


async def opened(driver: Driver) -> RunScreen:
    place = await driver.open_run()
    await driver.until(lambda: place.view is not None)
    return place


async def test_the_head_says_what_is_known() -> None:
    async with driving(sample()) as driver:
        await opened(driver)
        text = driver.text()
        for part in (
            "checkout-service › Fix flaky auth tests › pam-",
            "⚑ claude 12m waiting (hook)",
            "May I run `pytest -x tests/auth`?",
            "claude · opus",
            "1 of 3",
            "11:43 (21m ago)",
            "/home/mara/code/checkout",
        ):
            assert part in text


@pytest.mark.parametrize(
    ("subject", "said"),
    [
        (run(5, 1, status="exited", exit_code=0), ("took       9m 11s", "exit       code 0")),
        (run(5, 1, status="failed", exit_code=-11), ("✗ claude", "exit       signal 11")),
        (run(5, 1, status="pending"), ("host       none yet", "since 11:52 (12m ago)", "The session is not up yet.")),
        (replace(run(5, 1, status="failed"), failure_reason="no_eligible_host", started_at=None, finished_at=NOW),
         ("failed, no host for it", "exit       no host for it")),
    ],
)  # fmt: skip
async def test_each_state_is_said_as_it_is(subject: object, said: tuple[str, ...]) -> None:
    async with driving(one(subject)) as driver:
        await opened(driver)
        await driver.until(lambda: all(part in driver.text() for part in said), f"all of {said}")


@pytest.mark.parametrize(("level", "said"), [("idle", "for 25m, it may be done"), ("silent", "for 25m, it may hang")])
async def test_a_silence_is_hinted_at_beside_the_state(level: SilenceLevel, said: str) -> None:
    """PAM-COMP-004, PAM-UI-014: a hint, the state stays as it is."""

    class Quiet(FakeModel):
        async def run(self, run_id: str) -> RunView:
            silence = Silence(run_id, 1, level, NOW - timedelta(minutes=25))
            return replace(await super().run(run_id), silence=silence)

    model = Quiet().add(project(), item(1, "Only item", "doing"), host(0, "local"), run(5, 1, activity="working"))
    async with driving(model) as driver:
        await opened(driver)
        assert said in driver.text()
        assert "working" in driver.text()


async def test_stop_calls_a_planned_restart_off() -> None:
    """FR-28: there is no agent to stop, but one to come."""
    failed = replace(run(5, 1, status="failed"), failure_reason="session_lost", retry_at=NOW + timedelta(seconds=20))
    model = one(failed)
    async with driving(model) as driver:
        await opened(driver)
        await driver.press("x")
        await driver.until(lambda: "its restart is called off" in driver.text())


async def test_an_offline_host_is_said_beside_its_name() -> None:
    model = sample()
    model.hosts[0] = host(0, "local", "offline")
    async with driving(model) as driver:
        await opened(driver)
        assert "✗ local (offline)" in driver.text()


async def test_the_pane_is_live_and_ends_with_its_last_screen() -> None:
    model = sample()
    async with driving(model) as driver:
        await opened(driver)
        await driver.until(lambda: "Do you want to proceed?" in driver.text())
        model.draw(uid(201), ["\x1b[1mthe last words\x1b[0m", "", ""])
        await driver.until(lambda: "the last words" in driver.text())
        model.draw(uid(201), None)
        await driver.until(lambda: model.watched == [])
        assert "the last words" in driver.text()


async def test_the_bottom_lines_are_seen_where_the_window_is_lower_than_the_screen() -> None:
    model = sample()
    model.screens[uid(201)] = [f"line {number}" for number in range(70)] + [""] * 5
    async with driving(model, size=(80, 24)) as driver:
        await opened(driver)
        await driver.until(lambda: "line 69" in driver.text())
        assert "line 40" not in driver.text()


async def test_only_lines_that_differ_are_drawn_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """FR-3, FR-58."""
    model = sample()
    async with driving(model) as driver:
        place = await opened(driver)
        await driver.until(lambda: "Do you want to proceed?" in driver.text())
        asked: list[tuple[Region, ...]] = []
        monkeypatch.setattr(place.pane, "refresh", lambda *regions, **_: asked.append(regions))
        rows = list(model.screens[uid(201)])
        place.pane.show(rows)
        assert asked == [], "an equal frame draws nothing"
        rows[5] = "changed"
        place.pane.show(rows)
        assert [len(regions) for regions in asked] == [1]
        assert asked[0][0].height == 1


async def test_a_pane_shows_a_frame_that_came_before_its_size() -> None:
    pane = Pane()
    pane.show(["x"])
    assert pane._drawn == []


async def test_a_new_attempt_is_watched_anew() -> None:
    model = one(run(5, 1, activity="working"))
    model.screens[uid(5)] = ["first attempt"]
    async with driving(model) as driver:
        await opened(driver)
        await driver.until(lambda: "first attempt" in driver.text())
        model.add(run(5, 1, status="spawning", attempt=2))
        model.happen(("run.spawning", {"run_id": uid(5), "attempt": 2}))
        await driver.until(lambda: "The session is not up yet." in driver.text())
        model.add(run(5, 1, activity="working", attempt=2))
        model.screens[uid(5)] = ["second attempt"]
        model.happen(("run.started", {"run_id": uid(5), "attempt": 2}))
        await driver.until(lambda: "second attempt" in driver.text())
        assert "2 of 3" in driver.text()


async def test_stopping_asks_once_and_then_says_so() -> None:
    model = sample()
    async with driving(model) as driver:
        await opened(driver)
        await driver.press("x")
        await driver.at(Confirm)
        await driver.press("enter")
        await driver.at(RunScreen)
        assert model.calls == [], "the safe answer has the focus"
        await driver.press("x")
        await driver.at(Confirm)
        await driver.press("right", "enter")
        await driver.until(lambda: "◼ claude now stopping" in driver.text())
        assert model.calls == [("stop_run", uid(201))]
        await driver.press("x")
        await driver.said("It is being stopped already.")


async def test_a_run_that_is_over_cannot_be_stopped_or_attached() -> None:
    async with driving(one(run(5, 1, status="exited", exit_code=0))) as driver:
        await opened(driver)
        await driver.press("x")
        await driver.said("The run is over (exited)")
        await driver.press("a")
        await driver.said("its session is gone")


async def test_attaching_gives_the_terminal_to_the_models_command(tmp_path: Path) -> None:
    model = sample()
    mark = tmp_path / "attached"

    async def attach_command(run_id: str, *, force: bool = False, read_only: bool = False) -> list[str]:
        assert not (force or read_only)
        return [sys.executable, "-c", f"open({str(mark)!r}, 'w').write({run_id!r})"]

    model.attach_command = attach_command  # type: ignore[method-assign]
    async with driving(model) as driver:
        driver.room.suspend = nullcontext  # type: ignore[method-assign, assignment]
        await opened(driver)
        await driver.press("a")
        await driver.until(mark.exists)
        assert mark.read_text() == uid(201)


async def test_a_session_that_cannot_be_attached_says_why() -> None:
    model = sample()
    model.refuse = Conflict("The session ended a moment ago. Its log is kept.")
    async with driving(model) as driver:
        await opened(driver)
        await driver.press("a")
        await driver.said("The session ended a moment ago.")


async def test_a_terminal_that_cannot_be_handed_over_says_what_to_type() -> None:
    """A headless driver can't suspend, just as a browser can't."""
    async with driving(sample()) as driver:
        await opened(driver)
        await driver.press("a")
        await driver.said("In another one, try: true")


async def test_tabs_show_the_journal_of_the_run() -> None:
    async with driving(sample()) as driver:
        await opened(driver)
        await driver.press("left_square_bracket")
        await driver.until(lambda: "waits for you: May I run" in driver.text())
        assert "agent runs, pid 48213" in driver.text()
        await driver.press("right_square_bracket")
        await driver.until(lambda: "run.created" not in driver.text())


async def test_the_id_is_copied() -> None:
    async with driving(sample()) as driver:
        await opened(driver)
        await driver.press("y")
        await driver.said(f"Copied the run's id: {uid(201)}")
        assert driver.room.clipboard == uid(201)


async def test_starting_again_offers_the_same_item() -> None:
    model = sample()
    async with driving(model) as driver:
        await opened(driver)
        await driver.press("r")
        await driver.at(StartRun)
        await driver.press("enter")
        await driver.until(lambda: model.calls)
        request = model.calls[0][1]
        assert isinstance(request, StartRequest)
        assert request.item_id == uid(10)


async def test_waiting_runs_are_gone_through_one_by_one() -> None:
    model = sample()
    model.add(run(202, 11, "codex", activity="waiting", source="hook:codex", minutes=3))
    async with driving(model) as driver:
        await driver.press("exclamation_mark")
        first = await driver.at(RunScreen)
        await driver.until(lambda: first.view is not None)
        await driver.press("exclamation_mark")
        await driver.until(lambda: driver.room.screen is not first)
        second = await driver.at(RunScreen)
        assert (first.run_id, second.run_id) == (uid(201), uid(202))
        await driver.press("1")
        await driver.at(BoardScreen)


async def test_a_run_that_does_not_exist_says_so() -> None:
    async with driving(sample()) as driver:
        driver.board.post_message(__import__("screens.messages", fromlist=["OpenRun"]).OpenRun("nothing"))
        await driver.at(RunScreen)
        await driver.said("No run nothing.")
        await driver.press("x")
        await driver.said("It has no run yet.")


async def test_ages_move_with_the_clock() -> None:
    now = [NOW]
    model = sample()
    async with driving(model) as driver:
        place = await opened(driver)
        object.__setattr__(place.desk, "clock", lambda: now[0])
        place.head._clock = place.header._clock = lambda: now[0]
        now[0] = NOW + timedelta(minutes=5)
        place.tick()
        await driver.until(lambda: "claude 17m waiting" in driver.text() and "12:09" in driver.text())


async def test_from_a_run_one_gets_to_its_item() -> None:
    async with driving(sample()) as driver:
        await opened(driver)
        await driver.press("o")
        place = await driver.at(ItemScreen)
        assert place.item_id == uid(10)


async def test_a_run_whose_item_is_deleted_closes_with_the_item_under_it() -> None:
    model = sample()
    async with driving(model) as driver:
        await driver.press("o")
        await driver.at(ItemScreen)
        await driver.until(lambda: "RUNS" in driver.text())
        await driver.press("enter")
        place = await driver.at(RunScreen)
        await driver.until(lambda: place.view is not None)
        model.items.pop(uid(10))
        model.runs = {key: each for key, each in model.runs.items() if each.task_id != uid(10)}
        model.happen(("work_item.deleted", {"item_id": uid(10)}))
        await driver.at(BoardScreen)
        await driver.said("was deleted.")


async def test_events_have_seconds_and_are_scrolled_by_keys() -> None:
    model = one(run(5, 1, activity="working"))
    for number in range(90):
        model.happen(("run.signal_received", {"run_id": uid(5), "kind": f"step{number}"}))
    async with driving(model) as driver:
        await opened(driver)
        await driver.press("shift+tab")
        await driver.until(lambda: "12:04:20" in driver.text() and "step89" in driver.text())
        await driver.press("G")
        await driver.until(lambda: "step0 " in driver.text() and "step89" not in driver.text())
        await driver.press("g", "j", "j")
        await driver.until(lambda: "step87" in driver.text() and "step88" not in driver.text())


async def test_the_screen_is_scrolled_by_keys_and_follows_again_at_its_end() -> None:
    model = sample()
    model.screens[uid(201)] = [f"line {number}" for number in range(70)]
    async with driving(model, size=(80, 24)) as driver:
        await opened(driver)
        await driver.until(lambda: "line 69" in driver.text())
        await driver.press("k", "k", "k")
        await driver.until(lambda: "line 69" not in driver.text() and "Terminal, 3 lines up" in driver.text())
        await driver.press("g")
        await driver.until(lambda: "line 0" in driver.text())
        await driver.press("G")
        await driver.until(lambda: "line 69" in driver.text() and "lines up" not in driver.text())


async def test_a_pane_that_is_hidden_draws_nothing_and_is_current_once_it_is_seen() -> None:
    async with driving(sample()) as driver:
        pane = (await opened(driver)).pane
        await driver.until(lambda: pane._drawn)
        pane.display = False
        await driver.until(lambda: pane._hidden)
        before = pane._drawn
        pane.show(["something new"])
        assert pane._drawn is before
        pane.display = True
        await driver.until(lambda: "something new" in driver.text())


async def test_what_is_typed_for_a_terminal_that_cannot_be_had_does_nothing() -> None:
    model = sample()
    async with driving(model) as driver:
        model.refuse = Conflict("The session is gone.")
        driver.burst("a", "x", "q")
        await driver.at(RunScreen)
        await driver.said("The session is gone.")
        await driver.drawn()
        assert isinstance(driver.room.screen, RunScreen)
