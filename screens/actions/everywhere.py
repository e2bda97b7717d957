"""What can be pressed at every place."""

from __future__ import annotations

from screens.actions.action import Action
from screens.actions.reasons import always

ACTIONS: tuple[Action, ...] = (
    Action("everywhere.project", "p", "project", "Projects", "Choose or make a project", always, "project"),
    Action("everywhere.waiting", "exclamation_mark", "waiting", "Who waits?", "Next run that waits", always, "waits"),
    Action("everywhere.board", "1", "home", "Board", "Go to the board", always),
    Action("everywhere.tree", "2", "place('tree')", "Tree", "The project as an outline", always),
    Action("everywhere.wall", "3", "place('wall')", "Wall", "Every live agent's screen at once", always),
    Action("everywhere.hosts", "4", "place('hosts')", "Hosts", "The machines that agents run on", always),
    Action("everywhere.providers", "5", "place('providers')", "Providers", "The agent CLIs and their health", always),
    Action("everywhere.activity", "6", "place('activity')", "Activity", "What happened, newest first", always),
    Action("everywhere.drawer", "A", "drawer", "Activity drawer", "What happened, over where you are", always),
    Action("everywhere.help", "question_mark", "help", "Help", "Every key of where you are", always, "help"),
    Action("everywhere.palette", "ctrl+p", "palette", "Commands", "Any action, item or run by name", always,
           "commands", palette=False),
    Action("everywhere.theme", "T", "theme", "Theme", "Choose the colours", always),
    Action("everywhere.quit", "ctrl+q", "quit", "Quit", "Leave; agents go on", always),
)  # fmt: skip
