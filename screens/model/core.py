"""Projects, items and runs: what is read of them and done with them, and the streams that say what changed."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from typing import Protocol

from screens.model.starting import NewItem, StartChoices, StartRequest
from screens.model.views import BoardView, CardView, HeaderFacts, ItemView, ProjectView, RunView
from store.records import Event, Item, ItemStatus, Project, Run


class CoreModel(Protocol):
    """Projects, items and runs: what every place needs."""

    # Reads

    async def projects(self) -> Sequence[ProjectView]:
        """Active projects, the one with the latest activity first."""

    async def board(self, project_id: str, *, everything: bool = False) -> BoardView:
        """The whole board; ``everything`` adds the cards of every other active project. Raises NotFound."""

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

    # Streams

    def journal(self) -> AsyncIterator[Sequence[Event]]:
        """Batches of events, from the moment of the call on, in order; ends never."""

    def executor(self) -> AsyncIterator[str]:
        """A sentence whenever another process, this one or nobody has become the executor; ends never."""

    def pane(self, run: Run, rows: int) -> AsyncIterator[Sequence[str]]:
        """The run's screen as ANSI rows, whenever it changes, the latest only; ends when the session does.

        ``rows`` is how many of the bottom rows are looked at. Raises PamError when the session can't be seen.
        """
