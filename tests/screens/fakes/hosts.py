"""The hosts place's part of the fake model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from screens.model.hosts import HostView, Machine, Orphan, Plan
from store.errors import PamError
from store.records import HostStatus
from tests.screens.fakes.core import NOW, FakeCore

FAULTS = (
    "may lose a fast exit's status (pam has it from its wrapper)",
    "crashes on a global `window-size manual` (pam sets it per window)",
)


@dataclass
class FakeHosts(FakeCore):
    """Implements ``screens.model.hosts.HostsModel``."""

    this_machine: Machine = field(default_factory=lambda: Machine("3.3a", FAULTS, "", (0.52, 0.41, 0.3), 2))
    orphans: dict[str, Sequence[Orphan]] = field(default_factory=dict)
    """By name of the host."""
    leftovers: dict[str, Sequence[str]] = field(default_factory=dict)
    """Ids of runs, by name of the host."""
    plan: Plan | PamError = field(default_factory=Plan)

    async def fleet(self) -> Sequence[HostView]:
        self.reads.append(("fleet",))
        live = [await self.run(run.id) for run in self.runs.values() if run.live]
        live.sort(key=lambda view: (view.run.activity != "waiting", view.run.created_at))
        return [
            HostView(
                host,
                [view for view in live if view.run.host_id == host.id],
                self.orphans.get(host.name, ()),
                [await self.run(run_id) for run_id in self.leftovers.get(host.name, ())],
            )
            for host in self.hosts
        ]

    async def machine(self) -> Machine:
        return self.this_machine

    async def reconcile_plan(self, host: str) -> Plan:
        self.reads.append(("reconcile_plan", host))
        if isinstance(self.plan, PamError):
            raise self.plan
        return self.plan

    async def reconcile(self, host: str) -> int:
        await self._verb("reconcile", host)
        self.happen(("host.reconcile_requested", {"host": host}))
        return len(self.events)

    async def enable_host(self, host: str) -> None:
        await self._verb("enable_host", host)
        self._become(host, "online")

    async def disable_host(self, host: str) -> None:
        await self._verb("disable_host", host)
        self._become(host, "disabled")

    async def trust_host(self, host: str) -> None:
        await self._verb("trust_host", host)
        self.hosts = [
            replace(each, instance_suspect=each.instance_suspect and each.name != host) for each in self.hosts
        ]
        self.happen(("host.suspect_cleared", {"host": host}))

    def flag(self, host: str) -> None:
        """Another instance answers under its name."""
        self.hosts = [
            replace(each, instance_suspect=True, instance_flagged_at=NOW) if each.name == host else each
            for each in self.hosts
        ]

    def _become(self, host: str, status: HostStatus) -> None:
        self.hosts = [replace(each, status=status) if each.name == host else each for each in self.hosts]
        self.happen((f"host.{'disabled' if status == 'disabled' else 'enabled'}", {"host": host}))
