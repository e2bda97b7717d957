"""What every screen is given: the model it asks, the clock it reads, the keys the operator remapped."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from screens.actions import BY_ID
from screens.model import ControlRoomModel
from screens.session import Session

Clock = Callable[[], datetime]
"""Now, in the operator's time zone."""


@dataclass(frozen=True, slots=True)
class Desk:
    """Handed to screens when they are made."""

    model: ControlRoomModel
    clock: Clock
    keymap: Mapping[str, str] = field(default_factory=dict)
    """Keys by action id, from ``[keys]``."""
    session: Session = field(default_factory=Session)
    """What the last control room has left for this one."""

    def keys(self, action: str) -> tuple[str, ...]:
        """The keys of an action, remapped ones included, by Textual's names."""
        return tuple(key.strip() for key in self.keymap.get(action, BY_ID[action].keys).split(","))
