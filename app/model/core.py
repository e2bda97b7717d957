"""Projects, items and runs for the screens: the store's verbs, the catalog, the executor's lock and its captures."""

from __future__ import annotations

import asyncio
import os
from collections import Counter
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from app.config_edit import set_key
from app.model import cards, memory, starts
from app.model.access import ACTOR, Access, of_one_moment
from app.model.activity import seen
from executor import lock
from executor.capture import Frame
from providers.catalog import Catalog
from screens.chips import waits
from screens.model import (
    BoardView,
    CardView,
    ExecutorState,
    HeaderFacts,
    ItemView,
    NewItem,
    ProjectView,
    RunView,
    StartChoices,
    StartRequest,
)
from store import board, history, hosts, items, journal, leases, moves, projects, runs, silence, usage
from store.database import Store
from store.errors import PamError, TmuxUnavailable
from store.home import Home
from store.records import ITEM_STATUSES, Event, Item, ItemStatus, Project, Run
from store.unset import UNSET

EVENTS = 50
"""Lines of the journal that an item's page shows."""
LOOK_S = 1.0
"""Seconds between two looks at who the executor is: it costs one try of a file lock, and no journal tells it."""


class CoreParts(Access):
    """Implements ``screens.model.core.CoreModel``."""

    # Reads

    async def projects(self) -> Sequence[ProjectView]:
        """As the protocol says."""
        return await self._reads.call(_projects)

    async def board(self, project_id: str, *, everything: bool = False) -> BoardView:
        """As the protocol says."""
        return await self._reads.call(_board, project_id, everything)

    async def cards(self, item_ids: Collection[str]) -> Mapping[str, CardView]:
        """As the protocol says."""
        return await self._reads.call(_cards, list(item_ids))

    async def item(self, item_id: str) -> ItemView:
        """As the protocol says."""
        return await self._reads.call(_item, item_id)

    async def run(self, run_id: str) -> RunView:
        """As the protocol says."""
        view = await self._reads.call(_run, run_id)
        return replace(view, goes_on=_goes_on(self._around.catalog(), view.run))

    async def run_events(self, run_id: str, limit: int = 200) -> Sequence[Event]:
        """As the protocol says."""
        return (await self._reads.call(journal.of_run, run_id, limit=limit))[::-1]

    async def waiting(self) -> Sequence[RunView]:
        """As the protocol says."""
        return await self._reads.call(_waiting)

    async def header(self) -> HeaderFacts:
        """As the protocol says."""
        return await self._reads.call(_header, self._around.home, self._seat.trouble, self._seat.opening)

    async def start_choices(self, item_id: str) -> StartChoices:
        """As the protocol says."""
        return await self._reads.call(starts.choices_for, self._around, item_id)

    # Verbs

    async def move_item(self, item_id: str, status: ItemStatus) -> None:
        """As the protocol says."""
        await self._writes.call(moves.move, item_id, status, actor=ACTOR)

    async def reorder_item(self, item_id: str, *, before: str | None = None, after: str | None = None) -> None:
        """As the protocol says."""
        await self._writes.call(moves.reorder, item_id, before=before, after=after, actor=ACTOR)

    async def create_item(self, new: NewItem) -> Item:
        """As the protocol says."""
        return await self._writes.call(
            items.create,
            new.project_id,
            new.title,
            kind=new.kind,
            parent_id=new.parent_id,
            description=new.description,
            assignee=new.assignee,
            labels=new.labels,
            actor=ACTOR,
        )

    async def edit_item(self, item_id: str, *, title: str | None = None, description: str | None = None) -> None:
        """As the protocol says."""
        await self._writes.call(
            items.edit,
            item_id,
            title=UNSET if title is None else title,
            description=UNSET if description is None else description,
            actor=ACTOR,
        )

    async def delete_item(self, item_id: str) -> None:
        """As the protocol says."""
        await self._writes.call(items.delete, item_id, actor=ACTOR)

    async def directory_trouble(self, cwd: str) -> str:
        """As the protocol says."""
        return await asyncio.to_thread(starts.missing, cwd)

    async def create_project(self, name: str, cwd: str | None) -> Project:
        """As the protocol says."""
        return await self._writes.call(projects.add, name, cwd=cwd, actor=ACTOR)

    async def start_run(self, request: StartRequest) -> Run:
        """As the protocol says."""
        return await self._writes.call(starts.start, self._around, request)

    async def stop_run(self, run_id: str) -> None:
        """As the protocol says."""
        await self._writes.call(runs.request_stop, run_id, actor=ACTOR)

    async def remember_theme(self, name: str) -> None:
        """As the protocol says."""
        await asyncio.to_thread(set_key, self._around.config, "ui.theme", name)

    # Streams

    async def journal(self) -> AsyncIterator[Sequence[Event]]:
        """As the protocol says."""
        loop = asyncio.get_running_loop()
        batches: asyncio.Queue[list[Event]] = asyncio.Queue()

        def deliver(events: list[Event]) -> None:
            with suppress(RuntimeError):  # the screen has closed meanwhile
                loop.call_soon_threadsafe(batches.put_nowait, events)

        tail = await asyncio.to_thread(journal.Tail, self._store, deliver)
        tail.start()
        try:
            while True:
                yield await batches.get()
        finally:
            await asyncio.to_thread(tail.close)

    async def executor(self) -> AsyncIterator[str]:
        """As the protocol says."""
        if self._seat.opening:
            try:
                await asyncio.to_thread(self._seat.open)
            except PamError as error:
                yield str(error)
            yield self._seat.trouble
        while True:
            await asyncio.sleep(LOOK_S)
            said = await asyncio.to_thread(self._seat.look)
            if said is not None:
                yield said

    async def pane(self, run: Run, rows: int) -> AsyncIterator[Sequence[str]]:
        """As the protocol says."""
        loop = asyncio.get_running_loop()
        latest: list[Frame] = []
        changed = asyncio.Event()

        def take(frame: Frame) -> None:
            latest[:] = [frame]
            changed.set()

        def deliver(frame: Frame) -> None:
            with suppress(RuntimeError):  # the screen has closed meanwhile
                loop.call_soon_threadsafe(take, frame)

        subscription = self._panes.subscribe(run.session_name, deliver)
        try:
            while True:
                await changed.wait()
                changed.clear()
                frame = latest[0]
                if frame.state == "gone":
                    return
                if frame.state == "unreachable" and not frame.rows:
                    raise TmuxUnavailable(f"The screen cannot be seen: {frame.note or 'tmux does not answer'}.")
                yield frame.bottom(rows)
        finally:
            subscription.close()


