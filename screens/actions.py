"""Everything the operator can press, as one list.

Bindings, footer, palette and help are made of it, and so is the key table of the docs. ``id`` is what ``[keys]`` in
``config.toml`` names. An action that can't act now has a reason, and the reason is what the operator reads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from textual.binding import Binding
from textual.keys import format_key

from screens.model import CardView, ProjectView
from store.records import ItemStatus, Project, Run

Place = Literal["everywhere", "board", "run", "item"]


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


def _always(_: Here) -> str:
    return ""


def _project(here: Here) -> str:
    return "" if here.project else "No project is open. Press p to make or choose one."


def _card(here: Here) -> str:
    if here.card:
        return ""
    if here.folded:
        return "The column is folded. Press z to unfold it."
    return _project(here) or ("No card matches the filter." if here.filtered else "No card here. Press n to make one.")


def _workable(here: Here) -> str:
    if reason := _card(here):
        return reason
    kind = here.card.item.kind if here.card else "task"
    if kind in ("milestone", "epic"):
        article = "an" if kind == "epic" else "a"
        return f"Agents work on tasks and subtasks; this is {article} {kind}. Press n to make a task."
    return ""


def _run(here: Here) -> str:
    if here.run:
        return ""
    return _card(here) if here.place == "board" and not here.card else "It has no run yet. Press s to start one."


def _live(here: Here) -> str:
    if reason := _run(here):
        return reason
    if here.run and not here.run.live and here.run.retry_at is None:
        return f"The run is over ({here.run.status}); there is nothing to stop."
    if here.run and here.run.stop_requested_at:
        return "It is being stopped already."
    return ""


def _deletable(here: Here) -> str:
    if reason := _card(here):
        return reason
    return "Its agent is at work. Press x to stop it first." if here.run and here.run.live else ""


def _session(here: Here) -> str:
    if reason := _run(here):
        return reason
    if here.run and here.run.status in ("pending", "spawning"):
        return "The session is not up yet; attach when the run is running."
    if here.run and not here.run.live:
        return "The run is over; its session is gone."
    return ""


def _filtered(here: Here) -> str:
    return "" if here.filtered else "No filter is set. Press / to set one."


ACTIONS: tuple[Action, ...] = (
    Action("board.new", "n", "new", "New item", "Make an item from one line", _project, "new"),
    Action("board.open", "enter", "open", "Open", "The card's run, or the item itself", _card, "open"),
    Action("board.start", "s", "start", "Start a run", "Provider, host, model and prompt", _workable, "start"),
    Action("board.attach", "a", "attach", "Attach", "To the session; ctrl+] comes back", _session, "attach"),
    Action("board.move-left", "H", "shift(-1)", "Move left", "Move the card one column left", _card, "move"),
    Action("board.move-right", "L", "shift(1)", "Move right", "Move the card one column right", _card, "move"),
    Action("board.stop", "x", "stop", "Stop the run", "The agent is asked, then made to end", _live, "stop"),
    Action("board.peek", "space", "peek", "Peek", "Show or hide the run's screen", _project, "peek"),
    Action("board.edit", "e", "edit", "Edit the title", "Change the card's title", _card, "edit"),
    Action("board.filter", "slash", "filter", "Filter", "Show cards that match what you type", _project, "filter"),
    Action("board.unfilter", "escape", "unfilter", "Clear filter", "Show every card again", _filtered),
    Action("board.item", "o", "open_item", "Open the item", "Its description, runs and children", _card),
    Action("board.reorder-down", "J", "reorder(1)", "Move down", "Place the card after the next one", _card),
    Action("board.reorder-up", "K", "reorder(-1)", "Move up", "Place the card before the one above", _card),
    Action("board.collapse", "z", "collapse", "Fold the column", "Fold or unfold the column", _project),
    Action("board.delete", "D", "delete", "Delete the item", "Delete the card and what is under it", _deletable),
    Action("board.copy", "y", "copy", "Copy the id", "The item's id, to the clipboard", _card),
    Action("board.left", "h,left", "column(-1)", "Column left", "Go one column left", _project, palette=False),
    Action("board.right", "l,right", "column(1)", "Column right", "Go one column right", _project, palette=False),
    Action("board.down", "j,down", "step(1)", "Card down", "Go one card down", _card, palette=False),
    Action("board.up", "k,up", "step(-1)", "Card up", "Go one card up", _card, palette=False),
    Action("board.page-down", "pagedown,ctrl+d", "page(1)", "Page down", "Go a page down", _card, palette=False),
    Action("board.page-up", "pageup,ctrl+u", "page(-1)", "Page up", "Go a page up", _card, palette=False),
    Action("board.first", "g,home", "edge(-1)", "First card", "Go to the column's first card", _card, palette=False),
    Action("board.last", "G,end", "edge(1)", "Last card", "Go to the column's last card", _card, palette=False),
    Action("run.back", "escape,q", "back", "Back", "Back to where you came from", _always, "back"),
    Action("run.attach", "a,enter", "attach", "Attach", "To the session; ctrl+] comes back", _session, "attach"),
    Action("run.stop", "x", "stop", "Stop the run", "The agent is asked, then made to end", _live, "stop"),
    Action("run.again", "r", "start", "Start again", "Another run of the same item", _workable, "start again"),
    Action("run.item", "o", "open_item", "Open the item", "Description, runs and children", _card, "item"),
    Action("run.next-tab", "right_square_bracket,tab", "tab(1)", "Next tab", "Show the next tab", _always, "tabs"),
    Action("run.last-tab", "left_square_bracket,shift+tab", "tab(-1)", "Tab before", "Show the tab before", _always),
    Action("run.down", "j,down", "scroll(1)", "Down", "Scroll down", _always, palette=False),
    Action("run.up", "k,up", "scroll(-1)", "Up", "Scroll up", _always, palette=False),
    Action("run.page-down", "pagedown,ctrl+d", "page(1)", "Page down", "Scroll a page down", _always, palette=False),
    Action("run.page-up", "pageup,ctrl+u", "page(-1)", "Page up", "Scroll a page up", _always, palette=False),
    Action("run.first", "g,home", "edge(-1)", "Top", "Scroll to the top", _always, palette=False),
    Action("run.last", "G,end", "edge(1)", "Bottom", "Scroll to the bottom", _always, palette=False),
    Action("run.copy", "y", "copy", "Copy the id", "The run's id, to the clipboard", _run, "copy id"),
    Action("item.back", "escape,q", "back", "Back", "Back to where you came from", _always, "back"),
    Action("item.open", "enter", "open", "Open", "The run or child under the cursor", _card, "open"),
    Action("item.start", "s", "start", "Start a run", "Provider, host, model and prompt", _workable, "start"),
    Action("item.attach", "a", "attach", "Attach", "To the newest run; ctrl+] comes back", _session, "attach"),
    Action("item.stop", "x", "stop", "Stop the run", "Stop the item's newest run", _live, "stop"),
    Action("item.edit", "e", "edit", "Edit the title", "Change the item's title", _card, "edit"),
    Action("item.new", "n", "new", "New child", "Make an item under this one", _card, "new child"),
    Action("item.down", "j,down", "step(1)", "Down", "Go to the next run or child", _always, palette=False),
    Action("item.up", "k,up", "step(-1)", "Up", "Go to the run or child above", _always, palette=False),
    Action("item.page-down", "pagedown,ctrl+d", "page(1)", "Page down", "Scroll the description down", _always,
           palette=False),
    Action("item.page-up", "pageup,ctrl+u", "page(-1)", "Page up", "Scroll the description up", _always, palette=False),
    Action("item.copy", "y", "copy", "Copy the id", "The item's id, to the clipboard", _card, "copy id"),
    Action("everywhere.project", "p", "project", "Projects", "Choose or make a project", _always, "project"),
    Action("everywhere.waiting", "exclamation_mark", "waiting", "Who waits?", "Next run that waits", _always, "waits"),
    Action("everywhere.board", "1", "home", "Board", "Go to the board", _always),
    Action("everywhere.help", "question_mark", "help", "Help", "Every key of where you are", _always, "help"),
    Action("everywhere.palette", "ctrl+p", "palette", "Commands", "Any action, item or run by name", _always,
           "commands", palette=False),
    Action("everywhere.theme", "T", "theme", "Theme", "Choose the colours", _always),
    Action("everywhere.quit", "ctrl+q", "quit", "Quit", "Leave; agents go on", _always),
    Action("board.quit", "q", "quit", "Quit", "Leave; agents go on", _always, "quit", palette=False),
)  # fmt: skip

BY_ID: Mapping[str, Action] = {action.id: action for action in ACTIONS}
_ROOM = {"everywhere.palette": "app.command_palette", "everywhere.quit": "app.quit"}


def at(place: Place) -> Iterator[Action]:
    """Actions that work at a place: its own first, then those that work everywhere."""
    yield from (action for action in ACTIONS if action.place == place)
    yield from (action for action in ACTIONS if action.place == "everywhere")


def bindings(place: Place) -> list[Binding]:
    """Textual's bindings of a place; each runs ``do`` with the action's id."""
    return [_binding(action, f"do('{action.id}')") for action in at(place) if action.id not in _ROOM]


def room_bindings() -> list[Binding]:
    """Bindings of the control room itself: they work over every dialog."""
    return [_binding(BY_ID[name], does, priority=True) for name, does in _ROOM.items()]


def keys_of(action: Action, keymap: Mapping[str, str]) -> list[str]:
    """The action's keys as they are shown, remapped ones included: ``↵``, ``space``, ``^p``."""
    return [_shown(key.strip()) for key in keymap.get(action.id, action.keys).split(",")]


def _binding(action: Action, does: str, priority: bool = False) -> Binding:
    tooltip = action.tooltip
    return Binding(action.keys, does, action.title, show=False, tooltip=tooltip, id=action.id, priority=priority)


def _shown(key: str) -> str:
    shorter = {"enter": "↵", "escape": "esc", "pagedown": "pgdn", "pageup": "pgup", "shift+tab": "⇧tab"}
    if key in shorter:
        return shorter[key]
    modifier, plus, name = key.rpartition("+")
    name = format_key(name)
    return ("^" if modifier == "ctrl" else f"{modifier}+" if plus else "") + name
