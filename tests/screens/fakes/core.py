"""A control room's model in memory, with a believable project in it; verbs are recorded and can be refused."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Self

from screens.model import (
    BoardView,
    CardView,
    HeaderFacts,
    ItemView,
    NewItem,
    ProjectView,
    ProviderChoice,
    RunView,
    StartChoices,
    StartRequest,
)
from store.errors import NotFound, PamError
from store.lifecycle import check_item
from store.records import (
    ITEM_STATUSES,
    Activity,
    Event,
    Host,
    Item,
    ItemStatus,
    Kind,
    Lease,
    Project,
    Run,
    RunStatus,
    Usage,
)
from store.silence import Silence

NOW = datetime(2026, 11, 30, 12, 4, 20, tzinfo=UTC)
"""The moment all fake data is about."""


def clock() -> datetime:
    """A clock that stands still."""
    return NOW


def uid(number: int) -> str:
    """A UUID4 that a test can write down."""
    return f"{(number * 0x9E3779B1) % 2**32:08x}-0000-4000-8000-{number:012x}"


def project(number: int = 1, name: str = "checkout-service", cwd: str | None = "/home/mara/code/checkout") -> Project:
    return Project(uid(900_000 + number), name, name, "", "active", cwd, NOW - timedelta(days=40), NOW)


def item(
    number: int,
    title: str,
    status: ItemStatus = "todo",
    kind: Kind = "task",
    *,
    parent: int | None = None,
    labels: tuple[str, ...] = (),
    assignee: str | None = None,
    description: str = "",
    of: Project | None = None,
) -> Item:
    made = NOW - timedelta(days=9, minutes=number)
    path = f"{uid(parent)[:8]}/{uid(number)[:8]}" if parent else uid(number)[:8]
    return Item(
        uid(number),
        (of or project()).id,
        uid(parent) if parent else None,
        kind,
        title,
        description,
        status,
        assignee,
        path,
        number * 1024,
        labels,
        made,
        NOW - timedelta(minutes=number),
    )


def run(
    number: int,
    task: int,
    provider: str = "claude",
    status: RunStatus = "running",
    activity: Activity = "unknown",
    *,
    minutes: float = 12,
    note: str | None = None,
    source: str | None = None,
    host: str = "local",
    exit_code: int | None = None,
    attempt: int = 1,
    model: str | None = None,
) -> Run:
    """A run whose present state began ``minutes`` ago."""
    begun = NOW - timedelta(minutes=minutes)
    live = status in ("pending", "spawning", "running")
    placed = status != "pending"
    id_ = uid(number)
    return Run(
        id=id_,
        task_id=uid(task),
        host_id=uid(800_000 if host == "local" else 800_001) if placed else None,
        host=host if placed else None,
        pinned_host_id=None,
        provider=provider,
        session_name=f"pam-{id_[:8]}",
        status=status,
        attempt=attempt,
        max_attempts=3,
        restart_policy="infrastructure",
        last_progress_seq=None,
        failure_reason=None,
        last_failure_reason=None,
        pending_since=begun,
        cwd="/home/mara/code/checkout",
        prompt=None,
        model=model,
        args=(),
        conversation_id=None,
        exit_code=exit_code,
        stop_requested_at=None,
        retry_at=None,
        activity=activity,
        activity_source=source,
        activity_at=begun if source else None,
        activity_note=note,
        pane_id="%3" if placed else None,
        wrapper_pid=None,
        wrapper_started=None,
        started_at=(begun - timedelta(minutes=9, seconds=11)) if status not in ("pending", "spawning") else None,
        finished_at=None if live else begun,
        created_at=begun - timedelta(minutes=10),
        updated_at=begun,
    )


def host(number: int, name: str, status: str = "online") -> Host:
    return Host(
        uid(800_000 + number),
        name,
        "linux",
        "local" if name == "local" else "ssh",
        None if name == "local" else f"mara@{name}",
        None,
        None,
        status,  # type: ignore[arg-type]
        None,
        False,
        None,
        NOW,
        2,
        NOW,
        NOW,
    )


@dataclass
class FakeCore:
    """Implements ``screens.model.core.CoreModel``. ``calls`` are the verbs as they came."""

    the_projects: list[Project] = field(default_factory=list)
    items: dict[str, Item] = field(default_factory=dict)
    runs: dict[str, Run] = field(default_factory=dict)
    hosts: list[Host] = field(default_factory=list)
    screens: dict[str, Sequence[str]] = field(default_factory=dict)
    """Pane rows by run id."""
    events: list[Event] = field(default_factory=list)
    facts: HeaderFacts = field(default_factory=HeaderFacts)
    calls: list[tuple[object, ...]] = field(default_factory=list)
    reads: list[tuple[object, ...]] = field(default_factory=list)
    refuse: PamError | None = None
    """Makes the next verb fail."""
    last_arguments: str = ""
    last_approvals: str = ""
    usages: dict[str, Usage] = field(default_factory=dict)
    """What runs have used, by run id; the others' is unknown."""
    silences: dict[str, Silence] = field(default_factory=dict)
    leases: dict[str, Lease] = field(default_factory=dict)
    alive: set[str] = field(default_factory=set)
    """Runs that are over while their agent lives on."""
    hold: asyncio.Event | None = None
    """While set and clear, verbs wait: a store that is slow to answer."""
    seats: asyncio.Queue[str] = field(default_factory=asyncio.Queue)
    """Sentences about who the executor is, to be said."""
    _listeners: list[asyncio.Queue[Sequence[Event]]] = field(default_factory=list)
    _watchers: dict[str, list[asyncio.Queue[Sequence[str] | None]]] = field(default_factory=dict)

    # Making of

    def add(self, *things: Project | Item | Run | Host) -> Self:
        """Put records in, without an event."""
        for thing in things:
            match thing:
                case Project():
                    self.the_projects.append(thing)
                case Item():
                    self.items[thing.id] = thing
                case Run():
                    self.runs[thing.id] = thing
                case Host():
                    self.hosts.append(thing)
        return self

    def happen(self, *events: tuple[str, dict[str, object]]) -> None:
        """Journal events in one batch."""
        batch = [
            Event(len(self.events) + offset + 1, topic, "operator", payload, NOW)
            for offset, (topic, payload) in enumerate(events)
        ]
        self.events += batch
        for listener in self._listeners:
            listener.put_nowait(batch)

    def draw(self, run_id: str, rows: Sequence[str] | None) -> None:
        """The agent draws; None ends its session."""
        if rows is not None:
            self.screens[run_id] = rows
        for watcher in self._watchers.get(run_id, ()):
            watcher.put_nowait(rows)

    @property
    def watched(self) -> list[str]:
        """Runs that somebody looks at now."""
        return [run_id for run_id, watchers in self._watchers.items() if watchers]

    # Reads

    async def projects(self) -> Sequence[ProjectView]:
        return [
            ProjectView(
                each,
                {status: len(self._column(each.id, status)) for status in ITEM_STATUSES},
                live=len([run for run in self.runs.values() if run.live and self._of(run).project_id == each.id]),
                waiting=len([run for run in self._waiting() if self._of(run).project_id == each.id]),
            )
            for each in self.the_projects
        ]

    async def board(self, project_id: str, *, everything: bool = False) -> BoardView:
        self.reads.append(("board", project_id))
        found = next((each for each in self.the_projects if each.id == project_id), None)
        if found is None:
            raise NotFound(f"No project {project_id}.")
        wanted = None if everything else project_id
        columns = {status: tuple(self._card(each) for each in self._column(wanted, status)) for status in ITEM_STATUSES}
        return BoardView(found, columns, {each.id: each for each in self.the_projects} if everything else {})

    async def cards(self, item_ids: Collection[str]) -> Mapping[str, CardView]:
        self.reads.append(("cards", frozenset(item_ids)))
        return {each: self._card(self.items[each]) for each in item_ids if each in self.items}

    async def item(self, item_id: str) -> ItemView:
        found = self._item(item_id)
        ancestors: list[Item] = []
        above = found
        while above.parent_id is not None:
            above = self.items[above.parent_id]
            ancestors.insert(0, above)
        runs = [run for run in self.runs.values() if run.task_id == item_id]
        children = [self._card(each) for each in self.items.values() if each.parent_id == item_id]
        runs.sort(key=lambda run: run.created_at, reverse=True)
        about = {item_id, *(run.id for run in runs)}
        events = [event for event in self.events[::-1] if about & {*map(str, event.payload.values())}]
        usages = {run.id: self.usages[run.id] for run in runs if run.id in self.usages}
        return ItemView(self._card(found), self._project(found), ancestors, runs, children, usages, events)

    async def run(self, run_id: str) -> RunView:
        if run_id not in self.runs:
            raise NotFound(f"No run {run_id}.")
        found = self.runs[run_id]
        at = next((each for each in self.hosts if each.id == found.host_id), None)
        goes_on = not found.live and found.conversation_id is not None
        more = self.silences.get(run_id), self.leases.get(run_id), self.usages.get(run_id)
        return RunView(found, self._of(found), self._project(self._of(found)), at, *more, goes_on)

    async def run_events(self, run_id: str, limit: int = 200) -> Sequence[Event]:
        found = [event for event in self.events if event.payload.get("run_id") == run_id]
        return found[::-1][:limit]

    async def waiting(self) -> Sequence[RunView]:
        return [await self.run(run.id) for run in self._waiting()]

    async def header(self) -> HeaderFacts:
        live = len([run for run in self.runs.values() if run.live])
        return replace(
            self.facts,
            hosts_online=len([each for each in self.hosts if each.status == "online"]),
            hosts_total=len(self.hosts),
            live=live,
            waiting=len(self._waiting()),
        )

    async def start_choices(self, item_id: str) -> StartChoices:
        subject = self._item(item_id)
        return StartChoices(
            (
                ProviderChoice("claude", models=("opus", "sonnet", "haiku"), approvals=("plan", "edits", "all")),
                ProviderChoice("codex", models=("gpt-5-codex",)),
                ProviderChoice("demo", takes_model=False),
                ProviderChoice("shell", takes_prompt=False, takes_model=False, needs_arguments=True),
                ProviderChoice("gemini", trouble="gemini is not installed here. `npm install -g @google/gemini-cli`."),
            ),
            self.hosts,
            provider="claude",
            arguments=self.last_arguments,
            approvals=self.last_approvals,
            cwd=self._project(subject).cwd or "",
            prompt="\n\n".join(text for text in (subject.title, subject.description) if text),
        )

    # Verbs

    async def move_item(self, item_id: str, status: ItemStatus) -> None:
        await self._verb("move_item", item_id, status)
        subject = self._item(item_id)
        self.items[item_id] = replace(subject, status=check_item(subject.status, status))
        self.happen(("work_item.status_changed", {"item_id": item_id, "from": subject.status, "to": status}))

    async def reorder_item(self, item_id: str, *, before: str | None = None, after: str | None = None) -> None:
        await self._verb("reorder_item", item_id, before, after)
        anchor = self._item(before or after or "")
        place = anchor.sort_order + (1 if after else -1)
        self.items[item_id] = replace(self._item(item_id), sort_order=place)
        self.happen(("work_item.updated", {"item_id": item_id, "fields": ["sort_order"]}))

    async def create_item(self, new: NewItem) -> Item:
        await self._verb("create_item", new)
        number = len(self.items) + 5000
        made = replace(
            item(number, new.title, kind=new.kind, labels=new.labels, assignee=new.assignee),
            project_id=new.project_id,
            parent_id=new.parent_id,
            description=new.description,
        )
        self.items[made.id] = made
        self.happen(("work_item.created", {"item_id": made.id, "parent_id": new.parent_id}))
        return made

    async def edit_item(self, item_id: str, *, title: str | None = None, description: str | None = None) -> None:
        await self._verb("edit_item", item_id, title, description)
        subject = self._item(item_id)
        self.items[item_id] = replace(
            subject,
            title=subject.title if title is None else title,
            description=subject.description if description is None else description,
        )
        self.happen(("work_item.updated", {"item_id": item_id, "fields": ["title"]}))

    async def delete_item(self, item_id: str) -> None:
        await self._verb("delete_item", item_id)
        del self.items[item_id]
        self.happen(("work_item.deleted", {"item_id": item_id, "ids": [item_id]}))

    async def directory_trouble(self, cwd: str) -> str:
        return f"There is no directory {cwd}." if "nope" in cwd else ""

    async def create_project(self, name: str, cwd: str | None) -> Project:
        await self._verb("create_project", name, cwd)
        made = project(len(self.the_projects) + 1, name, cwd)
        self.the_projects.insert(0, made)
        self.happen(("project.created", {"project_id": made.id}))
        return made

    async def start_run(self, request: StartRequest) -> Run:
        await self._verb("start_run", request)
        made = replace(
            run(len(self.runs) + 7000, 1, request.provider, "pending", minutes=0),
            task_id=request.item_id,
            model=request.model or None,
        )
        self.runs[made.id] = made
        self.happen(("run.created", {"run_id": made.id, "task_id": made.task_id, "attempt": 1}))
        return made

    async def stop_run(self, run_id: str) -> None:
        await self._verb("stop_run", run_id)
        self.runs[run_id] = replace(self.runs[run_id], stop_requested_at=NOW)
        self.happen(("run.stop_requested", {"run_id": run_id, "task_id": self.runs[run_id].task_id, "attempt": 1}))

    async def remember_theme(self, name: str) -> None:
        await self._verb("remember_theme", name)

    # Streams

    async def journal(self) -> AsyncIterator[Sequence[Event]]:
        queue: asyncio.Queue[Sequence[Event]] = asyncio.Queue()
        self._listeners.append(queue)
        while True:
            yield await queue.get()

    async def executor(self) -> AsyncIterator[str]:
        while True:
            yield await self.seats.get()

    async def pane(self, run: Run, rows: int) -> AsyncIterator[Sequence[str]]:
        if run.id not in self.screens:
            raise NotFound("The session is gone; its log is kept.")
        queue: asyncio.Queue[Sequence[str] | None] = asyncio.Queue()
        watchers = self._watchers.setdefault(run.id, [])
        watchers.append(queue)
        try:
            yield self.screens[run.id]
            while (drawn := await queue.get()) is not None:
                yield drawn
        finally:
            watchers.remove(queue)

    # Below

    async def _verb(self, *call: object) -> None:
        self.calls.append(call)
        if self.hold is not None:
            await self.hold.wait()
        if self.refuse is not None:
            error, self.refuse = self.refuse, None
            raise error

    def _card(self, subject: Item) -> CardView:
        runs = [run for run in self.runs.values() if run.task_id == subject.id]
        runs.sort(key=lambda run: (run.live, run.created_at), reverse=True)
        children = [each for each in self.items.values() if each.parent_id == subject.id and each.status != "cancelled"]
        done = len([each for each in children if each.status == "done"])
        if not runs:
            return CardView(subject, None, 0, done, len(children))
        shown = runs[0].id
        more = self.usages.get(shown), self.silences.get(shown), shown in self.alive
        return CardView(subject, runs[0], len(runs), done, len(children), *more)

    def _column(self, project_id: str | None, status: ItemStatus) -> list[Item]:
        of = [each for each in self.items.values() if project_id in (None, each.project_id)]
        found = [each for each in of if each.status == status]
        return sorted(found, key=lambda each: (each.sort_order, each.created_at))

    def _waiting(self) -> list[Run]:
        found = [run for run in self.runs.values() if run.status == "running" and run.activity == "waiting"]
        return sorted(found, key=lambda run: run.activity_at or NOW)

    def _item(self, item_id: str) -> Item:
        if item_id not in self.items:
            raise NotFound(f"No item {item_id}.")
        return self.items[item_id]

    def _of(self, run: Run) -> Item:
        return self.items[run.task_id]

    def _project(self, subject: Item) -> Project:
        return next(each for each in self.the_projects if each.id == subject.project_id)
