"""The providers place's part of the model."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.catalog_edit import ensure_entry, excerpt, set_enabled
from app.model.access import Access, Surroundings
from app.model.apart import apart
from app.model.detecting import Detector
from executor.tmux.errors import TmuxError
from providers import catalog
from providers.check import Check, Practice
from providers.detection import Detection, sought
from providers.provider import Provider
from providers.recipes.registry import recipe
from providers.toml_text import key_lines
from screens.model import FirstStart
from screens.model.providers import CatalogView, Fault, HooksUse, ProviderView, Smoke
from store.errors import ConfigError, ProviderUnavailable, TmuxUnavailable

if TYPE_CHECKING:
    from executor.smoke import Smoke as Trial


class ProvidersParts(Access):
    """Implements ``screens.model.providers.ProvidersModel``."""

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self._valid = catalog.Catalog({})
        """The last catalog without a fault."""
        self._detector = Detector()

    async def first_start(self) -> FirstStart:
        """As the protocol says."""
        return await asyncio.to_thread(_first_start, self._around)

    async def catalog(self) -> CatalogView:
        """As the protocol says."""
        path, fault = self._file(), None
        try:
            self._valid = await asyncio.to_thread(self._around.catalog)
        except ConfigError as error:
            fault = await asyncio.to_thread(_fault, error)
        own = await asyncio.to_thread(_named_in, path)
        views = [_view(each, self._around, each.name in own) for each in self._valid.providers.values()]
        return CatalogView(str(path), views, fault, asks_secrets=bool(self._around.settings.key_command))

    async def detections(self, *, anew: bool = False) -> AsyncIterator[tuple[str, Detection]]:
        """As the protocol says."""
        async for found in self._detector.look(list(self._valid.providers.values()), anew=anew):
            yield found

    async def examine(self, name: str) -> Sequence[Check]:
        """As the protocol says."""
        from providers import doctor

        practice = _practice(self._around)
        return await asyncio.to_thread(doctor.checks, self._valid, os.environ, only=name, practice=practice)

    async def smoke(self, name: str) -> Smoke:
        """As the protocol says."""
        from executor.smoke import smoke

        provider, settings = self._valid.get(name), self._around.settings
        try:
            came = await apart(lambda: smoke(provider, settings, dict(os.environ)))
        except TmuxError as error:
            raise TmuxUnavailable(f"It could not be started: {error}. `pam doctor` looks at tmux.") from error
        except OSError as error:
            raise ProviderUnavailable(f"It could not be started: {error}.", provider=name) from error
        return _told(provider, came)

    async def enable_provider(self, name: str, enabled: bool) -> None:
        """As the protocol says."""
        await asyncio.to_thread(set_enabled, self._file(), name, enabled)

    async def entry(self, name: str) -> tuple[str, int]:
        """As the protocol says."""
        path = self._file()
        return str(path), await asyncio.to_thread(ensure_entry, path, name)

    def _file(self) -> Path:
        return self._around.catalog_file or catalog.operator_path(self._around.home.path)


def _first_start(around: Surroundings) -> FirstStart:
    entries = around.catalog().providers.values()
    agents = [each.name for each in entries if each.enabled and each.keys and is_here(each)]
    cwd = Path.cwd()
    if cwd in (Path.home(), Path(cwd.anchor)) or around.home.path.is_relative_to(cwd):
        return FirstStart(agents)
    return FirstStart(agents, cwd.name, str(cwd))


def is_here(provider: Provider) -> bool:
    """Whether its program is on this machine; one without a program of its own is not."""
    try:
        return sought(provider, os.environ) is not None
    except ProviderUnavailable:
        return False


def _view(provider: Provider, around: Surroundings, own: bool) -> ProviderView:
    return ProviderView(provider, _hooks(provider, around), own, provider.can_smoke)


def _hooks(provider: Provider, around: Surroundings) -> HooksUse:
    if not provider.hooks.recipe or recipe(provider.hooks.recipe) is None:
        return "none"
    return "on" if provider.hooks.proven or around.settings.unproven_hooks else "off"


def _practice(around: Surroundings) -> Practice:
    settings = around.settings
    return Practice(
        gateway=settings.gateway,
        key_command=settings.key_command,
        unproven_hooks=settings.unproven_hooks,
        first_run_answers=settings.first_run_answers,
        home=str(around.home.path),
        cwd=os.getcwd(),  # noqa: PTH109 - a text
    )


def _fault(error: ConfigError) -> Fault:
    line = error.details.get("line")
    if not isinstance(line, int):
        return Fault(error.message)
    return Fault(error.message, line, excerpt(Path(str(error.details["path"])), line))


def _named_in(path: Path) -> set[str]:
    """Names of the entries in the operator's file that say something; none while it can't be read."""
    try:
        return {key[0] for key in key_lines(path.read_text(encoding="utf-8")) if len(key) > 1}
    except (OSError, ValueError):
        return set()


def _told(provider: Provider, came: Trial) -> Smoke:
    proven = provider.hooks.proven
    if came.answered:
        hooks = "; its hooks spoke" if came.hooks else "; no hook spoke, though they are proven" if proven else ""
        return Smoke(came.hooks or not proven, f"answered in {came.took_s:.1f} s{hooks}")
    why = "ended" if came.ended else "asks something" if not came.asked else "did not show the answer"
    return Smoke(False, f"no answer in {came.took_s:.0f} s: it {why}", came.screen)
