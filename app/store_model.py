"""The screens' model over the real thing: the store's verbs, the catalog, the executor's lock and its captures.

Reads and verbs run on threads of their own, in order; the UI thread only awaits them.
"""

from __future__ import annotations

import asyncio
import os
import shlex
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

from app.config_edit import set_key
from app.seat import Seat
from app.starting import about, check_launch, default_prompt, start_run, working_directory
from executor import lock
from executor.capture import Frame, PaneSource
from executor.ledger import Ledger
from executor.settings import ExecutorSettings
from executor.tmux import oneshot
from providers.catalog import Catalog
from providers.program import find, machine_values, named_program
from providers.provider import Provider
from screens.chips import waits
from screens.model import (
    BoardView,
    CardView,
    ExecutorState,
    HeaderFacts,
    ItemView,
    NewItem,
    ProjectView,
    ProviderChoice,
    RunView,
    StartChoices,
    StartRequest,
)
from store import board, hosts, items, journal, moves, projects, runs, silence
from store.board import Card
from store.database import Store
from store.errors import Conflict, InvalidValue, ProviderUnavailable, TmuxUnavailable
from store.home import Home
from store.records import ITEM_STATUSES, Event, Item, ItemStatus, Project, Run
from store.unset import UNSET

P = ParamSpec("P")
T = TypeVar("T")

ACTOR = "operator"
LOOK_S = 1.0
"""Seconds between two looks at who the executor is: it costs one try of a file lock, and no journal tells it."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the model needs beside the store."""

    home: Home
    config: Path
    """The operator's config.toml."""
    settings: ExecutorSettings
    catalog: Callable[[], Catalog]
    default_provider: str = ""


class StoreModel:
    """Implements ``screens.model.ControlRoomModel``; lives on the UI's event loop."""

    def __init__(self, store: Store, around: Surroundings, panes: PaneSource, seat: Seat) -> None:
        self._store = store
        self._seat = seat
        self._around = around
        self._panes = panes
        self._reads = Ledger(store)
        self._writes = Ledger(store)

    def close(self) -> None:
        """Finish what was asked, then let go of the store's connections."""
        self._reads.close()
        self._writes.close()

    # Reads

    async def projects(self) -> Sequence[ProjectView]:
        """As the protocol says."""
        return await self._reads.call(_projects)

    async def board(self, project_id: str) -> BoardView:
        """As the protocol says."""
        return await self._reads.call(_board, project_id)

    async def cards(self, item_ids: Collection[str]) -> Mapping[str, CardView]:
        """As the protocol says."""
        found = await self._reads.call(board.cards, None, item_ids=list(item_ids))
        return {card.item.id: _view(card) for card in found}

    async def item(self, item_id: str) -> ItemView:
        """As the protocol says."""
        return await self._reads.call(_item, item_id)

    async def run(self, run_id: str) -> RunView:
        """As the protocol says."""
        return await self._reads.call(_run, run_id)

    async def run_events(self, run_id: str, limit: int = 200) -> Sequence[Event]:
        """As the protocol says."""
        return (await self._reads.call(journal.of_run, run_id, limit=limit))[::-1]

    async def waiting(self) -> Sequence[RunView]:
        """As the protocol says."""
        return await self._reads.call(_waiting)

    async def header(self) -> HeaderFacts:
        """As the protocol says."""
        return await self._reads.call(_header, self._around.home, self._seat.trouble)

    async def start_choices(self, item_id: str) -> StartChoices:
        """As the protocol says."""
        return await self._reads.call(_start_choices, self._around, item_id)

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
        return await asyncio.to_thread(_missing, cwd)

    async def create_project(self, name: str, cwd: str | None) -> Project:
        """As the protocol says."""
        return await self._writes.call(projects.add, name, cwd=cwd, actor=ACTOR)

    async def start_run(self, request: StartRequest) -> Run:
        """As the protocol says."""
        return await self._writes.call(_start_run, self._around, request)

    async def stop_run(self, run_id: str) -> None:
        """As the protocol says."""
        await self._writes.call(runs.request_stop, run_id, actor=ACTOR)

    async def remember_theme(self, name: str) -> None:
        """As the protocol says."""
        await asyncio.to_thread(set_key, self._around.config, "ui.theme", name)

    async def attach_command(self, run_id: str) -> Sequence[str]:
        """As the protocol says."""
        run = await self._reads.call(runs.get, run_id)
        if run.pane_id is None:
            raise Conflict(f"{run.session_name} has no session to attach to: the run is {run.status}.")
        argv = oneshot.attach_argv(self._around.settings, run.session_name, read_only=False)
        # pam may stand in a tmux of the operator's; that one's marks would make tmux refuse to attach.
        return ["env", "-u", "TMUX", "-u", "TMUX_PANE", *argv]

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


def _view(card: Card) -> CardView:
    return CardView(card.item, card.newest_run, card.run_count, card.children_done, card.children_total)


def _of_one_moment(reads: Callable[Concatenate[Store, P], T]) -> Callable[Concatenate[Store, P], T]:
    """All its reads see one state: what one of them found, another process cannot delete before the next."""

    @wraps(reads)
    def reading(store: Store, /, *args: P.args, **kwargs: P.kwargs) -> T:
        with store.read():
            return reads(store, *args, **kwargs)

    return reading


