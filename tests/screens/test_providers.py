"""The providers place by keys: the catalog, what is installed, the doctor, the smoke test, editing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from app.control_room import ControlRoom
from screens.board import BoardScreen
from screens.messages import EditFile
from screens.model.providers import Smoke
from screens.providers import ProvidersScreen
from store.errors import ConfigError, ProviderUnavailable
from tests.screens.driving import Driver, driving
from tests.screens.fake_model import FakeModel, sample
from tests.screens.fakes.providers import FAULT, PATH

WIDE = (160, 45)


@asynccontextmanager
async def at_providers(
    model: FakeModel, size: tuple[int, int] = WIDE, *, on: str = "claude"
) -> AsyncIterator[tuple[Driver, ProvidersScreen]]:
    async with driving(model, size=size) as driver:
        await driver.press("5")
        place = await driver.at(ProvidersScreen)
        await driver.until(lambda: place.catalog is not None and "✓ any command" in driver.text())
        place.table.find(on)
        yield driver, place


async def test_each_entry_says_what_of_it_is_here() -> None:
    async with at_providers(sample()) as (driver, _):
        await driver.until(lambda: "○ not here" in driver.text())
        text = driver.text()
        for part in ("✓ installed", "▲ other version", "✗ broken", "2.1.332", ">=2.1.197, <3", "✓ proven 2.1.332"):
            assert part in text, part
        assert "Providers · 11, 4 installed" in text


async def test_the_doctor_is_asked_when_the_cursor_rests() -> None:
    model = sample()
    async with at_providers(model) as (driver, _):
        await driver.until(lambda: "will ask in /home/mara/code" in driver.text())
        asked = [read for read in model.reads if read == ("examine", "claude")]
        await driver.press("D")
        await driver.until(lambda: model.reads.count(("examine", "claude")) == len(asked) + 1)


async def test_a_doctor_that_would_ask_for_secrets_waits_for_its_key() -> None:
    model = sample()
    model.the_catalog = replace(model.the_catalog, asks_secrets=True)
    async with at_providers(model) as (driver, _):
        await driver.until(lambda: "D asks the doctor" in driver.text())
        assert not any(read[0] == "examine" for read in model.reads)
        await driver.press("enter")
        await driver.until(lambda: "will ask in /home/mara/code" in driver.text())


async def test_what_the_doctor_can_not_do_is_said() -> None:
    model = sample()
    model.checks = ProviderUnavailable("There is no provider 'claude'.")
    async with at_providers(model) as (driver, _):
        await driver.until(lambda: "There is no provider 'claude'." in driver.text())


async def test_a_smoke_test_shows_its_progress_and_its_outcome() -> None:
    model = sample()
    model.hold = asyncio.Event()
    async with at_providers(model) as (driver, _):
        await driver.press("S")
        await driver.until(lambda: "1 s of 60 s at the most" in driver.text())
        await driver.press("S")
        await driver.said("A smoke test of claude is under way")
        model.hold.set()
        await driver.said("claude: answered in 1.4 s; its hooks spoke.")
        assert "✓ answered in 1.4 s" in driver.text()
        assert model.calls == [("smoke", "claude")]


async def test_a_smoke_test_that_fails_shows_the_screen() -> None:
    model = sample()
    model.smoke_comes = Smoke(False, "no answer in 60 s: it asks something", ("Do you trust \x1b[31mthis?", "❯ 1. Yes"))
    async with at_providers(model) as (driver, _):
        await driver.press("S")
        await driver.until(lambda: "Do you trust [31mthis?" in driver.text() and "❯ 1. Yes" in driver.text())


async def test_an_entry_that_leads_to_no_stub_can_not_be_smoked() -> None:
    async with at_providers(sample(), on="demo") as (driver, _):
        await driver.press("S")
        await driver.said("It can't be led to a stub model")


async def test_a_provider_is_switched_off_and_on() -> None:
    model = sample()
    async with at_providers(model) as (driver, _):
        await driver.press("d")
        await driver.said("claude is switched off")
        await driver.until(lambda: "◼ off" in driver.text())
        await driver.press("D")
        await driver.said("The provider is switched off. Press d to switch it on.")
        await driver.press("d")
        await driver.said("claude is switched on")
        assert model.calls == [("enable_provider", "claude", False), ("enable_provider", "claude", True)]


async def test_a_file_that_can_not_be_written_is_said() -> None:
    model = sample()
    model.refuse = ConfigError(f"{PATH} cannot be written: Permission denied.")
    async with at_providers(model) as (driver, _):
        await driver.press("d")
        await driver.said("cannot be written: Permission denied.")
        assert "◼ off" not in driver.text()


@pytest.fixture
def edits(monkeypatch: pytest.MonkeyPatch) -> list[EditFile]:
    """What would have been edited; the editor ends at once."""
    asked: list[EditFile] = []

    def edit(room: ControlRoom, message: EditFile) -> None:
        asked.append(message)
        message.then()
        room.drop_keys()

    monkeypatch.setattr("app.terminal_turns.TerminalTurns.on_edit_file", edit)
    return asked


async def test_the_entry_is_edited_at_its_line(edits: list[EditFile]) -> None:
    async with at_providers(sample()) as (driver, _):
        await driver.press("e")
        await driver.said("Nothing of the catalog has changed.")
        assert [(edit.path, edit.line) for edit in edits] == [(PATH, 7)]


async def test_a_fault_is_shown_at_its_line_and_the_old_catalog_stays(edits: list[EditFile]) -> None:
    model = sample()
    async with at_providers(model) as (driver, place):
        valid = model.the_catalog
        model.the_catalog = replace(valid, fault=FAULT)
        await driver.press("e")
        await driver.said("Your providers.toml has a fault; the catalog stays as it was.")
        assert '▶ 3 │ prompt = "telepathy"' in driver.text()
        assert place.table.count == len(valid.providers)
        model.the_catalog = valid
        await driver.press("e")
        await driver.said("The catalog is taken over")
        assert edits[-1].line == FAULT.line
        assert "telepathy" not in driver.text()


async def test_programs_are_asked_anew() -> None:
    model = sample()
    async with at_providers(model) as (driver, _):
        model.installed["claude"] = replace(model.installed["claude"], version="2.2.0")
        await driver.press("r")
        await driver.until(lambda: "2.2.0" in driver.text())
        assert ("detections", True) in model.reads


async def test_a_catalog_without_entries_says_what_to_press() -> None:
    model = sample()
    model.the_catalog = replace(model.the_catalog, providers=(), fault=FAULT)
    async with driving(model) as driver:
        await driver.press("5")
        await driver.at(ProvidersScreen)
        await driver.until(lambda: "No provider can be used until it is mended." in driver.text())
        await driver.press("D")
        await driver.said("Press e to mend your providers.toml.")
        await driver.press("q")
        await driver.at(BoardScreen)


async def test_a_narrow_window_shows_the_doctor_above_the_entry() -> None:
    async with at_providers(sample(), (80, 24)) as (driver, _):
        await driver.until(lambda: "Doctor · claude" in driver.text() and "first run" in driver.text())
        await driver.press("pagedown", "pagedown")
        await driver.until(lambda: "recipe claude, proven with 2.1.332" in driver.text())
