"""What the screens are shown: frozen views made of the store's records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from screens.chips import waits
from store.records import Event, Host, Item, ItemStatus, Lease, Project, Run, Usage
from store.silence import Silence

ExecutorState = Literal["here", "elsewhere", "starting", "down"]
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
    usage: Usage | None = None
    """What ``run`` has used of its model; None where nobody told."""
    silence: Silence | None = None
    """That ``run`` has printed nothing for long: a hint, not a state."""
    alive: bool = False
    """Whether ``run`` is over while its agent lives on."""
    project: str = ""
    """Slug of its project, on a board of several."""

    @property
    def waiting(self) -> bool:
        """Whether its run waits for the operator."""
        return waits(self.run)


@dataclass(frozen=True, slots=True)
class BoardView:
    """A project's items by status, each column by ``(sort_order, created_at, id)``."""

    project: Project
    columns: Mapping[ItemStatus, Sequence[CardView]]
    projects: Mapping[str, Project] = field(default_factory=dict)
    """By id, those whose items are on it too; empty on a board of one project."""


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
    lease: Lease | None = None
    """Who types into it now (PAM-ATT-012)."""
    usage: Usage | None = None
    """What it has used of its model; None where nobody told, or nobody asked."""
    goes_on: bool = False
    """Whether another run can go on with its conversation."""


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
    usages: Mapping[str, Usage] = field(default_factory=dict)
    """What its runs have used, by id; those of which nothing is known are missing."""
    events: Sequence[Event] = ()
    """The journal's last lines about it and its runs, newest first."""


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
