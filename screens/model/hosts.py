"""What the hosts place asks for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from screens.model.views import RunView
from store.records import Host


@dataclass(frozen=True, slots=True)
class Orphan:
    """A session that no run explains; it is ended when its time is over."""

    session: str
    since: datetime


@dataclass(frozen=True, slots=True)
class HostView:
    """A host with what lives there."""

    host: Host
    runs: Sequence[RunView] = ()
    """Those that start or run there, who waits first."""
    orphans: Sequence[Orphan] = ()
    leftovers: Sequence[RunView] = ()
    """Runs that are over while their agent lives on."""


@dataclass(frozen=True, slots=True)
class Machine:
    """This machine at one moment."""

    tmux: str = ""
    """Its version; empty when there is none that pam can use."""
    faults: Sequence[str] = ()
    """What that version is known for, each with what pam does about it."""
    trouble: str = ""
    """Why its tmux can't be used, with what to do."""
    load: tuple[float, float, float] | None = None
    """Load averages of 1, 5 and 15 minutes."""
    cores: int = 0


@dataclass(frozen=True, slots=True)
class PlanStep:
    """What differs on a host, and what is done about it."""

    subject: str
    desired: str
    observed: str
    action: str
    reason: str
    acts: bool
    """False: it is only waited, the reason says for what."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What reconciling a host would do now."""

    steps: Sequence[PlanStep] = ()
    kept: int = 0
    """Sessions that are as they should be."""


class HostsModel(Protocol):
    """Reads and verbs of the hosts place."""

    async def fleet(self) -> Sequence[HostView]:
        """Every host, by name."""

    async def machine(self) -> Machine:
        """This machine; asks tmux once and the kernel each time, in the background."""

    async def reconcile_plan(self, host: str) -> Plan:
        """What reconciling would do now; nothing is changed. Raises PamError when it can't be known."""

    async def reconcile(self, host: str) -> int:
        """Ask the executor to do it; the number of the request, which ``host.reconciled`` answers."""

    async def enable_host(self, host: str) -> None:
        """Give it work again."""

    async def disable_host(self, host: str) -> None:
        """Give it no new work; what runs there goes on."""

    async def trust_host(self, host: str) -> None:
        """Trust the instance that was presented last; raises Conflict when the host is not suspect."""
