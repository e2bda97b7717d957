"""The plan of a host from a process without an executor: store and host are read, nothing is changed."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

from executor.hosts.link import Unknown
from executor.hosts.local import LocalLink
from executor.settings import ExecutorSettings
from executor.supervision.epoch import home_of
from executor.supervision.observe import Ask, Observer
from executor.supervision.plan import Limits, Seen, Step, plan
from store import runs
from store.database import Store
from store.records import Host, Run

P = ParamSpec("P")
T = TypeVar("T")

SETTLE_S = 5.0
"""A run claimed this recently is being started by the executor that runs; nobody else can tell."""


async def dry_run(
    store: Store, home: Path, settings: ExecutorSettings, host: Host, *, attended: bool
) -> tuple[Step, ...]:
    """What reconciling the host would do now. ``attended``: an executor runs, which may have sessions in hand.

    Raises StoreUnavailable, or HostUnanswered while the spool cannot be read.
    """
    limits, now = Limits(settings.spawn_timeout_s, settings.orphan_hold_s), store.clock()
    if host.transport != "local":
        expected = runs.list_all(store, statuses=("spawning", "running"), host_id=host.id)
        far = Seen(host.name, host.id, "", Unknown("this process has no link to the host"))
        return plan(expected, far, limits, now)
    link = LocalLink(settings, home)
    observer = Observer(link, host.id, _known_home(home), _caller(store), in_hand=_just_claimed(now, attended))
    judged, seen = await observer.everything()
    return plan(judged, seen, limits, now)


def _caller(store: Store) -> Ask:
    async def call(verb: Callable[Concatenate[Store, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        return verb(store, *args, **kwargs)

    return call


def _just_claimed(now: datetime, attended: bool) -> Callable[[Run], bool]:
    def in_hand(run: Run) -> bool:
        return attended and run.status == "spawning" and (now - run.updated_at).total_seconds() < SETTLE_S

    return in_hand


def _known_home(home: Path) -> str:
    """As its executor marks panes; nothing before the first executor made the id."""
    try:
        return home_of((home / "host" / "instance-id").read_text(encoding="ascii").strip())
    except (OSError, ValueError):
        return ""
