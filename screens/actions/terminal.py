"""What can be pressed while typing into an agent: nothing but the way back."""

from __future__ import annotations

from screens.actions.action import Action
from screens.actions.reasons import always

ACTIONS: tuple[Action, ...] = (
    Action("terminal.leave", "ctrl+right_square_bracket,f12", "leave", "Come back",
           "Back; the agent goes on", always, palette=False),
)  # fmt: skip
