"""What is asked where another types into a run."""

from __future__ import annotations

from screens.dialogs import Confirm
from store.errors import LeaseHeld


def take_over(held: LeaseHeld, *, no: str) -> Confirm:
    """The question where another types into a run; ``no`` is what is done instead."""
    return Confirm(
        "Take this terminal over?",
        f"{held.details['holder']} types into it now. Their keys go nowhere from then on; they are told.",
        yes="Take it over",
        no=no,
    )