@_of_one_moment
def _projects(store: Store) -> list[ProjectView]:
    live = runs.live(store)
    owner = {item.id: item.project_id for item in items.list_all(store, None)} if live else {}
    return [
        ProjectView(
            overview.project,
            overview.counts,
            live=sum(owner.get(run.task_id) == overview.project.id for run in live),
            waiting=sum(owner.get(run.task_id) == overview.project.id and waits(run) for run in live),
        )
        for overview in projects.overviews(store, status="active")
    ]


@_of_one_moment
def _board(store: Store, project_id: str) -> BoardView:
    columns: dict[ItemStatus, list[CardView]] = {status: [] for status in ITEM_STATUSES}
    for card in board.cards(store, project_id):
        columns[card.item.status].append(_view(card))
    return BoardView(projects.get(store, project_id), columns)


@_of_one_moment
def _item(store: Store, item_id: str) -> ItemView:
    item = items.get(store, item_id)
    (card,) = board.cards(store, None, item_ids=[item_id])
    below = [child.id for child in items.children(store, item_id)]
    return ItemView(
        card=_view(card),
        project=projects.get(store, item.project_id),
        ancestors=items.ancestors(store, item_id),
        runs=runs.list_all(store, task_id=item_id),
        children=[_view(child) for child in board.cards(store, None, item_ids=below)] if below else [],
    )


@_of_one_moment
def _run(store: Store, run_id: str) -> RunView:
    run = runs.get(store, run_id)
    item = items.get(store, run.task_id)
    host = hosts.get(store, run.host_id) if run.host_id else None
    silent = silence.current(store).get(run_id) if run.status == "running" else None
    return RunView(run, item, projects.get(store, item.project_id), host, silent)


@_of_one_moment
def _waiting(store: Store) -> list[RunView]:
    found = [run for run in runs.live(store) if waits(run)]
    return [_run(store, run.id) for run in sorted(found, key=lambda run: run.activity_at or run.created_at)]


@_of_one_moment
def _header(store: Store, home: Home, trouble: str) -> HeaderFacts:
    live = runs.live(store)
    listed = hosts.list_all(store)
    return HeaderFacts(
        executor=_executor(lock.state(home)),
        trouble=trouble,
        hosts_online=sum(host.status == "online" for host in listed),
        hosts_total=len(listed),
        live=len(live),
        waiting=sum(waits(run) for run in live),
    )


def _executor(state: lock.ExecutorState) -> ExecutorState:
    if not state.running:
        return "down"
    return "here" if state.pid == os.getpid() else "elsewhere"


@_of_one_moment
def _start_choices(store: Store, around: Surroundings, item_id: str) -> StartChoices:
    item = items.get(store, item_id)
    catalog = around.catalog()
    mine = next(iter(runs.list_all(store, task_id=item_id)), None)
    last = mine or next(iter(runs.list_all(store, project_id=item.project_id)), None)
    fallback = around.default_provider or next(iter(catalog.names()), "")
    cwd = projects.get(store, item.project_id).cwd or str(Path.cwd())
    return StartChoices(
        providers=[_choice(catalog.get(name), cwd) for name in catalog.names()],
        hosts=hosts.list_all(store),
        provider=last.provider if last else fallback,
        model=(last.model or "") if last else "",
        prompt=(mine.prompt or "") if mine else about(item),
        arguments=shlex.join(mine.args) if mine else "",
        cwd=mine.cwd if mine else projects.get(store, item.project_id).cwd or "",
    )


def _choice(provider: Provider, cwd: str) -> ProviderChoice:
    return ProviderChoice(
        name=provider.name,
        title=provider.title,
        takes_prompt=provider.prompt != "none",
        takes_model=provider.takes_model,
        needs_arguments=provider.bin is None,
        trouble=_trouble(provider, cwd),
    )


def _trouble(provider: Provider, cwd: str) -> str:
    """Why the provider cannot start on this machine; empty when it can, or when only the run will tell."""
    program = named_program(provider, machine_values(os.environ))
    if program is None:
        return ""
    try:
        find(provider, program, os.environ, Path(cwd))
    except ProviderUnavailable as error:
        return str(error)
    return ""


def _missing(cwd: str) -> str:
    """That there is no such directory on this machine; empty when there is, or when the store will refuse the name."""
    try:
        path = Path(cwd).expanduser()
        missing = path.is_absolute() and not path.is_dir()
    except (RuntimeError, OSError):
        return ""
    return f"There is no directory {path}." if missing else ""


def _start_run(store: Store, around: Surroundings, request: StartRequest) -> Run:
    item = items.get(store, request.item_id)
    provider = around.catalog().get(request.provider)
    host = hosts.get(store, request.host) if request.host else None
    project = projects.get(store, item.project_id)
    named = None if request.cwd == project.cwd else request.cwd or None
    wanted = named or project.cwd
    if wanted and (host is None or host.transport == "local") and (trouble := _missing(wanted)):
        raise InvalidValue(f"{trouble} Make it, or name another under Directory.", field="cwd")
    cwd = working_directory(named, project, host)
    prompt = request.prompt or default_prompt(item, provider)
    check_launch(provider, cwd, prompt, request.model or None, request.arguments)
    return start_run(
        store,
        item,
        provider,
        cwd=cwd,
        prompt=prompt,
        model=request.model or None,
        args=request.arguments,
        host=host,
        attempts=around.settings.max_attempts,
        actor=ACTOR,
    )
