"""The wall place's part of the model; and runs with all that is known around them, for other places."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from app.model.access import Access, of_one_moment
from screens.model import RunView
from store import board, hosts, projects, runs, silence
from store.database import Store
from store.records import Item, Run

AT_ONCE = 500
"""Items that the store reads at a time."""


class WallParts(Access):
    """Implements ``screens.model.wall.WallModel``."""

    async def live_runs(self, run_ids: Collection[str] | None = None) -> Sequence[RunView]:
        """As the protocol says."""
        return await self._reads.call(live_views, None if run_ids is None else frozenset(run_ids))


@of_one_moment
def live_views(store: Store, run_ids: frozenset[str] | None = None) -> list[RunView]:
    """Runs that live; ``run_ids`` narrows to those of them."""
    return views_of(store, [run for run in runs.live(store) if run_ids is None or run.id in run_ids])


@of_one_moment
def views_of(store: Store, found: Sequence[Run]) -> list[RunView]:
    """These runs with item, project, host and silence, in a few reads however many there are."""
    if not found:
        return []
    subjects = {item.id: item for item in _items(store, sorted({run.task_id for run in found}))}
    known = {project.id: project for project in projects.list_all(store)}
    listed = {host.id: host for host in hosts.list_all(store)}
    quiet = silence.current(store)
    return [
        RunView(
            run=run,
            item=subjects[run.task_id],
            project=known[subjects[run.task_id].project_id],
            host=listed.get(run.host_id or ""),
            silence=quiet.get(run.id) if run.status == "running" else None,
        )
        for run in found
    ]


def _items(store: Store, ids: Sequence[str]) -> Iterator[Item]:
    for start in range(0, len(ids), AT_ONCE):
        for card in board.cards(store, None, item_ids=ids[start : start + AT_ONCE]):
            yield card.item
