"""What can be pressed at the activity, on its own or as a drawer over another place."""

from __future__ import annotations

from screens.actions.action import Action, Here
from screens.actions.reasons import always


def event(here: Here) -> str:
    """Needs an event under the cursor."""
    if here.subject:
        return ""
    return "Nothing matches. Press esc to see all of it." if here.filtered else "Nothing has happened yet."


def leads(here: Here) -> str:
    """Needs an event that leads somewhere."""
    return event(here) or ("" if here.subject != "nothing" else "This event is about nothing that could be opened.")


ACTIONS: tuple[Action, ...] = (
    Action("activity.open", "enter", "open", "Open", "The run or item that it is about", leads, "open"),
    Action("activity.item", "o", "open_item", "Open the item", "The item that it is about", leads),
    Action("activity.filter", "slash", "filter", "Filter", "By topic, actor or words", always, "filter"),
    Action("activity.next-kind", "tab,l,right,right_square_bracket", "kind(1)", "Next kind",
           "Runs only, signals only, items only…", always, "kind"),
    Action("activity.last-kind", "shift+tab,h,left,left_square_bracket", "kind(-1)", "Kind before",
           "The kind of events before", always, "kind"),
    Action("activity.first", "g,home", "edge(-1)", "Newest", "To the newest event, and stay there", always, "newest"),
    Action("activity.last", "G,end", "edge(1)", "Oldest", "To the oldest event there is", event, "oldest"),
    Action("activity.leave", "escape", "leave", "Clear or leave", "Clear the filter, else back", always, palette=False),
    Action("activity.back", "q", "back", "Back", "Back to where you came from", always, "back"),
    Action("activity.copy", "y", "copy", "Copy the id", "Of the run or item, to the clipboard", leads),
    Action("activity.down", "j,down", "step(1)", "Down", "Go to the event before", event, palette=False),
    Action("activity.up", "k,up", "step(-1)", "Up", "Go to the event after", event, palette=False),
    Action("activity.page-down", "pagedown,ctrl+d,space", "page(1)", "Page down", "Go a page back", event,
           palette=False),
    Action("activity.page-up", "pageup,ctrl+u", "page(-1)", "Page up", "Go a page forward", event, palette=False),
)  # fmt: skip
