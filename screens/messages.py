"""What screens ask of the control room; each is a request, and the control room alone pushes and pops screens."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from textual.message import Message
from textual.screen import Screen

from store.records import Item


@dataclass
class OpenRun(Message):
    """Show a run, or attach to it; ``instead`` of the one that is seen."""

    run_id: str
    attach: bool = False
    instead: bool = False


@dataclass
class OpenItem(Message):
    """Show an item."""

    item_id: str


@dataclass
class OpenProject(Message):
    """Show a project's board."""

    project_id: str


@dataclass
class Gone(Message):
    """What a place shows was deleted: leave it, and say so."""

    place: Screen[None]
    sentence: str


@dataclass
class ShowCard(Message):
    """Go to an item's card on its board."""

    item: Item


@dataclass
class GoHome(Message):
    """Go to the board, whatever lies over it."""


@dataclass
class OpenPlace(Message):
    """Go to a place that the control room has one of: tree, wall, hosts, providers, activity."""

    name: str


@dataclass
class OpenDrawer(Message):
    """Lay the activity over the place that is seen."""


@dataclass
class TakeTerminal(Message):
    """Give the whole terminal to a program until it ends."""

    argv: tuple[str, ...]


@dataclass
class EditFile(Message):
    """Open a file in the operator's editor, which has the whole terminal until it ends."""

    path: str
    then: Callable[[], None]
    """Called when the editor has ended well; anything else is said, and the file is not looked at."""
    line: int = 1


@dataclass
class QuitRoom(Message):
    """Leave the control room."""


class Drawn(Message):
    """A place shows what it is about."""
