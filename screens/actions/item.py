"""What can be pressed at an item."""

from __future__ import annotations

from screens.actions.action import Action, Here
from screens.actions.reasons import always, card, listens, live, session, workable


def placed(here: Here) -> str:
    """Needs a directory that the item is worked on in."""
    if reason := card(here):
        return reason
    return "" if here.directory else "It has no directory yet: its project names none. Press s: a run gives it one."


ACTIONS: tuple[Action, ...] = (
    Action("item.back", "escape,q", "back", "Back", "Back to where you came from", always, "back"),
    Action("item.open", "enter", "open", "Open", "The run or child under the cursor", card, "open"),
    Action("item.start", "s", "start", "Start a run", "Provider, host, model and prompt", workable, "start"),
    Action("item.answer", "w", "answer", "Answer or prompt", "What is asked, or what to do next", listens, "write"),
    Action("item.attach", "a", "attach", "Attach", "To the newest run; ctrl+] comes back", session, "attach"),
    Action("item.stop", "x", "stop", "Stop the run", "Stop the item's newest run", live, "stop"),
    Action("item.edit", "e", "edit", "Edit", "Title, status, labels, description", card, "edit"),
    Action("item.editor", "E", "edit_file", "Open in $EDITOR", "The description, in your editor", card, "editor"),
    Action("item.status-left", "H", "shift(-1)", "Status back", "Change the status, one step back", card, "status"),
    Action("item.status-right", "L", "shift(1)", "Status on", "Change the status, one step on", card, "status"),
    Action("item.new", "n", "new", "New child", "Make an item under this one", card, "new child"),
    Action("item.shell", "t", "shell", "Shell", "Your own shell in its directory", placed, "shell"),
    Action("item.down", "j,down", "step(1)", "Down", "Go to the next run or child", always, palette=False),
    Action("item.up", "k,up", "step(-1)", "Up", "Go to the run or child above", always, palette=False),
    Action("item.page-down", "pagedown,ctrl+d", "page(1)", "Page down", "Scroll the description down", always,
           palette=False),
    Action("item.page-up", "pageup,ctrl+u", "page(-1)", "Page up", "Scroll the description up", always, palette=False),
    Action("item.copy", "y", "copy", "Copy the id", "The item's id, to the clipboard", card, "copy id"),
)  # fmt: skip
