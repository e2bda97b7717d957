"""aider: one hook, a command that is run when it comes to rest, whatever the turn came to.

It is called without a payload and also when aider asks something, so it says no more than that aider takes input.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping

from providers.recipes.recipe import HookSetup, Said, Setting

RESTS = "rests"
NO_PAYLOAD = "{}"


class Aider:
    """The recipe of ``aider``."""

    name = "aider"

    def setup(self, at: Setting) -> HookSetup:
        """A command for its notifications."""
        command = shlex.join((*at.command(self.name, RESTS), NO_PAYLOAD))
        return HookSetup(args=("--notifications", "--notifications-command", command))

    def read(self, event: str, payload: Mapping[str, object]) -> Said | None:  # noqa: ARG002
        """As Recipe says."""
        return Said(activity="idle") if event == RESTS else None
