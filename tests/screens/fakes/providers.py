"""The providers place's part of the fake model: the shipped catalog, on a machine that has three of its programs."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field, replace

from providers.catalog import SHIPPED
from providers.check import Check
from providers.detection import Detection
from providers.entries import read_entries
from screens.model import FirstStart
from screens.model.providers import CatalogView, Fault, ProviderView, Smoke
from store.errors import PamError
from tests.screens.fakes.core import FakeCore

PATH = "/home/mara/.local/share/pam/providers.toml"
INSTALLED = {
    "demo": Detection("/usr/bin/python3"),
    "shell": Detection(),
    "claude": Detection("/home/mara/bin/claude", "2.1.332"),
    "codex": Detection("/home/mara/bin/codex", "0.9.0", fits=False),
    "gemini": Detection("/home/mara/bin/gemini", None, fault="`gemini --version` failed: exit code 1"),
}
CHECKS = (
    Check("provider claude", "ok", "2.1.332 (/home/mara/bin/claude)"),
    Check("provider claude key", "na", "none of ANTHROPIC_API_KEY is set, and no login of the program's own is seen",
          "log in with `claude`, or set ANTHROPIC_API_KEY"),
    Check("provider claude hooks", "ok", "on, proven with 2.1.332"),
    Check("provider claude first run", "problem", "will ask in /home/mara/code: whether the directory is trusted",
          "start `claude` there once"),
)  # fmt: skip
FAULT = Fault(
    f"{PATH}:3: `prompt` is one of argv, paste, none.", 3, ((2, "[claude]"), (3, 'prompt = "telepathy"'), (4, ""))
)


def shipped() -> tuple[ProviderView, ...]:
    return tuple(
        ProviderView(each, "on" if each.hooks.proven else "none", can_smoke=bool(each.gateway.env))
        for each in read_entries(SHIPPED).values()
    )


@dataclass
class FakeProviders(FakeCore):
    """Implements ``screens.model.providers.ProvidersModel``."""

    the_catalog: CatalogView = field(default_factory=lambda: CatalogView(PATH, shipped()))
    installed: dict[str, Detection] = field(default_factory=lambda: dict(INSTALLED))
    checks: Sequence[Check] | PamError = CHECKS
    smoke_comes: Smoke = field(default_factory=lambda: Smoke(True, "answered in 1.4 s; its hooks spoke"))
    offered: FirstStart = field(default_factory=FirstStart)

    async def first_start(self) -> FirstStart:
        return self.offered

    async def catalog(self) -> CatalogView:
        self.reads.append(("catalog",))
        return self.the_catalog

    async def detections(self, *, anew: bool = False) -> AsyncIterator[tuple[str, Detection]]:
        self.reads.append(("detections", anew))
        for view in self.the_catalog.providers:
            yield view.provider.name, self.installed.get(view.provider.name, Detection())

    async def examine(self, name: str) -> Sequence[Check]:
        self.reads.append(("examine", name))
        if isinstance(self.checks, PamError):
            raise self.checks
        return [replace(each, name=each.name.replace("claude", name)) for each in self.checks]

    async def smoke(self, name: str) -> Smoke:
        await self._verb("smoke", name)
        return self.smoke_comes

    async def enable_provider(self, name: str, enabled: bool) -> None:
        await self._verb("enable_provider", name, enabled)
        views = [
            replace(each, own=True, provider=replace(each.provider, enabled=enabled))
            if each.provider.name == name
            else each
            for each in self.the_catalog.providers
        ]
        self.the_catalog = replace(self.the_catalog, providers=views)

    async def entry(self, name: str) -> tuple[str, int]:
        await self._verb("entry", name)
        return PATH, 7