@of_one_moment
def _projects(store: Store) -> list[ProjectView]:
    live = runs.live(store)
    owner = runs.projects_of_live(store)
    working = Counter(owner[run.id] for run in live)
    waiting = Counter(owner[run.id] for run in live if waits(run))
    return [
        ProjectView(
            overview.project,
            overview.counts,
            live=working[overview.project.id],
            waiting=waiting[overview.project.id],
        )
        for overview in projects.overviews(store, status="active")
    ]


@of_one_moment
def _board(store: Store, project_id: str, everything: bool) -> BoardView:
    columns: dict[ItemStatus, list[CardView]] = {status: [] for status in ITEM_STATUSES}
    project = projects.get(store, project_id)
    active = projects.list_all(store, status="active") if everything else ()
    shown = {each.id: each for each in (*active, project)} if everything else {}
    for card in cards.views(store, board.cards(store, None if everything else project.id)):
        if not everything or card.item.project_id in shown:
            columns[card.item.status].append(card)
    return BoardView(project, columns, shown)


@of_one_moment
def _cards(store: Store, item_ids: Sequence[str]) -> dict[str, CardView]:
    return {card.item.id: card for card in cards.views(store, board.cards(store, None, item_ids=item_ids))}


@of_one_moment
def _item(store: Store, item_id: str) -> ItemView:
    item = items.get(store, item_id)
    below = [child.id for child in items.children(store, item_id)]
    mine = runs.list_all(store, task_id=item_id)
    found = _cards(store, [item_id, *below])
    return ItemView(
        card=found.pop(item_id),
        project=projects.get(store, item.project_id),
        ancestors=items.ancestors(store, item_id),
        runs=mine,
        children=list(found.values()),
        usages=usage.of_runs(store, [run.id for run in mine]) if mine else {},
        events=journal.of_item(store, item_id, limit=EVENTS)[::-1],
    )


@of_one_moment
def _run(store: Store, run_id: str) -> RunView:
    run = runs.get(store, run_id)
    item = items.get(store, run.task_id)
    host = hosts.get(store, run.host_id) if run.host_id else None
    silent = silence.current(store).get(run_id) if run.status == "running" else None
    project, lease = projects.get(store, item.project_id), leases.holder_of(store, run_id)
    return RunView(run, item, project, host, silent, lease, usage.of_run(store, run_id))


def _goes_on(catalog: Catalog, run: Run) -> bool:
    """Whether another run can go on with the conversation of this one."""
    if run.live or run.retry_at is not None or run.conversation_id is None:
        return False
    return run.provider in catalog.names() and bool(catalog.get(run.provider).conversation.resume)


@of_one_moment
def _waiting(store: Store) -> list[RunView]:
    found = [run for run in runs.live(store) if waits(run)]
    return [_run(store, run.id) for run in sorted(found, key=lambda run: run.activity_at or run.created_at)]


@of_one_moment
def _header(store: Store, home: Home, trouble: str, opening: bool) -> HeaderFacts:
    live = runs.live(store)
    listed = hosts.list_all(store)
    return HeaderFacts(
        executor=_executor(lock.state(home), opening),
        trouble=trouble,
        hosts_online=sum(host.status == "online" for host in listed),
        hosts_total=len(listed),
        live=len(live),
        waiting=sum(waits(run) for run in live),
        unread=history.unread(store, seen(home.path / memory.NAME)),
    )


def _executor(state: lock.ExecutorState, opening: bool) -> ExecutorState:
    if not state.running:
        return "starting" if opening else "down"
    return "here" if state.pid == os.getpid() else "elsewhere"
