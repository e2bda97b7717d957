"""What every screen is given: the model it asks, the clock it reads, the keys the operator remapped."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from screens.model import ControlRoomModel

Clock = Callable[[], datetime]
"""Now, in the operator's time zone."""


@dataclass(frozen=True, slots=True)
class Desk:
    """Handed to screens when they are made."""

    model: ControlRoomModel
    clock: Clock
    keymap: Mapping[str, str] = field(default_factory=dict)
    """Keys by action id, from ``[keys]``."""
