"""Notices of runs that wait: off unless asked for, grouped, once for each question, never in quiet hours."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, time
from pathlib import Path
from typing import Literal

import pytest
from textual import events

from app import notices, notifying
from app.control_room import ControlRoom
from app.notice_settings import NoticeSettings, hours, ways
from app.notices import Notice, Notices
from app.settings import load
from screens.board import BoardScreen
from store.errors import ConfigError
from store.home import Home
from tests.screens.driving import DEADLINE, Driver, driving
from tests.screens.fake_model import NOW, FakeModel, clock, item, project, run, sample, uid


class News(asyncio.Event):
    """Stands in for that of ``Notices``; ``over`` once all that it was set for has been looked at."""

    def __init__(self) -> None:
        super().__init__()
        self.came = asyncio.Event()
        self.over = asyncio.Event()

    def set(self) -> None:
        self.came.set()
        self.over.clear()
        super().set()

    async def wait(self) -> Literal[True]:
        if not self.is_set():
            self.over.set()
        return await super().wait()


@dataclass
class Told:
    """What was told, and by whom."""

    model: FakeModel
    it: Notices
    news: News
    heard: list[Notice] = field(default_factory=list)
    more: asyncio.Event = field(default_factory=asyncio.Event)
    looks: bool = False

    def waits(self, number: int, note: str = "Bash: ls") -> None:
        """A run begins to wait."""
        self.model.runs[uid(number)] = replace(self.model.runs[uid(number)], activity="waiting", activity_note=note)
        self.says(number, "waiting")

    def says(self, number: int, activity: str) -> None:
        if activity != "waiting":
            self.model.runs[uid(number)] = replace(self.model.runs[uid(number)], activity=activity)  # type: ignore[arg-type]
        self.happen("run.signal_received", number, kind="progress", said={"activity": activity})

    def happen(self, topic: str, number: int, **facts: object) -> None:
        self.model.happen((topic, {"run_id": uid(number), **facts}))
        self.it.heed(self.model.events[-1:])

    async def until(self, count: int) -> list[Notice]:
        async with asyncio.timeout(DEADLINE):
            while len(self.heard) < count:
                self.more.clear()
                await self.more.wait()
        return self.heard

    async def settled(self) -> list[Notice]:
        """What was told once everything that began has been looked at."""
        async with asyncio.timeout(DEADLINE):
            await self.news.over.wait()
        return self.heard


@asynccontextmanager
async def telling(settings: NoticeSettings, at: datetime = NOW) -> AsyncIterator[Told]:
    model = FakeModel().add(project())
    for number in (1, 2, 3):
        model.add(item(number, f"Task {number}"), run(number + 10, number, activity="working"))

    async def send(notice: Notice) -> None:
        told.heard.append(notice)
        told.more.set()

    told = Told(model, Notices(settings, model, lambda: at, lambda: told.looks, send), News())
    told.it._news = told.news
    task = asyncio.create_task(told.it.run())
    try:
        yield told
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


@pytest.fixture(autouse=True)
def quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notices, "TOGETHER_S", 0.05)


BELL = NoticeSettings(("bell",))


async def test_one_that_waits_is_told_with_what_it_asks() -> None:
    async with telling(BELL) as told:
        told.waits(11)
        assert await told.until(1) == [Notice("pam: claude waits for you", "Task 1: Bash: ls")]


async def test_several_at_once_are_one_notice() -> None:
    async with telling(BELL) as told:
        for number in (11, 12, 13):
            told.waits(number)
        assert await told.until(1) == [Notice("pam: 3 agents wait for you", "Task 1 · Task 2 · Task 3")]
        assert len(await told.settled()) == 1


async def test_a_reminder_is_no_new_question_and_the_same_question_asked_again_is_one() -> None:
    async with telling(BELL) as told:
        told.waits(11)
        await told.until(1)
        told.says(11, "waiting")
        assert len(await told.settled()) == 1
        told.says(11, "working")
        told.waits(11)
        await told.until(2)
        told.waits(11, "Bash: rm -r build")
        assert (await told.until(3))[-1].body == "Task 1: Bash: rm -r build"
        told.happen("run.signal_received", 11, kind="completed", said={"result": "success"})
        told.waits(11, "Bash: rm -r build")
        await told.until(4)


async def test_one_that_was_answered_at_once_is_not_told() -> None:
    async with telling(BELL) as told:
        told.waits(11)
        told.says(11, "working")
        assert await told.settled() == []


async def test_nobody_is_told_who_looks_or_sleeps_or_did_not_ask_for_it() -> None:
    async with telling(BELL) as told:
        told.looks = True
        told.waits(11)
        assert await told.settled() == []
    night = NOW.replace(hour=23)
    async with telling(NoticeSettings(("bell",), (time(22), time(7))), night) as told:
        told.waits(11)
        assert await told.settled() == []
    async with telling(NoticeSettings()) as told:
        told.waits(11)
        assert not told.news.came.is_set()


async def test_ends_are_told_where_that_is_wanted() -> None:
    async with telling(NoticeSettings(("bell",), on_end=True)) as told:
        told.model.runs[uid(11)] = replace(told.model.runs[uid(11)], status="failed", failure_reason="host_lost")
        told.happen("run.failed", 11)
        assert await told.until(1) == [Notice("pam: claude failed (host lost)", "Task 1")]


@pytest.mark.parametrize(
    ("at", "hushed"), [("21:59", False), ("22:00", True), ("03:00", True), ("07:00", False), ("12:00", False)]
)
def test_quiet_hours_go_past_midnight(at: str, hushed: bool) -> None:
    settings = NoticeSettings(quiet=hours("22:00-07:00"))
    assert settings.hushed(time.fromisoformat(at)) == hushed


def test_the_ways_and_hours_of_the_config_are_read_and_checked(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.config.write_text('[notify]\nvia = "osc9, bell"\nquiet_hours = "22:00-07:00"\non_end = true\n')
    expected = NoticeSettings(("osc9", "bell"), (time(22), time(7)), on_end=True)
    assert load(home, None, {}).notify == expected
    for line, said in (('via = "pigeon"', "'pigeon' is no way to notify"), ('quiet_hours = "late"', "22:00-07:00")):
        home.config.write_text(f"[notify]\n{line}\n")
        with pytest.raises(ConfigError, match=said):
            load(home, None, {})
    assert load(Home(tmp_path / "other"), None, {}).notify == NoticeSettings()
    assert ways("bell bell") == ("bell",)


def test_a_sequence_holds_nothing_that_ends_it_early() -> None:
    notice = Notice("pam: a;b", "c;d")
    assert notifying.sequence("osc777", notice, {}) == "\x1b]777;notify;pam: a,b;c,d\x07"
    assert notifying.sequence("osc9", notice, {}) == "\x1b]9;pam: a,b: c,d\x07"
    assert notifying.sequence("bell", notice, {"TMUX": "x"}) == "\x07"
    assert notifying.sequence("osc9", notice, {"TMUX": "x"}).startswith("\x1bPtmux;\x1b\x1b]9;")


async def test_what_an_agent_asks_reaches_no_terminal_unconfined() -> None:
    async with telling(BELL) as told:
        told.waits(11, "ls \x1b]0;title\x07 \u202e" + "x" * 900)
        (notice,) = await told.until(1)
        assert all(character.isprintable() for text in notice for character in text)
        assert len(notice.body) <= 130


async def test_the_room_calls_only_while_its_terminal_is_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TMUX", raising=False)
    model = sample()
    room = ControlRoom(model, clock=clock, notify=NoticeSettings(("osc9", "bell")))
    written: list[str] = []
    monkeypatch.setattr(room, "_write", written.append)
    room._notices._news = news = News()
    said: dict[str, object] = {"run_id": uid(201), "kind": "progress", "said": {"activity": "waiting"}}
    waits = ("run.signal_received", said)
    async with room.run_test() as pilot:
        driver = Driver(room, pilot, model)
        await driver.at(BoardScreen)
        room.post_message(events.AppFocus())
        await pilot.pause()
        model.happen(waits)
        async with asyncio.timeout(DEADLINE):
            await news.came.wait()
            await news.over.wait()
        assert written == []
        room.post_message(events.AppBlur())
        await pilot.pause()
        model.runs[uid(201)] = replace(model.runs[uid(201)], activity_note="Bash: ls")
        model.happen(waits)
        await driver.until(lambda: len(written) == 2, "both ways have told it")
        assert written == ["\x1b]9;pam: claude waits for you: Fix flaky auth tests: Bash: ls\x07", "\x07"]


async def test_a_desktop_that_cannot_be_reached_is_no_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    await notifying.notify_send(Notice("pam", "body"))
    said = tmp_path / "said"
    program = tmp_path / "notify-send"
    program.write_text(f'#!/bin/sh\nprintf "%s|" "$@" > {said}\nexit 1\n')
    program.chmod(0o755)
    await notifying.notify_send(Notice("pam: a", "-b"))
    assert said.read_text() == "--app-name=pam|--|pam: a|-b|"


async def test_the_header_counts_who_waits() -> None:
    async with driving(sample()) as driver:
        assert "⚑ 1 waiting" in driver.text()
