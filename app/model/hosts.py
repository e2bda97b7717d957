"""The hosts place's part of the model."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from app.model.access import ACTOR, Access, Surroundings, of_one_moment
from app.model.apart import apart
from app.model.wall import views_of
from executor import lock
from executor.tmux import oneshot
from executor.tmux.errors import TmuxError
from screens.chips import waits
from screens.model.hosts import HostView, Machine, Orphan, Plan, PlanStep
from screens.model.views import RunView
from store import hosts, leftovers, orphans, reconciling, runs
from store.database import Store
from store.errors import PamError, TmuxUnavailable
from store.records import Host, Run

if TYPE_CHECKING:
    from executor.supervision.plan import Step


class HostsParts(Access):
    """Implements ``screens.model.hosts.HostsModel``."""

    async def fleet(self) -> Sequence[HostView]:
        """As the protocol says."""
        return await self._reads.call(_fleet)

    async def machine(self) -> Machine:
        """As the protocol says."""
        return await asyncio.to_thread(_machine, self._around)

    async def reconcile_plan(self, host: str) -> Plan:
        """As the protocol says."""
        try:
            steps = await apart(lambda: _plan(self._store, self._around, host))
        except TmuxError as error:
            raise TmuxUnavailable(f"tmux does not answer: {error}. Nothing was changed; try R again.") from error
        shown = [_step(step) for step in steps if step.action != "keep"]
        return Plan(shown, len(steps) - len(shown))

    async def reconcile(self, host: str) -> int:
        """As the protocol says."""
        return await self._writes.call(reconciling.request, host, actor=ACTOR)

    async def enable_host(self, host: str) -> None:
        """As the protocol says."""
        window = self._around.settings.offline_after_s
        await self._writes.call(hosts.enable, host, offline_after_s=window, actor=ACTOR)

    async def disable_host(self, host: str) -> None:
        """As the protocol says."""
        await self._writes.call(hosts.disable, host, actor=ACTOR)

    async def trust_host(self, host: str) -> None:
        """As the protocol says."""
        await self._writes.call(hosts.clear_suspect, host, actor=ACTOR)


@of_one_moment
def _fleet(store: Store) -> list[HostView]:
    live = views_of(store, runs.live(store))
    return [
        HostView(
            host,
            sorted((view for view in live if view.run.host_id == host.id), key=_by_need),
            [Orphan(each.session, each.at) for each in orphans.known(store, host.name).values()],
            _leftovers(store, host),
        )
        for host in hosts.list_all(store)
    ]


def _leftovers(store: Store, host: Host) -> list[RunView]:
    """Only a run that was given up without a report of its end can be flagged; one whose agent is gone is no matter."""
    over = {run.id: run for run in leftovers.given_up(store, host.id)}
    flagged = [over[run_id] for run_id in leftovers.flagged(store, over.keys())]
    found = views_of(store, [run for run in flagged if host.transport != "local" or not _gone(run)])
    return sorted(found, key=lambda view: view.run.created_at, reverse=True)


def _gone(run: Run) -> bool:
    from executor import processes
    from executor.supervision.station import agent_of

    agent = agent_of(run)
    return agent is not None and processes.liveness(agent) == "dead"


def _by_need(view: RunView) -> tuple[bool, object]:
    return not waits(view.run), view.run.created_at


def _machine(around: Surroundings) -> Machine:
    from executor.health import known_faults

    load, cores = _load(), os.cpu_count() or 0
    try:
        version = oneshot.find_tmux(around.settings)
    except PamError as error:
        return Machine(trouble=str(error), load=load, cores=cores)
    return Machine(str(version), known_faults(version), load=load, cores=cores)


def _load() -> tuple[float, float, float] | None:
    try:
        return os.getloadavg()
    except OSError:
        return None


async def _plan(store: Store, around: Surroundings, name: str) -> Sequence[Step]:
    from executor.supervision.dry_run import dry_run

    try:
        host = hosts.get(store, name)
        attended = lock.state(around.home).running
        return await dry_run(store, around.home.path, around.settings, host, attended=attended)
    finally:
        store.leave_thread()


def _step(step: Step) -> PlanStep:
    return PlanStep(step.subject, step.desired, step.observed, step.action, step.reason, step.acts)
