"""The hosts place by keys: what is shown, what is asked of the model, and why a key can't act."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta

from screens.board import BoardScreen
from screens.dialogs import Confirm
from screens.dialogs.reconcile import ReconcilePlan
from screens.hosts import HostsScreen
from screens.model.hosts import Machine, Orphan, Plan, PlanStep
from screens.run import RunScreen
from store.errors import TmuxUnavailable
from tests.screens.driving import Driver, driving
from tests.screens.fake_model import NOW, FakeModel, empty, run, sample, uid

LOST = PlanStep("pam-12345678", "running", "no session", "report_lost", "its wrapper is gone without a word", True)
HELD = PlanStep("pam-deadbeef", "in no run", "alive", "wait", "it is held until 13:04", False)


@asynccontextmanager
async def at_hosts(model: FakeModel, size: tuple[int, int] = (160, 45)) -> AsyncIterator[tuple[Driver, HostsScreen]]:
    async with driving(model, size=size) as driver:
        await driver.press("4")
        place = await driver.at(HostsScreen)
        await driver.until(lambda: place.views and place.machine.cores)
        yield driver, place


async def test_each_host_says_how_it_is_in_glyph_and_word() -> None:
    model = sample()
    model.flag("gpu-1")
    model.orphans["local"] = [Orphan("pam-deadbeef", NOW - timedelta(minutes=14))]
    model.leftovers["local"] = [uid(211)]
    model.runs[uid(211)] = replace(model.runs[uid(211)], agent_pid=48_213)
    async with at_hosts(model) as (driver, _):
        text = driver.text()
        for part in ("● online", "▲ suspect", "✗ offline", "ssh mara@gpu-1", "3.3a ▵2", "0.52", "4, 1 waits"):
            assert part in text, part
        assert "✗ 1 leftover" in text and "◇ 1 orphan" in text
        assert "pam-deadbeef is in no run, found 14m ago" in text
        assert "It is yours to end: `kill 48213` there." in text
        assert "may lose a fast exit's status" in text


async def test_a_load_above_the_cores_and_a_tmux_that_is_missing_are_seen() -> None:
    model = sample()
    model.this_machine = Machine("", (), "tmux is not installed. Install it.", (9.0, 8.0, 7.0), 2)
    async with at_hosts(model) as (driver, _):
        assert "✗ unusable" in driver.text()
        assert "tmux is not installed. Install it." in driver.text()


async def test_the_runs_of_a_host_are_reached_and_opened() -> None:
    async with at_hosts(sample()) as (driver, place):
        await driver.press("a")
        await driver.said("Press ⇥ first")
        await driver.press("enter")
        assert place.here().run is not None
        await driver.press("j")
        assert place.run_chosen is not None and place.run_chosen.run.id != uid(201)
        await driver.press("k", "enter")
        opened = await driver.at(RunScreen)
        await driver.until(lambda: opened.view is not None and opened.view.run.id == uid(201))


async def test_escape_leaves_the_runs_first_and_then_the_place() -> None:
    async with at_hosts(sample()) as (driver, place):
        await driver.press("tab")
        assert place.here().run
        await driver.press("escape")
        assert place.here().run is None and driver.room.screen is place
        await driver.press("escape")
        await driver.at(BoardScreen)


async def test_the_runs_follow_the_chosen_host() -> None:
    async with at_hosts(sample()) as (driver, place):
        await driver.press("j")
        assert place.chosen is not None and place.chosen.host.name == "gpu-1"
        assert place.lives.count == 1
        await driver.press("j", "tab")
        await driver.said("No run lives there.")


async def test_a_host_without_runs_is_disabled_at_once_and_enabled_again() -> None:
    model = empty()
    async with at_hosts(model) as (driver, _):
        await driver.press("d")
        await driver.said("local is given no new work; d enables it.")
        await driver.until(lambda: "◼ disabled" in driver.text())
        await driver.press("d")
        await driver.said("local is given work again.")
        assert model.calls == [("disable_host", "local"), ("enable_host", "local")]


async def test_a_host_with_runs_is_disabled_after_a_question() -> None:
    model = sample()
    async with at_hosts(model) as (driver, _):
        await driver.press("d")
        await driver.at(Confirm)
        await driver.until(lambda: "enable it. 4 runs" in driver.text())
        await driver.press("enter")
        await driver.at(HostsScreen)
        assert model.calls == []
        await driver.press("d")
        await driver.at(Confirm)
        await driver.press("y")
        await driver.said("local is given no new work")


async def test_a_suspect_is_trusted_after_a_question() -> None:
    model = sample()
    model.flag("gpu-1")
    async with at_hosts(model) as (driver, _):
        await driver.press("c")
        await driver.said("The host is not suspect")
        await driver.press("j", "c")
        await driver.at(Confirm)
        await driver.press("y")
        await driver.said("gpu-1 is trusted")
        assert model.calls == [("trust_host", "gpu-1")]


async def test_the_plan_is_shown_carried_out_and_its_answer_said() -> None:
    model = sample()
    model.plan = Plan([HELD, LOST], 3)
    async with at_hosts(model) as (driver, _):
        await driver.press("R")
        await driver.at(ReconcilePlan)
        for part in ("1 step to do, 1 to wait for", "report it lost", "should be running, is no session", "held until"):
            assert part in driver.text(), part
        await driver.press("enter")
        await driver.said("Asked for it")
        assert model.calls == [("reconcile", "local")]
        await driver.press("R")
        await driver.said("local is being reconciled already.")
        answers = len(model.events)
        model.happen(("host.reconciled", {"host": "gpu-1", "answers": answers, "plan": []}))
        model.happen(("host.reconciled", {"host": "local", "answers": answers, "plan": [{"done": True}, {}]}))
        await driver.said("local is reconciled: 1 step done.")


async def test_a_plan_that_has_nothing_to_do_asks_for_nothing() -> None:
    model = sample()
    model.plan = Plan((), 5)
    async with at_hosts(model) as (driver, _):
        await driver.press("R")
        await driver.at(ReconcilePlan)
        assert "Nothing to do: 5 sessions are as they should be." in driver.text()
        await driver.press("enter")
        await driver.at(HostsScreen)
        assert model.calls == []


async def test_a_plan_without_an_executor_says_who_could_carry_it_out() -> None:
    model = sample()
    model.facts = replace(model.facts, executor="down")
    model.plan = Plan([LOST], 0)
    async with at_hosts(model) as (driver, _):
        await driver.press("R")
        await driver.at(ReconcilePlan)
        await driver.until(lambda: "No executor runs" in driver.text())
        await driver.press("enter", "escape")
        await driver.at(HostsScreen)
        assert model.calls == []


async def test_what_can_not_be_known_or_reached_is_said() -> None:
    model = sample()
    model.plan = TmuxUnavailable("The spool of local can't be read.")
    async with at_hosts(model) as (driver, _):
        await driver.press("R")
        await driver.said("The spool of local can't be read.")
        await driver.press("G", "R")
        await driver.said("mini is offline; it is reconciled as soon as it answers.")


async def test_adding_a_host_says_what_this_version_can() -> None:
    async with at_hosts(sample()) as (driver, _):
        await driver.press("n")
        await driver.said("This version of pam runs agents on this machine only")


async def test_an_event_of_a_run_reads_that_run_alone() -> None:
    model = sample()
    async with at_hosts(model) as (driver, _):
        model.reads.clear()
        model.runs[uid(205)] = run(205, 14, "codex", activity="waiting", source="agent", note="Which one?")
        model.happen(("run.signal_received", {"run_id": uid(205), "attempt": 1}))
        await driver.until(lambda: "4, 2 wait" in driver.text())
        assert ("fleet",) not in model.reads
        model.runs[uid(205)] = run(205, 14, "codex", "exited", exit_code=0)
        model.happen(("run.finished", {"run_id": uid(205), "attempt": 1}))
        await driver.until(lambda: "3, 1 waits" in driver.text())


async def test_hostile_names_break_no_border() -> None:
    model = sample()
    evil = "\x1b[31mevil\u202e \U0001f468\u200d\U0001f469 \x00日本"
    model.hosts = [replace(each, name=evil if each.name == "gpu-1" else each.name) for each in model.hosts]
    async with at_hosts(model, (80, 24)) as (driver, _):
        await driver.press("j")
        lines = driver.text().splitlines()
        assert "\x1b" not in driver.text() and "\u202e" not in driver.text()
        assert all(line.rstrip()[-1:] in "│╮╯ " for line in lines[1:6])
