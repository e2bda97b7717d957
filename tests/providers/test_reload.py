"""The catalog follows its file: valid changes are taken over, faults are reported and change nothing (PAM-PROV-008)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import pytest

from providers.catalog import Catalog
from providers.reload import CatalogKeeper
from store.errors import ConfigError

DEADLINE_S = 10


class Watched:
    """A keeper that watches the catalog of ``home``, and what it told."""

    def __init__(self, home: Path, operator_file: Path | None = None) -> None:
        self.told: asyncio.Queue[Catalog | ConfigError] = asyncio.Queue()
        self.keeper = CatalogKeeper(
            home, operator_file=operator_file, on_change=self.told.put_nowait, on_error=self.told.put_nowait
        )
        self.task = asyncio.create_task(self.keeper.watch())

    async def write(self, text: str) -> Catalog | ConfigError:
        """Write the file as an editor does, beside it and then over it; what the keeper tells about it."""
        draft = self.keeper.path.with_name("draft")
        await asyncio.to_thread(draft.write_text, text)
        await asyncio.to_thread(draft.replace, self.keeper.path)
        return await self.next()

    async def next(self) -> Catalog | ConfigError:
        return await asyncio.wait_for(self.told.get(), DEADLINE_S)


@pytest.fixture
async def watched(tmp_path: Path) -> AsyncIterator[Watched]:
    watched = Watched(tmp_path)
    yield watched
    watched.task.cancel()
    with suppress(asyncio.CancelledError):
        await asyncio.wait_for(watched.task, DEADLINE_S)


def title_of(told: Catalog | ConfigError) -> str:
    assert isinstance(told, Catalog), told
    return told.get("demo").title


async def test_a_file_that_comes_changes_and_goes_is_followed(watched: Watched) -> None:
    before = watched.keeper.catalog
    assert title_of(await watched.write('[demo]\ntitle = "First"\n')) == "First"
    assert title_of(await watched.write('[demo]\ntitle = "Second"\n')) == "Second"
    await asyncio.to_thread(watched.keeper.path.unlink)
    assert await watched.next() == before
    assert watched.keeper.catalog == before


async def test_a_change_in_place_is_followed(watched: Watched) -> None:
    await watched.write('[demo]\ntitle = "First"\n')
    await asyncio.to_thread(watched.keeper.path.write_text, '[demo]\ntitle = "In place"\n')
    assert title_of(await watched.next()) == "In place"


async def test_a_fault_is_reported_and_the_catalog_stays_until_it_is_mended(watched: Watched) -> None:
    await watched.write('[demo]\ntitle = "Good"\n')
    held = watched.keeper.catalog
    fault = await watched.write('[demo]\ntitel = "Bad"\n')
    assert isinstance(fault, ConfigError)
    assert fault.details == {"path": str(watched.keeper.path), "line": 2}
    assert watched.keeper.error is fault
    assert watched.keeper.catalog is held
    assert title_of(await watched.write('[demo]\ntitle = "Mended"\n')) == "Mended"
    assert watched.keeper.error is None


async def test_what_became_of_a_change_stands_in_the_log(watched: Watched, caplog: pytest.LogCaptureFixture) -> None:
    """Whoever edits the file while the executor runs is told there, with the line, and again when it is mended."""
    caplog.set_level("INFO", logger="pam.catalog")
    await watched.write("[demo]\ntitel = 1\n")
    assert [(record.levelname, f"{watched.keeper.path}:2" in record.message) for record in caplog.records] == [
        ("WARNING", True)
    ]
    await watched.write("[demo]\ntitle = 'Another'\n")
    assert caplog.records[-1].levelname == "INFO"


async def test_other_files_of_the_home_and_an_unchanged_text_change_nothing(watched: Watched) -> None:
    await watched.write('[demo]\ntitle = "Same"\n')
    await asyncio.to_thread(watched.keeper.path.with_name("pam.db").write_text, "x")
    await asyncio.to_thread(watched.keeper.path.write_text, '# more\n[demo]\ntitle = "Same"\n')
    assert title_of(await watched.write('[demo]\ntitle = "Other"\n')) == "Other"
    assert watched.told.empty()


async def test_a_file_behind_a_link_is_followed(tmp_path: Path) -> None:
    home, dotfiles = tmp_path / "home", tmp_path / "dotfiles"
    home.mkdir()
    dotfiles.mkdir()
    target = dotfiles / "agents.toml"
    target.write_text('[demo]\ntitle = "Linked"\n')
    (home / "providers.toml").symlink_to(target)
    watched = Watched(home)
    assert title_of(watched.keeper.catalog) == "Linked"
    await asyncio.to_thread(target.write_text, '[demo]\ntitle = "Changed"\n')
    assert title_of(await watched.next()) == "Changed"
    watched.task.cancel()
    with suppress(asyncio.CancelledError):
        await asyncio.wait_for(watched.task, DEADLINE_S)


def test_a_fault_from_the_start_is_not_covered_up_by_the_shipped_catalog(tmp_path: Path) -> None:
    """The operator's file may narrow what an agent may do; without it no agent starts."""
    (tmp_path / "providers.toml").write_text("[claude\n")
    told: list[ConfigError] = []
    keeper = CatalogKeeper(tmp_path, on_error=told.append)
    with pytest.raises(ConfigError, match=r"providers\.toml:1: "):
        _ = keeper.catalog
    assert told == [keeper.error]
