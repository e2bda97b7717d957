"""Everything the operator can press, as one list.

Bindings, footer, palette and help are made of it, and so is the key table of the docs. ``id`` is what ``[keys]`` in
``config.toml`` names. An action that can't act now has a reason, and the reason is what the operator reads.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from textual.binding import Binding
from textual.keys import format_key

from screens.actions import activity, board, everywhere, hosts, item, providers, run, terminal, tree, wall
from screens.actions.action import Action, Here, Place, Reason

__all__ = ["ACTIONS", "BY_ID", "Action", "Here", "Place", "Reason", "at", "bindings", "keys_of", "room_bindings"]

ACTIONS: tuple[Action, ...] = (
    *board.ACTIONS,
    *tree.ACTIONS,
    *item.ACTIONS,
    *run.ACTIONS,
    *terminal.ACTIONS,
    *wall.ACTIONS,
    *hosts.ACTIONS,
    *providers.ACTIONS,
    *activity.ACTIONS,
    *everywhere.ACTIONS,
)

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
