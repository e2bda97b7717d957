"""What the providers place asks for."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from providers.check import Check
from providers.detection import Detection
from providers.provider import Provider
from screens.model.starting import FirstStart

HooksUse = Literal["on", "off", "none"]
"""Given to its runs; not given, because no test has proven them; there are none for it."""


@dataclass(frozen=True, slots=True)
class ProviderView:
    """An entry of the catalog."""

    provider: Provider
    hooks: HooksUse = "none"
    own: bool = False
    """Whether the operator's file says something about it."""
    can_smoke: bool = False
    """Whether the entry says how to lead the program to a stub model."""


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong in the operator's file."""

    sentence: str
    line: int = 0
    """Counted from 1; 0 where it has no line."""
    around: Sequence[tuple[int, str]] = ()
    """Lines of the file near the fault, with their numbers."""


@dataclass(frozen=True, slots=True)
class CatalogView:
    """The catalog, or the last one that was valid."""

    path: str
    """The operator's file, which need not exist."""
    providers: Sequence[ProviderView] = ()
    fault: Fault | None = None
    """Why the file does not count as it is now."""
    asks_secrets: bool = False
    """Whether the doctor would run the operator's command for keys, which may open a window."""


@dataclass(frozen=True, slots=True)
class Smoke:
    """What came of a start against the stub model."""

    good: bool
    sentence: str
    screen: Sequence[str] = ()
    """The last lines of its screen, where it did not answer."""


class ProvidersModel(Protocol):
    """Reads and verbs of the providers place."""

    async def first_start(self) -> FirstStart:
        """What is here to begin with; looks for programs and runs none."""

    async def catalog(self) -> CatalogView:
        """Every entry, in the order of the files; a faulty file leaves the last valid ones."""

    def detections(self, *, anew: bool = False) -> AsyncIterator[tuple[str, Detection]]:
        """What of each provider is installed, by name, as it is found: two programs are asked at a time.

        Answers are kept until the program's file changes; ``anew`` asks all the same.
        """

    async def examine(self, name: str) -> Sequence[Check]:
        """The doctor's lines of a provider; raises ProviderUnavailable."""

    async def smoke(self, name: str) -> Smoke:
        """Start it once against a stub model, in a home of its own; takes up to ``SMOKE_S``."""

    async def enable_provider(self, name: str, enabled: bool) -> None:
        """Switch it on or off in the operator's file; raises ConfigError."""

    async def entry(self, name: str) -> tuple[str, int]:
        """The operator's file and the line of the entry in it; made of comments where there is none yet.

        Raises ConfigError.
        """


SMOKE_S = 60
"""Seconds that a smoke test takes at the most."""
