"""What can be pressed at a run."""

from __future__ import annotations

from screens.actions.action import Action, Here
from screens.actions.reasons import always, card, listens, live, run, session, workable


def log(here: Here) -> str:
    """Needs the log in sight."""
    return "" if here.subject == "log" else "Only its log moves to the side. Press ] until it is shown."


def searched(here: Here) -> str:
    """Needs a text that is looked for."""
    return "" if here.filtered else "Nothing is looked for yet. Press / and type what."


ACTIONS: tuple[Action, ...] = (
    Action("run.back", "q", "back", "Back", "Back to where you came from", always, "back"),
    Action("run.leave", "escape", "leave", "Clear or leave", "The search, else back", always, palette=False),
    Action("run.attach", "a,enter", "attach", "Attach", "To the session; ctrl+] comes back", session, "attach"),
    Action("run.full", "f", "full", "Full screen", "Attach on the whole screen", session, "full screen"),
    Action("run.shell", "t", "shell", "Shell", "Your own shell in its directory", run, "shell"),
    Action("run.answer", "w", "answer", "Answer or prompt", "What is asked, or what to do next", listens, "write"),
    Action("run.stop", "x", "stop", "Stop the run", "The agent is asked, then made to end", live, "stop"),
    Action("run.again", "r", "again", "Go on, or again", "Its conversation, or another run", workable, "go on/again"),
    Action("run.find", "slash", "find", "Search the log", "Mark a text wherever it stands", run, "search"),
    Action("run.find-next", "n", "find_next(1)", "Next find", "The next line that holds it", searched),
    Action("run.find-before", "N", "find_next(-1)", "Find before", "The line before that holds it", searched),
    Action("run.export", "W", "export", "Write the log", "All of the log, as text, to a file", run, "write log"),
    Action("run.item", "o", "open_item", "Open the item", "Description, runs and children", card, "item"),
    Action("run.next-tab", "right_square_bracket,tab", "tab(1)", "Next tab", "Show the next tab", always, "tabs"),
    Action("run.last-tab", "left_square_bracket,shift+tab", "tab(-1)", "Tab before", "Show the tab before", always),
    Action("run.down", "j,down", "scroll(1)", "Down", "Scroll down", always, palette=False),
    Action("run.up", "k,up", "scroll(-1)", "Up", "Scroll up", always, palette=False),
    Action("run.right", "l,right", "aside(1)", "Right", "Show what is further right", log, palette=False),
    Action("run.left", "h,left", "aside(-1)", "Left", "Show what is further left", log, palette=False),
    Action("run.page-down", "pagedown,ctrl+d", "page(1)", "Page down", "Scroll a page down", always, palette=False),
    Action("run.page-up", "pageup,ctrl+u", "page(-1)", "Page up", "Scroll a page up", always, palette=False),
    Action("run.first", "g,home", "edge(-1)", "Top", "Scroll to the top", always, palette=False),
    Action("run.last", "G,end", "edge(1)", "Bottom", "Scroll to the bottom", always, palette=False),
    Action("run.copy", "y", "copy", "Copy the id", "The run's id, to the clipboard", run, "copy id"),
)  # fmt: skip
