"""What an action is: one thing to press, by name, with its keys, its words, and why it can't act now."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from screens.model import CardView, ProjectView
from screens.model.hosts import HostView
from screens.model.providers import ProviderView
from store.records import ItemStatus, Project, Run

Place = Literal["everywhere", "board", "tree", "item", "run", "terminal", "wall", "hosts", "providers", "activity"]


@dataclass(frozen=True, slots=True)
class Here:
    """Where the operator is and what the keys would act on."""

    place: Place
    project: Project | ProjectView | None = None
    card: CardView | None = None
    run: Run | None = None
    column: ItemStatus | None = None
    filtered: bool = False
    folded: bool = False
    host: HostView | None = None
    provider: ProviderView | None = None
    chosen: int = 0
    """How many cards are selected; keys act on these then."""
    busy: str = ""
    """What is under way and stands in the way of more of it, in a sentence."""
    subject: str = ""
    """What the cursor stands on where that is no card: ``nothing`` when it leads nowhere."""

    @property
    def directory(self) -> str:
        """Where the work is done: the run's directory, else the project's; empty where neither has one."""
        if self.run is not None:
            return self.run.cwd
        project = self.project.project if isinstance(self.project, ProjectView) else self.project
        return (project.cwd or "") if project is not None else ""


Reason = Callable[[Here], str]
"""Says why an action can't act here and now; empty when it can."""


@dataclass(frozen=True, slots=True)
class Action:
    """One thing to press: its name, its keys, its words."""

    id: str
    keys: str
    """As Textual writes them, several by commas."""
    does: str
    """Name of the screen's method, with arguments: ``step(1)``."""
    title: str
    tooltip: str
    why_not: Reason
    footer: str = ""
    """Its word in the footer; neighbours with the same word share one. Empty: not in the footer."""
    palette: bool = True

    @property
    def place(self) -> str:
        """Where it works: the first part of its id."""
        return self.id.partition(".")[0]
