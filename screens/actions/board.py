"""What can be pressed at the board."""

from __future__ import annotations

from screens.actions.action import Action, Here, Reason
from screens.actions.reasons import always, card, deletable, filtered, listens, live, project, session, workable


def several(single: Reason) -> Reason:
    """With cards selected it acts on those of them that it can, and says which it can't."""
    return lambda here: "" if here.chosen else single(here)


def clearable(here: Here) -> str:
    """Needs a selection, or a filter."""
    return "" if here.chosen else filtered(here)


ACTIONS: tuple[Action, ...] = (
    Action("board.new", "n", "new", "New item", "Make an item from one line", project, "new"),
    Action("board.open", "enter", "open", "Open", "The card's run, or the item itself", card, "open"),
    Action("board.start", "s", "start", "Start a run", "Provider, host, model and prompt", several(workable),
           "start"),
    Action("board.answer", "w", "answer", "Answer or prompt", "What is asked, or what to do next", listens, "write"),
    Action("board.attach", "a", "attach", "Attach", "To the session; ctrl+] comes back", session, "attach"),
    Action("board.move-left", "H", "shift(-1)", "Move left", "Move the card one column left", several(card), "move"),
    Action("board.move-right", "L", "shift(1)", "Move right", "Move the card one column right", several(card),
           "move"),
    Action("board.stop", "x", "stop", "Stop the run", "The agent is asked, then made to end", several(live),
           "stop"),
    Action("board.peek", "space", "peek", "Peek", "Show or hide the run's screen", project, "peek"),
    Action("board.edit", "e", "edit", "Edit the title", "Change the card's title", card, "edit"),
    Action("board.filter", "slash", "filter", "Filter", "Show cards that match what you type", project, "filter"),
    Action("board.unfilter", "escape", "unfilter", "Clear", "The selection, else the filter", clearable),
    Action("board.filters", "F", "filters", "Saved filters", "Choose a filter that has a name", project),
    Action("board.save-filter", "ctrl+s", "save_filter", "Save the filter", "Give the filter a name", filtered),
    Action("board.select", "v", "select", "Select", "Select the card, or let go of it", card, "select"),
    Action("board.select-all", "V", "select_all", "Select all", "Every card that the column shows", card),
    Action("board.everything", "P", "everything", "All projects", "Cards of every project, or of one", project),
    Action("board.item", "o", "open_item", "Open the item", "Its description, runs and children", card),
    Action("board.reorder-down", "J", "reorder(1)", "Move down", "Place the card after the next one", card),
    Action("board.reorder-up", "K", "reorder(-1)", "Move up", "Place the card before the one above", card),
    Action("board.collapse", "z", "collapse", "Fold the column", "Fold or unfold the column", project),
    Action("board.delete", "D", "delete", "Delete the item", "Delete the card and what is under it",
           several(deletable)),
    Action("board.copy", "y", "copy", "Copy the id", "The item's id, to the clipboard", card),
    Action("board.left", "h,left", "column(-1)", "Column left", "Go one column left", project, palette=False),
    Action("board.right", "l,right", "column(1)", "Column right", "Go one column right", project, palette=False),
    Action("board.down", "j,down", "step(1)", "Card down", "Go one card down", card, palette=False),
    Action("board.up", "k,up", "step(-1)", "Card up", "Go one card up", card, palette=False),
    Action("board.page-down", "pagedown,ctrl+d", "page(1)", "Page down", "Go a page down", card, palette=False),
    Action("board.page-up", "pageup,ctrl+u", "page(-1)", "Page up", "Go a page up", card, palette=False),
    Action("board.first", "g,home", "edge(-1)", "First card", "Go to the column's first card", card, palette=False),
    Action("board.last", "G,end", "edge(1)", "Last card", "Go to the column's last card", card, palette=False),
    Action("board.quit", "q", "quit", "Quit", "Leave; agents go on", always, "quit", palette=False),
)  # fmt: skip
