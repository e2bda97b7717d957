"""What screens ask of the control room; each is a request, and the control room alone pushes and pops screens."""

from __future__ import annotations

from dataclasses import dataclass

from textual.message import Message
from textual.screen import Screen

from store.records import Item


@dataclass
class OpenRun(Message):
    """Show a run."""

    run_id: str


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
class TakeTerminal(Message):
    """Give the whole terminal to a program until it ends."""

    argv: tuple[str, ...]


@dataclass
class QuitRoom(Message):
    """Leave the control room."""
