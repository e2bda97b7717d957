"""What can be pressed at the tree place."""

from __future__ import annotations

from screens.actions.action import Action, Here
from screens.actions.reasons import always, card, filtered, listens, live, project, session, workable


def seen(here: Here) -> str:
    """Needs an item whose agent has a session."""
    return card(here) or session(here)


def alive(here: Here) -> str:
    """Needs an item whose run has not ended."""
    return card(here) or live(here)


ACTIONS: tuple[Action, ...] = (
    Action("tree.new", "n", "new", "New child", "Make an item below this one", project, "new child"),
    Action("tree.open", "enter,o", "open", "Open the item", "Its description, runs and children", card, "open"),
    Action("tree.fold", "tab", "fold", "Fold or unfold", "Hide or show what is below", card, "fold"),
    Action("tree.start", "s", "start", "Start a run", "Provider, host, model and prompt", workable, "start"),
    Action("tree.answer", "w", "answer", "Answer or prompt", "What is asked, or what to do next", listens, "write"),
    Action("tree.attach", "a", "attach", "Attach", "To the session; ctrl+] comes back", seen, "attach"),
    Action("tree.move", "m", "hang", "Move below…", "Pick the item that it hangs below", card, "move"),
    Action("tree.status-left", "H", "shift(-1)", "Status back", "Change the status, one step back", card, "status"),
    Action("tree.status-right", "L", "shift(1)", "Status on", "Change the status, one step on", card, "status"),
    Action("tree.stop", "x", "stop", "Stop the run", "The agent is asked, then made to end", alive, "stop"),
    Action("tree.filter", "slash", "filter", "Filter", "Show items that match what you type", project, "filter"),
    Action("tree.filters", "F", "filters", "Saved filters", "Choose a filter that has a name", project),
    Action("tree.save-filter", "ctrl+s", "save_filter", "Save the filter", "Give the filter a name", filtered),
    Action("tree.beside", "N", "beside", "New beside", "Make an item next to this one", project),
    Action("tree.edit", "e", "edit", "Edit the title", "Change the item's title", card),
    Action("tree.fold-all", "Z", "fold_all", "Fold all", "Fold every branch, or unfold all", project),
    Action("tree.side", "space", "side", "Side panel", "Show or hide what is beside", project),
    Action("tree.copy", "y", "copy", "Copy the id", "The item's id, to the clipboard", card),
    Action("tree.leave", "escape", "leave", "Clear or leave", "The filter, else back to the board", always,
           palette=False),
    Action("tree.back", "q", "home", "Back", "Back to the board", always, "back"),
    Action("tree.out", "h,left", "out", "Fold, or up", "Fold it, or go to its parent", card, palette=False),
    Action("tree.in", "l,right", "into", "Unfold, or down", "Unfold it, or go to its first child", card, palette=False),
    Action("tree.down", "j,down", "step(1)", "Down", "Go one row down", card, palette=False),
    Action("tree.up", "k,up", "step(-1)", "Up", "Go one row up", card, palette=False),
    Action("tree.page-down", "pagedown,ctrl+d", "page(1)", "Page down", "Go a page down", card, palette=False),
    Action("tree.page-up", "pageup,ctrl+u", "page(-1)", "Page up", "Go a page up", card, palette=False),
    Action("tree.first", "g,home", "edge(-1)", "First row", "Go to the first row", card, palette=False),
    Action("tree.last", "G,end", "edge(1)", "Last row", "Go to the last row", card, palette=False),
)  # fmt: skip
