"""What the screens ask for and what they may do: one small protocol between the control room and the store.

Every read and verb is a coroutine that does its work off the UI thread. Reads return frozen views made of the store's
records. A verb that is refused raises ``PamError``; its sentence is shown to the operator as it is.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from screens.chips import waits
from store.records import Event, Host, Item, ItemStatus, Kind, Project, Run
from store.silence import Silence

ExecutorState = Literal["here", "elsewhere", "down"]
"""Hosted by this control room, by another process, or by nobody."""


@dataclass(frozen=True, slots=True)
class CardView:
    """An item as the board shows it."""

    item: Item
    run: Run | None = None
    """The run that speaks for the item: its newest live one, else its newest."""
    run_count: int = 0
    children_done: int = 0
    children_total: int = 0

    @property
    def waiting(self) -> bool:
        """Whether its run waits for the operator."""
        return waits(self.run)


@dataclass(frozen=True, slots=True)
class BoardView:
    """A project's items by status, each column by ``(sort_order, created_at, id)``."""

    project: Project
    columns: Mapping[ItemStatus, Sequence[CardView]]


@dataclass(frozen=True, slots=True)
class RunView:
    """A run with what it is for and where it lives."""

    run: Run
    item: Item
    project: Project
    host: Host | None = None
    """None while the run is pending."""
    silence: Silence | None = None
    """That it has printed nothing for long: a hint, not a state."""


@dataclass(frozen=True, slots=True)
class ItemView:
    """An item with everything around it."""

    card: CardView
    project: Project
    ancestors: Sequence[Item] = ()
    """From the root down, without the item itself."""
    runs: Sequence[Run] = ()
    """Newest first."""
    children: Sequence[CardView] = ()


@dataclass(frozen=True, slots=True)
class ProjectView:
    """A project as the picker shows it."""

    project: Project
    counts: Mapping[ItemStatus, int] = field(default_factory=dict)
    live: int = 0
    waiting: int = 0


@dataclass(frozen=True, slots=True)
class HeaderFacts:
    """What the top line says, over all projects."""

    executor: ExecutorState = "down"
    trouble: str = ""
    """Why this control room can't be the executor, with what to do about it; empty when it can."""
    hosts_online: int = 0
    hosts_total: int = 0
    live: int = 0
    """Runs that are pending, starting or running."""
    waiting: int = 0
    unread: int = 0
    """Events since the operator last looked at the activity."""


@dataclass(frozen=True, slots=True)
class ProviderChoice:
    """A provider that the start dialog offers."""

    name: str
    title: str = ""
    models: tuple[str, ...] = ()
    takes_prompt: bool = True
    takes_model: bool = True
    needs_arguments: bool = False
    """Whether it is nothing without arguments, as ``shell`` is."""
    trouble: str = ""
    """Why it can't start, with what to do about it; empty when it can."""


@dataclass(frozen=True, slots=True)
class StartChoices:
    """What a run of an item may be started with, and what was chosen last."""

    providers: Sequence[ProviderChoice]
    hosts: Sequence[Host]
    provider: str = ""
    host: str = ""
    """Empty: whichever host is free."""
    model: str = ""
    prompt: str = ""
    arguments: str = ""
    """Those of ``provider``, as a shell would read them."""
    cwd: str = ""
    """Empty: where pam was started."""


@dataclass(frozen=True, slots=True)
class StartRequest:
    """Start a run with these; empty words mean the provider's own default."""

    item_id: str
    provider: str
    host: str = ""
    """Name of a host."""
    model: str = ""
    prompt: str = ""
    arguments: tuple[str, ...] = ()
    cwd: str = ""
    """Empty: the project's directory, else where pam was started."""


@dataclass(frozen=True, slots=True)
class NewItem:
    """Make an item of these."""

    project_id: str
    title: str
    kind: Kind = "task"
    parent_id: str | None = None
    assignee: str | None = None
    labels: tuple[str, ...] = ()
    description: str = ""


class ControlRoomModel(Protocol):
    """Everything the screens need. ``app`` implements it over the store's verbs and the executor's captures."""

    # Reads

    async def projects(self) -> Sequence[ProjectView]:
        """Active projects, the one with the latest activity first."""

    async def board(self, project_id: str) -> BoardView:
        """The whole board; raises NotFound."""

    async def cards(self, item_ids: Collection[str]) -> Mapping[str, CardView]:
        """Those of the items that exist, by id. Ids of anything else are left out, silently."""

    async def item(self, item_id: str) -> ItemView:
        """One item; raises NotFound."""

    async def run(self, run_id: str) -> RunView:
        """One run; raises NotFound."""

    async def run_events(self, run_id: str, limit: int = 200) -> Sequence[Event]:
        """The journal's last lines about a run, newest first."""

    async def waiting(self) -> Sequence[RunView]:
        """Runs of all projects that wait for the operator, the longest wait first."""

    async def header(self) -> HeaderFacts:
        """What the top line says."""

    async def start_choices(self, item_id: str) -> StartChoices:
        """What a run of the item may be started with."""

    # Verbs

    async def move_item(self, item_id: str, status: ItemStatus) -> None:
        """Change an item's status; raises IllegalTransition."""

    async def reorder_item(self, item_id: str, *, before: str | None = None, after: str | None = None) -> None:
        """Place an item before or after another of its project; one of the two is given."""

    async def create_item(self, new: NewItem) -> Item:
        """Make an item at the end of its siblings, in todo."""

    async def edit_item(self, item_id: str, *, title: str | None = None, description: str | None = None) -> None:
        """Change what is not None."""

    async def delete_item(self, item_id: str) -> None:
        """Delete an item with everything under it; raises Conflict while a run of it lives."""

    async def directory_trouble(self, cwd: str) -> str:
        """Why agents of this machine can't work in a directory; empty when they can."""

    async def create_project(self, name: str, cwd: str | None) -> Project:
        """Make a project."""

    async def start_run(self, request: StartRequest) -> Run:
        """Ask for a run; it is pending until the executor takes it. What was chosen is the next default."""

    async def stop_run(self, run_id: str) -> None:
        """Ask for a stop; the executor carries it out."""

    async def remember_theme(self, name: str) -> None:
        """Make it the theme of the next start; raises ConfigError."""

    async def attach_command(self, run_id: str) -> Sequence[str]:
        """The argv that hands this terminal to the run's session; raises Conflict when there is no session."""

    # Streams

    def journal(self) -> AsyncIterator[Sequence[Event]]:
        """Batches of events, from the moment of the call on, in order; ends never."""

    def executor(self) -> AsyncIterator[str]:
        """A sentence whenever another process, this one or nobody has become the executor; ends never."""

    def pane(self, run: Run, rows: int) -> AsyncIterator[Sequence[str]]:
        """The run's screen as ANSI rows, whenever it changes, the latest only; ends when the session does.

        ``rows`` is how many of the bottom rows are looked at. Raises PamError when the session can't be seen.
        """
