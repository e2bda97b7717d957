"""Questions to the operator, each with a typed answer and the safe way out focused."""

from __future__ import annotations

from screens.dialogs.confirm import Confirm, leaving
from screens.dialogs.edit_line import EditLine
from screens.dialogs.help_keys import HelpKeys
from screens.dialogs.new_item import NewItemDialog
from screens.dialogs.projects import NewProject, ProjectPicker
from screens.dialogs.start_run import StartRun

__all__ = ["Confirm", "EditLine", "HelpKeys", "NewItemDialog", "NewProject", "ProjectPicker", "StartRun", "leaving"]
