"""A run's log, signals, stop and what comes after it, by keys (PAM-OBS-010, PAM-COMP-007, PAM-RST-004)."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from screens.dialogs import Confirm, EditLine, StartAgain, StartRun
from screens.messages import OpenRun
from screens.model import HeaderFacts
from screens.run import RunScreen
from screens.stopping import progress
from screens.widgets import log_view
from store.errors import Conflict, InvalidValue
from store.records import Lease, Usage
from tests.screens.driving import Driver, driving
from tests.screens.fake_model import NOW, FakeModel, host, item, project, run, sample, uid


def one(**changes: object) -> FakeModel:
    """A board with one item and a run that works."""
    subject = replace(run(5, 1, activity="working"), **changes)  # type: ignore[arg-type]
    model = FakeModel(facts=HeaderFacts("here"))
    return model.add(project(), item(1, "Only item", "doing"), host(0, "local"), subject)


async def opened(driver: Driver, number: int = 5) -> RunScreen:
    driver.board.post_message(OpenRun(uid(number)))
    place = await driver.at(RunScreen)
    await driver.until(lambda: place.view is not None)
    return place


async def at_log(driver: Driver) -> RunScreen:
    place = await opened(driver)
    await driver.press("right_square_bracket")
    await driver.until(lambda: driver.model.read_now == [uid(5)])
    return place


async def test_a_log_follows_its_end_until_one_goes_up_and_again_at_its_end() -> None:
    model = one()
    model.logs = {uid(5): [f"line {number}" for number in range(300)]}
    async with driving(model) as driver:
        await at_log(driver)
        await driver.until(lambda: "line 299" in driver.text() and "300 lines · follows its end" in driver.text())
        model.write(uid(5), ["line 300"], "and a prompt $")
        await driver.until(lambda: "line 300" in driver.text() and "and a prompt $" in driver.text())
        await driver.press("k", "k", "k")
        await driver.until(lambda: "G follows its end, 3 lines below" in driver.text())
        model.write(uid(5), ["line 301"])
        await driver.until(lambda: "302 lines" in driver.text())
        assert "line 301" not in driver.text(), "what is read stays where it is"
        await driver.press("g")
        await driver.until(lambda: "line 0 " in driver.text() and "line 1 of 302 lines" in driver.text())
        await driver.press("G")
        await driver.until(lambda: "line 301" in driver.text() and "follows its end" in driver.text())


async def test_a_log_without_a_line_says_what_comes() -> None:
    async with driving(one()) as driver:
        await at_log(driver)
        await driver.until(lambda: "Nothing was written yet." in driver.text())


async def test_a_text_is_found_and_gone_through_from_the_newest() -> None:
    model = one()
    model.logs = {uid(5): [f"{'PANIC here' if number % 100 == 50 else 'line'} {number}" for number in range(400)]}
    async with driving(model) as driver:
        await opened(driver)
        await driver.press("slash", *"panic")
        await driver.until(lambda: "4 of 4 lines with “panic”" in driver.text() and "PANIC here 350" in driver.text())
        await driver.press("enter", "N")
        await driver.until(lambda: "3 of 4 lines" in driver.text() and "PANIC here 250" in driver.text())
        await driver.press("n", "n")
        await driver.until(lambda: "1 of 4 lines" in driver.text() and "PANIC here 50" in driver.text())
        model.write(uid(5), ["another panic"])
        await driver.until(lambda: "1 of 5 lines" in driver.text())
        await driver.press("escape")
        await driver.until(lambda: "lines with" not in driver.text())
        await driver.at(RunScreen)
        await driver.press("n")
        await driver.said("Nothing is looked for yet. Press / and type what.")


async def test_what_is_not_there_says_so() -> None:
    model = one()
    model.logs = {uid(5): ["one"]}
    async with driving(model) as driver:
        await at_log(driver)
        await driver.press("slash", *"two", "enter")
        await driver.until(lambda: "no “two”" in driver.text())
        await driver.press("n")
        await driver.said("“two” is not in what is shown of the log.")


async def test_a_find_far_to_the_right_is_brought_into_sight() -> None:
    model = one()
    model.logs = {uid(5): ["x" * 500 + "needle" + "y" * 100, "short"]}
    async with driving(model, size=(100, 30)) as driver:
        await at_log(driver)
        await driver.press("slash", *"needle", "enter")
        await driver.until(lambda: "needle" in driver.text().replace("“needle”", "").replace("/ needle", ""))
        await driver.until(lambda: "from column" in driver.text())
        for _ in range(30):
            await driver.press("h")
        await driver.until(lambda: "from column" not in driver.text())


async def test_only_a_log_moves_aside() -> None:
    async with driving(one()) as driver:
        await opened(driver)
        await driver.press("l")
        await driver.said("Only its log moves to the side.")


async def test_a_log_without_bounds_is_held_within_some(monkeypatch: pytest.MonkeyPatch) -> None:
    """FR-9: an agent that writes for days; the first lines are let go, and a find stays on its line."""
    monkeypatch.setattr(log_view, "MOST", 1_000)
    monkeypatch.setattr(log_view, "SPARE", 100)
    model = one()
    model.logs = {uid(5): [f"line {number}" for number in range(1_000)]}
    async with driving(model) as driver:
        place = await at_log(driver)
        await driver.press("slash", *"line 900", "enter")
        await driver.until(lambda: "1 of 1 lines" in driver.text())
        model.write(uid(5), [f"line {number}" for number in range(1_000, 1_600)])
        await driver.until(lambda: len(place.run_log.view.lines) == 1_000)
        await driver.until(lambda: "600 lines before it are left out, W writes all" in driver.text())
        assert "line 900" in driver.text()
        await driver.press("n")
        await driver.until(lambda: "line 900" in driver.text() and "1 of 1 lines" in driver.text())


async def test_what_an_agent_writes_never_acts_on_the_terminal() -> None:
    model = one()
    model.logs = {uid(5): ["safe \x1b[2Jtext\x07 \u202ereversed", "\ttabbed"]}
    async with driving(model) as driver:
        await at_log(driver)
        await driver.until(lambda: "safe" in driver.text() and "    tabbed" in driver.text())
        assert not set("\x1b\x07\u202e\t") & set(driver.text())


async def test_a_log_is_read_only_while_its_run_is_seen() -> None:
    model = one()
    async with driving(model) as driver:
        await at_log(driver)
        await driver.press("o")
        await driver.until(lambda: model.read_now == [])
        await driver.press("escape")
        await driver.until(lambda: model.read_now == [uid(5)])


async def test_a_log_is_written_to_a_file_and_never_over_another() -> None:
    model = one()
    model.logs = {uid(5): ["one", "two"]}
    model.files = {"taken.log": 1}
    async with driving(model) as driver:
        await at_log(driver)
        await driver.press("W")
        await driver.at(EditLine)
        assert driver.typed("line") == f"{model.runs[uid(5)].session_name}.log"
        await driver.press("ctrl+u", *"taken.log", "enter")
        await driver.until(lambda: "There is a file taken.log already." in driver.text())
        await driver.press("ctrl+u", *"new.log", "enter")
        await driver.at(RunScreen)
        await driver.said("Wrote 8 bytes of text to new.log.")
        assert model.files["new.log"] == 8


async def test_signals_say_who_said_what_and_what_became_of_it() -> None:
    model = one(attempt=2)
    about: dict[str, object] = {"run_id": uid(5), "task_id": uid(1)}
    model.happen(
        ("run.started", {**about, "attempt": 1, "pid": 7}),
        ("run.usage_updated", {**about, "attempt": 1}),
        ("run.signal_received", {**about, "attempt": 2, "kind": "progress", "source": "hook:claude", "seq": 41,
                                 "said": {"activity": "waiting", "note": "May I?"}}),
        ("run.signal_received", {**about, "attempt": 2, "kind": "finished", "source": "wrapper", "seq": None}),
    )  # fmt: skip
    async with driving(model) as driver:
        await opened(driver)
        await driver.press("tab", "tab")
        await driver.until(lambda: "hook:claude" in driver.text())
        rows = [row for row in driver.text().splitlines() if "applied" in row or "too late" in row]
        assert len(rows) == 3
        late, waits, began = rows
        assert "finished" in late and "– too late" in late
        assert all(part in waits for part in ("progress", "hook:claude", "2", "41", "waits for you: May I?", "✓"))
        assert all(part in began for part in ("started", "wrapper", "agent runs, pid 7", "✓ applied"))
        assert "no line is kept of them" in driver.text()


async def test_the_head_tells_tokens_and_cost_and_who_types() -> None:
    model = sample()
    used = Usage(input_tokens=41_900, output_tokens=1_200, context_tokens=76_000, context_limit=200_000)
    model.usages = {uid(201): replace(used, cost_usd=1.34), uid(202): used}
    model.leases = {uid(201): Lease(uid(201), "mara@desk", NOW, NOW, NOW)}
    async with driving(model) as driver:
        place = await opened(driver, 201)
        for part in ("tokens     41.9k in, 1.2k out", "cost       $1.34", "context    38 % of 200k", "mara@desk"):
            assert part in driver.text()
        place.dismiss()
        await opened(driver, 202)
        await driver.until(lambda: "cost       unknown" in driver.text())
        await opened(driver, 203)
        await driver.until(lambda: "tokens     unknown" in driver.text())
        assert "$0" not in driver.text()


async def test_a_stop_shows_how_far_it_is_and_how_it_came_out() -> None:
    model = one()
    async with driving(model) as driver:
        await opened(driver)
        await driver.press("x")
        await driver.at(Confirm)
        await driver.press("y")
        await driver.at(RunScreen)
        await driver.until(lambda: "stopping  ▱▱▱▱▱▱▱▱▱▱  0s: asked to end, killed after 10s" in driver.text())
        model.runs[uid(5)] = replace(model.runs[uid(5)], status="stopped", exit_code=-9, finished_at=NOW)
        model.happen(("run.stopped", {"run_id": uid(5), "task_id": uid(1), "attempt": 1, "killed": True, "took_s": 12}))
        await driver.said("stopped by force within 12s.")
        assert "stopping " not in driver.text()


@pytest.mark.parametrize(
    ("seconds", "executor", "status", "said"),
    [
        (4, "here", "online", "▰▰▰▰▱▱▱▱▱▱  4s: asked to end, killed after 10s"),
        (11, "here", "online", "▰▰▰▰▰▰▰▰▰▰  11s: did not end by itself: killed with all it started"),
        (70, "elsewhere", "online", "1m 10s: killed; what is left of it is looked for"),
        (4, "down", "online", "waits for an executor: `pam up` starts one"),
        (4, "here", "offline", "waits for local, which does not answer"),
    ],
)
async def test_a_stop_says_on_which_rung_it_is(seconds: int, executor: str, status: str, said: str) -> None:
    model = one(stop_requested_at=NOW - timedelta(seconds=seconds))
    model.hosts = [host(0, "local", status)]
    view = await model.run(uid(5))
    assert said in "".join(span.text for span in progress(view, executor, NOW))  # type: ignore[arg-type]


async def ended(driver: Driver) -> None:
    await opened(driver)
    await driver.press("r")


async def test_a_conversation_goes_on_in_a_run_of_its_own() -> None:
    model = one(status="exited", exit_code=0, conversation_id="c-1")
    async with driving(model) as driver:
        await ended(driver)
        await driver.at(StartAgain)
        await driver.press(*"and now?", "enter")
        await driver.until(lambda: isinstance(driver.place, RunScreen) and driver.place.run_id != uid(5))
        assert model.calls == [("resume_run", uid(5), "and now?")]
        await driver.press("escape")
        await driver.until(lambda: driver.room.screen is driver.board)


async def test_another_conversation_begins_where_one_wants_that() -> None:
    model = one(status="failed", exit_code=1, conversation_id="c-1")
    async with driving(model) as driver:
        await ended(driver)
        await driver.at(StartAgain)
        await driver.press("ctrl+n")
        await driver.at(StartRun)
        assert model.calls == []


async def test_a_conversation_that_cannot_go_on_says_why_and_keeps_what_was_typed() -> None:
    model = one(status="exited", exit_code=0, conversation_id="c-1")
    model.refuse = Conflict("pam-1 is in this conversation already.")
    async with driving(model) as driver:
        await ended(driver)
        await driver.at(StartAgain)
        await driver.press(*"go", "enter")
        await driver.until(lambda: "in this conversation already" in driver.text())
        await driver.press("enter")
        await driver.at(RunScreen)
        assert model.calls[-1] == ("resume_run", uid(5), "go")


async def test_without_a_conversation_it_is_started_anew() -> None:
    model = one(status="exited", exit_code=0)
    async with driving(model) as driver:
        await ended(driver)
        await driver.at(StartRun)


async def test_a_file_that_cannot_be_written_says_so_with_its_name_still_there() -> None:
    model = one()
    model.refuse = InvalidValue("/nowhere/x can't be written: No such file or directory.")
    async with driving(model) as driver:
        await opened(driver)
        await driver.press("W")
        await driver.at(EditLine)
        await driver.press("enter")
        await driver.until(lambda: "No such file or directory" in driver.text())
        assert driver.typed("line").endswith(".log")
