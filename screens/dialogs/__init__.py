"""Questions to the operator, each with a typed answer and the safe way out focused."""

from __future__ import annotations

from screens.dialogs.answer import Answered, AnswerRun
from screens.dialogs.confirm import Confirm, leaving
from screens.dialogs.edit_item import EditItem
from screens.dialogs.edit_line import EditLine
from screens.dialogs.filters import FilterPicker
from screens.dialogs.help_keys import HelpKeys
from screens.dialogs.new_item import NewItemDialog
from screens.dialogs.projects import NewProject, ProjectPicker
from screens.dialogs.prompt_run import PromptRun
from screens.dialogs.start_again import StartAgain
from screens.dialogs.start_run import StartRun

__all__ = [
    "AnswerRun",
    "Answered",
    "Confirm",
    "EditItem",
    "EditLine",
    "FilterPicker",
    "HelpKeys",
    "NewItemDialog",
    "NewProject",
    "ProjectPicker",
    "PromptRun",
    "StartAgain",
    "StartRun",
    "leaving",
]
