"""What can be pressed at the wall."""

from __future__ import annotations

from screens.actions.action import Action, Here
from screens.actions.reasons import always, listens, live, session


def agent(here: Here) -> str:
    """Needs a tile."""
    if here.run:
        return ""
    if here.filtered:
        return "No agent matches the filter. Press esc to clear it."
    return "No agent is at work. Press 1: on the board, s starts one."


def seen(here: Here) -> str:
    """Needs an agent whose session stands."""
    return agent(here) or session(here)


def alive(here: Here) -> str:
    """Needs an agent that is not being stopped."""
    return agent(here) or live(here)


def open_to(here: Here) -> str:
    """Needs an agent that something can be typed into."""
    return agent(here) or listens(here)


ACTIONS: tuple[Action, ...] = (
    Action("wall.open", "enter", "enter", "Answer or attach", "What is asked; else the session", seen),
    Action("wall.attach", "a", "attach", "Attach", "To the session; ctrl+] comes back", seen, "attach"),
    Action("wall.answer", "w", "answer", "Answer or prompt", "What is asked, or what to do next", open_to, "write"),
    Action("wall.full", "f", "full", "Full screen", "The agent's screen alone", agent, "full screen"),
    Action("wall.order", "o", "order", "Order", "Who needs you first, or oldest first", always, "order"),
    Action("wall.stop", "x", "stop", "Stop the run", "The agent is asked, then made to end", alive, "stop"),
    Action("wall.filter", "slash", "filter", "Filter", "Show agents that match what you type", always, "filter"),
    Action("wall.item", "i", "open_item", "Open the item", "Description, runs and children", agent, "item"),
    Action("wall.leave", "escape", "leave", "Clear or leave", "Clear the filter, or to the board", always,
           palette=False),
    Action("wall.back", "q", "home", "Back", "Back to the board", always, "back"),
    Action("wall.copy", "y", "copy", "Copy the id", "The run's id, to the clipboard", agent),
    Action("wall.left", "h,left", "side(-1)", "Tile left", "Go one tile left", agent, palette=False),
    Action("wall.right", "l,right", "side(1)", "Tile right", "Go one tile right", agent, palette=False),
    Action("wall.down", "j,down", "row(1)", "Tile down", "Go one tile down", agent, palette=False),
    Action("wall.up", "k,up", "row(-1)", "Tile up", "Go one tile up", agent, palette=False),
    Action("wall.page-down", "pagedown,ctrl+d", "page(1)", "Page down", "Go a page down", agent, palette=False),
    Action("wall.page-up", "pageup,ctrl+u", "page(-1)", "Page up", "Go a page up", agent, palette=False),
    Action("wall.first", "g,home", "edge(-1)", "First tile", "Go to the first tile", agent, palette=False),
    Action("wall.last", "G,end", "edge(1)", "Last tile", "Go to the last tile", agent, palette=False),
)  # fmt: skip
