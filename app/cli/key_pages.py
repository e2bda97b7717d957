"""docs/keys.md: everything that can be pressed, made from the one list of actions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from app.cli.reference_pages import MADE

if TYPE_CHECKING:
    from screens.actions import Action

_HEAD = f"""\
{MADE}

# Keys

Every action has an id, keys and a sentence; `?` shows those of the place you are at, `ctrl+p` finds any by name. A key
that can't act now says why in the bottom line. Give an action other keys under its id in `[keys]` of config.toml,
several by commas, as in `"board.start" = "s,ctrl+s"`; the names are Textual's.
"""

_PLACES = {
    "everywhere": "Everywhere",
    "board": "Board",
    "tree": "Tree",
    "item": "Item",
    "run": "Run",
    "terminal": "Attached to a terminal",
    "wall": "Wall",
    "hosts": "Hosts",
    "providers": "Providers",
    "activity": "Activity",
}


def keys() -> str:
    """The page."""
    return "\n".join([_HEAD, *_tables()])


def _tables() -> Iterator[str]:
    from screens.actions import ACTIONS

    places = [*_PLACES, *dict.fromkeys(action.place for action in ACTIONS if action.place not in _PLACES)]
    for place in places:
        rows = [_row(action) for action in ACTIONS if action.place == place]
        if rows:
            head = ["| keys | what it does | id |", "| --- | --- | --- |"]
            yield "\n".join([f"## {_PLACES.get(place, place.capitalize())}", "", *head, *rows, ""])


def _row(action: Action) -> str:
    from screens.actions import keys_of

    keys_ = " ".join(f"`{_cell(key)}`" for key in keys_of(action, {}))
    return f"| {keys_} | {_cell(action.tooltip)} | `{action.id}` |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
